"""Hand-over: from the end of one holder's program to the start of the next one's, while so many wait in line."""

import resource

from measure import QUICK, RUNS, Budget, Row, note, timed
from rivals import Line, all_of_them
from servers import served

# How long each program holds: what the last holder still does when its own has ended is over by then.
PAUSE = "20"
BUDGETS = {
    "locked, loopback TLS": Budget(5),
    "locked, loopback TLS by a relay": Budget(5),
    "locked, through pgbouncer": Budget(40),
}
# A round of n waiters gives n - 1 spans.
ROUNDS = 1 if QUICK else max(1, RUNS // 20)


def here():
    """What ended commands have used of a processor so far, in milliseconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def turns(rival, waiters, what):
    """When the programs of the waiters began and ended, in this order, in nanoseconds; and what each used of a processor,
    here in its whole life, in the servers from the moment that the holder let go."""
    log = f"{what}.log"
    with Line(rival, waiters, what, ["./stamp", log, PAUSE]):
        before = here(), served()
    used = [(now - then) / waiters for now, then in zip((here(), served()), before)]
    with open(log) as file:
        return sorted(tuple(map(int, line.split())) for line in file), used


for waiters in (16, 64):
    rows, overlaps = [], 0
    for at, rival in enumerate(all_of_them()):
        row = Row(rival.name, [], [], [], budgets=[BUDGETS[rival.name]] if rival.name in BUDGETS else [])
        for round_ in range(ROUNDS):
            try:
                had, used = turns(rival, waiters, f"line{waiters}-{at}-{round_}")
            except SystemExit as why:
                note(f"{rival.name} with {waiters} waiters: not measured; {why}")
                break
            row.processor.append(used[0])
            row.served.append(used[1])
            spans = [(after[0] - before[1]) / 1e6 for before, after in zip(had, had[1:])]
            overlaps += sum(span < 0 for span in spans)
            row.samples += spans
        rows += [row] if row.samples else []
    peer = next(row for row in rows if not row.name.startswith("locked") and row.name != "flock")
    for row in rows:
        if row.name.startswith("locked"):
            row.below(peer)
    timed(f"hand-over with {waiters} waiters", rows, plain=peer)
    note(f"two at once: {overlaps} times")
