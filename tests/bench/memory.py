"""What a waiting command takes of the memory: what is resident of it, and its own share where others have the same pages."""

import statistics

from measure import Budget, heading, line, number
from rivals import Line, all_of_them

WAITERS = 16
BUDGET = Budget(8, "MiB")


def family(pid):
    """The process and those below it."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid] + [one for child in file.read().split() for one in family(int(child))]


def taken(pid, what):
    """MiB."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(f"{what}:")) / 1024


heading(f"memory of one of {WAITERS} waiting commands, MiB", ["processes", "resident", "share"])
for at, rival in enumerate(all_of_them()):
    with Line(rival, WAITERS, f"memory{at}", ["true"]) as waiting:
        families = [family(process.pid) for process in waiting]
        resident, share = ([sum(taken(pid, what) for pid in pids) for pids in families] for what in ("Rss", "Pss"))
    cells = [str(len(families[0])), number(statistics.median(resident)), number(statistics.median(share))]
    line(rival.name, cells, [BUDGET.verdict(median=statistics.median(share))] if rival.name.startswith("locked") else [])
