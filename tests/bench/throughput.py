"""Commands per second, by 16 at a time: on one resource that all of them want, and on 1,000 that nobody else wants."""

import threading
import time

from measure import QUICK, Row, one, rates
from rivals import all_of_them
from servers import served

WORKERS = 16
HOT = 128 if QUICK else 640
COLD = 200 if QUICK else 1000


def rate(rival, resources):
    """Takes each of them in turn for a command that does nothing, as many at a time as there are workers: how many a
    second, and the milliseconds of a processor that a command used, here and in the servers."""
    left, used, before = list(reversed(resources)), [], served()

    def work():
        while True:
            try:
                resource = left.pop()
            except IndexError:
                return
            used.append(one(rival.before(resource, ["true"]), rival.env)[1])

    workers = [threading.Thread(target=work) for _ in range(WORKERS)]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took = time.perf_counter() - begun
    if len(used) != len(resources):
        raise SystemExit(f"{rival.name}: {len(resources) - len(used)} commands failed")
    return len(used) / took, sum(used) / len(used), (served() - before) / len(used)


for title, resources in (
    (f"one hot resource, {HOT} commands", ["hot"] * HOT),
    (f"{COLD:,} cold resources, once each", [f"cold{at}" for at in range(COLD)]),
):
    rows = []
    for rival in all_of_them():
        each, used, there = rate(rival, resources)
        rows.append(Row(rival.name, [each], [used], [there]))
    rates(f"throughput: {title}, {WORKERS} at a time", rows, plain=rows[1])
