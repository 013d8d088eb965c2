"""Sixteen at once each set a key of their own in one SOPS file: how long until all are done, and how many of the keys
are lost."""

import shutil
import statistics
import time

from measure import QUICK, RUNS, Row, note, said, start, timed

WRITERS = 16
ROUNDS = 2 if QUICK else max(3, RUNS // 8)
BEFORE = {"sops set": [], "flock f sops set": ["flock", "f"], "locked sops set": ["locked", "--wait", "10m"]}


def round_of(before, file):
    """The span in milliseconds, and the keys that are not there afterwards: all of them where the file is broken."""
    shutil.copy("app.yaml", file)
    begun = time.perf_counter()
    writers = [start([*before, "sops", "set", file, f'["k{at}"]', '"set"']) for at in range(WRITERS)]
    for writer in writers:
        writer.wait()
    took = (time.perf_counter() - begun) * 1000
    try:
        plain = said(["sops", "decrypt", file])
    except SystemExit:
        return took, WRITERS
    return took, sum(f"k{at}: set" not in plain for at in range(WRITERS))


took, lost = {name: [] for name in BEFORE}, {name: [] for name in BEFORE}
for round_ in range(ROUNDS):
    for at, (name, before) in enumerate(BEFORE.items()):
        span, missing = round_of(before, f"app{round_}x{at}.yaml")
        took[name].append(span)
        lost[name].append(missing)
rows = [Row(name, took[name]) for name in BEFORE]
timed(f"{WRITERS} parallel sops set of one file, {ROUNDS} rounds", rows, plain=rows[1])
for name in BEFORE:
    note(f"{name}: {sum(lost[name])} of {WRITERS * ROUNDS} keys lost, {statistics.median(lost[name]):g} of {WRITERS} in the median round")
