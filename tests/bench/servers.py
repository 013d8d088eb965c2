"""What the servers have used of a processor: their part of a command does not show in the client's own."""

import os

from measure import RUNS, one

TICK = 1000 / os.sysconf("SC_CLK_TCK")


def served():
    """Milliseconds so far, of all of them. What a session of PostgreSQL used is counted when it has ended, a little after
    its client."""
    pids = [os.environ[name] for name in ("BENCH_POSTGRES", "BENCH_PGBOUNCER", "BENCH_ETCD")]
    return sum(used(pid) for pid in pids)


def by_servers(rows, commands):
    """Notes in each row what its command used there, in runs by itself: what a session used is known when it has ended."""
    for row, (_, argv, env) in zip(rows, commands):
        before = served()
        for _ in range(RUNS):
            one(argv, env)
        row.served = [(served() - before) / RUNS]


def used(pid):
    """Of a server, its children, and those of them that have ended."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    total = on_processor(pid, slice(11, 15))
    for child in children:
        try:
            total += on_processor(child, slice(11, 13))
        except OSError:  # it ended between the two looks, and is counted in its parent then
            pass
    return total


def on_processor(pid, fields):
    with open(f"/proc/{pid}/stat") as file:
        return sum(int(it) for it in file.read().rsplit(")", 1)[1].split()[fields]) * TICK
