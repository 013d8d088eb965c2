"""A lease around a command that does nothing, one process from start to end, on each kind of store; beside what people use
instead."""

import os
import shutil
import subprocess

from measure import Budget, in_turn, note, timed
from rivals import RELAY
from servers import by_servers

NOOP = ["locked", "-r", "test:x", shutil.which("true", path="/usr/bin:/bin")]


def syncs():
    """How often the leased command makes the disk answer; unknown where tracing is forbidden."""
    traced = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range", "-o", "sync.txt", *NOOP]
    if subprocess.run(traced, stderr=subprocess.DEVNULL).returncode != 0:
        return "unknown"
    with open("sync.txt") as file:
        return str(sum("sync" in text and "(" in text for text in file))


embedded = in_turn([("flock f true", ["flock", "f", NOOP[-1]], None), ("locked -r test:x true, embedded store", NOOP, None)])
embedded[1].budgets.append(Budget(5))
timed("a lease around nothing, on this machine", embedded)
note(f"its fsyncs: {syncs()}")

stores = {"a socket": "BENCH_SOCKET", "loopback, SCRAM + TLS": "BENCH_TLS", "the same through pgbouncer": "BENCH_POOLED"}
psql, store = os.environ["BENCH_CLIENT"], os.environ["BENCH_TLS"]
commands = [
    ("etcdctl lock x true", [*os.environ["BENCH_ETCDCTL"].split(), "lock", "x", NOOP[-1]], None),
    ("psql -c 'select pg_advisory_lock(1)'", [psql, "-Xq", store, "-c", "select pg_advisory_lock(1)"], None),
    ("psql -c 'select 1'", [psql, "-Xq", store, "-c", "select 1"], None),
]
commands += [(f"locked, {name}", NOOP, {"LOCKED_STORE": os.environ[variable]}) for name, variable in stores.items()]
commands += [("locked, loopback, SCRAM + TLS, by a relay", NOOP, {"LOCKED_STORE": store, **RELAY})]
rows = in_turn(commands)
for row in rows[3:]:
    if "SCRAM" in row.name:
        row.budgets.append(Budget(12))
    row.below(rows[0])
by_servers(rows, commands)
timed("a lease around nothing, on a server", rows)
