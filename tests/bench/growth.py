"""What a long history costs: the same commands on ledgers with few and with many ended leases, of 1,000 resources."""

import os
import sqlite3

from measure import QUICK, Budget, in_turn, said, timed
from servers import by_servers

SIZES = (10, 1_000, 100_000) if QUICK else (10, 10_000, 1_000_000)
TAKE = ["locked", "-r", "test:n1", "true"]
# The newest 50 of a history: here there are more of them in the larger ones.
ASKED = [
    ("acquire and release", TAKE, Budget(1.2, "×", of="ratio")),
    ("status", ["locked", "status"], Budget(1.2, "×", of="ratio")),
    ("status of one", ["locked", "status", "test:n1"], Budget(1.2, "×", of="ratio")),
    ("history of one", ["locked", "history", "test:n1"], None),
]
# What differs from one row to the next; everything else is as in a lease that has really ended.
SQLITE = {
    "name": "'test:n' || (g % 1000)",
    "grant_id": "printf('%08x-0000-4000-8000-%012x', random() & 0xffffffff, g)",
    "token": "token + g",
    **dict.fromkeys(["acquired_at", "renewed_at", "ended_at"], "ended_at - g * 1000"),
}
POSTGRES = {
    "name": "'test:n' || (g % 1000)",
    "grant_id": "gen_random_uuid()",
    "token": "token + g",
    **dict.fromkeys(["acquired_at", "renewed_at", "ended_at"], "ended_at - g * interval '1 second'"),
}


def copied(columns, differs):
    names = [name for name in columns if name != "id"]
    return ", ".join(names), ", ".join(differs.get(name, name) for name in names)


def embedded(size):
    """The environment of a store of its own with so many ended leases."""
    env = {"LOCKED_STATE_DIR": os.path.abspath(f"grown{size}")}
    os.mkdir(env["LOCKED_STATE_DIR"], 0o700)
    said(TAKE, env)
    with sqlite3.connect(f"grown{size}/locked.db") as ledger:
        ledger.execute("pragma synchronous = off")
        ledger.execute("pragma cache_size = -500000")
        names, values = copied([column[1] for column in ledger.execute("pragma table_info(leases)")], SQLITE)
        counted = f"with recursive n(g) as (select 1 union all select g + 1 from n where g < {size})"
        ledger.execute(f"{counted} insert into leases ({names}) select {values} from n, (select * from leases limit 1)")
        ledger.execute(
            f"{counted} insert or ignore into resources select scope, 'test:n' || (g % 1000), 1 from n, "
            "(select scope from resources limit 1) limit 1000"
        )
    ledger.close()
    return env


def server(size):
    """The same in a database of its own."""
    psql, schema = os.environ["BENCH_PSQL"].split(), os.path.join(os.path.dirname(__file__), "../../install/sql/locked.sql")
    said([*psql, "-d", "postgres", "-c", f"create database grown{size}"])
    psql += ["-d", f"grown{size}"]
    said([*psql, "-f", schema])
    env = {"LOCKED_STORE": os.environ["BENCH_SOCKET"].replace("/postgres?", f"/grown{size}?")}
    said(TAKE, env)
    leases = "select attname from pg_attribute where attrelid = 'locked.leases'::regclass and attnum > 0"
    columns = said([*psql, "-Atc", leases])
    names, values = copied(columns.split(), POSTGRES)
    for statement in (
        f"insert into locked.leases ({names}) select {values} from (select * from locked.leases limit 1) l, "
        f"generate_series(1, {size}) g",
        "insert into locked.resources (name, scope, last_token) select 'test:n' || g, scope, 1 "
        f"from (select scope from locked.resources limit 1) r, generate_series(0, {min(size, 1000) - 1}) g on conflict do nothing",
        "vacuum analyze",
        "checkpoint",
    ):
        said([*psql, "-c", statement])
    return env


for store, grown in (("embedded store", embedded), ("PostgreSQL over a socket", server)):
    places = [(size, grown(size)) for size in SIZES]
    for what, argv, budget in ASKED:
        commands = [(f"{what}, {size:,} ended leases", argv, env) for size, env in places]
        rows = in_turn(commands)
        if grown is server:
            by_servers(rows, commands)
        for row in rows[1:]:
            row.budgets += [budget] if budget else []
        timed(f"growth: {what}, {store}", rows)
