"""What it takes to see what a command line would change, without starting anything: figures of one process."""

import os
import statistics

from measure import Budget, heading, line, number, said

heading("classification of a line, µs", ["median", "99 of 100", "longest"])
for row in said([os.environ["BENCH_CLASSIFYING"]]).splitlines():
    name, *spans = row.split("\t")
    spans = sorted(int(span) / 1000 for span in spans)
    most = spans[len(spans) * 99 // 100]
    verdict = Budget(1000, "µs", of="most").verdict(most=most)
    line(f"{len(spans):,} {name}", [number(statistics.median(spans)), number(most), number(spans[-1])], [verdict])
