"""What a waiting command takes of the memory: what is resident of its process and of those below it (ours has a keeper), and
their own share where others have the same pages."""

import statistics

from measure import Budget, heading, line, number
from rivals import Line, all_of_them

WAITERS = 16
RESIDENT, SHARE = Budget(8, "MiB resident"), Budget(8, "MiB share")


def family(pid):
    """The process and those below it."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid] + [one for child in file.read().split() for one in family(int(child))]


def taken(pids, what):
    """MiB."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            total += next(int(line.split()[1]) for line in file if line.startswith(f"{what}:"))
    return total / 1024


heading(f"memory of one of {WAITERS} waiting commands, MiB", ["resident", "and below", "share", "processes"])
for at, rival in enumerate(all_of_them()):
    with Line(rival, WAITERS, f"memory{at}", ["true"]) as waiting:
        families = [family(process.pid) for process in waiting]
        alone, resident, share = (
            statistics.median(taken(pids[:most], what) for pids in families)
            for most, what in ((1, "Rss"), (None, "Rss"), (None, "Pss"))
        )
    cells = [number(alone), number(resident), number(share), str(len(families[0]))]
    line(rival.name, cells, [RESIDENT.verdict(median=alone), SHARE.verdict(median=share)] if rival.name.startswith("locked") else [])
