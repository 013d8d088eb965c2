"""The head of the table: the machine, its load, and what one fsync costs where the files and the stores are."""

import os
import platform
import statistics
import subprocess
import time

from measure import QUICK, RUNS, said


def fsync():
    """Median milliseconds of 50: four kilobytes appended, then fsync."""
    took = []
    with open("probe", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            begun = time.perf_counter()
            os.fsync(file.fileno())
            took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


kind = subprocess.run(["stat", "-f", "-c", "%T", "."], capture_output=True, text=True).stdout.strip() or "unknown"
load = os.getloadavg()[0]
busy = ": it is busy with other things, so look at the fastest runs" if load > 0.5 * os.cpu_count() else ""
print(f"machine: {processor()}, {os.cpu_count()} processors; {platform.system()} {platform.release()}; {kind} file system")
print(f"one fsync here: {fsync():.2f} ms; load before the run: {load:.1f}{busy}")
when, program = time.strftime("%Y-%m-%d %H:%M", time.gmtime()), said(["locked", "--version"]).strip()
print(f"{when} UTC; {program}; {RUNS} runs of each{', quick' if QUICK else ''}")
