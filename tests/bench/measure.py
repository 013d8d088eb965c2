"""Runs commands, in turn where they are compared, and prints what they took as rows of a table, each with its budget."""

import os
import statistics
import subprocess
import sys
import time

RUNS = int(os.environ["BENCH_RUNS"])
QUICK = bool(os.environ["BENCH_QUICK"])
# Where commands that are measured say what they have to say.
COMPLAINTS = "complaints.txt"


class Budget:
    """What a figure of a row may be at most: its median, what that is more than the plain row's, or their ratio, the better
    of that of the medians and that of the fastest."""

    def __init__(self, most, unit="ms", of="median", against=None):
        self.most, self.unit, self.of, self.against = most, unit, of, against

    def verdict(self, **figures):
        if self.against:
            return f"below {self.against}: {'within' if figures[self.of] < self.most else 'OVER'}"
        what = f"≤ {self.most:g} {self.unit}{' more' if self.of == 'more' else ''}"
        return f"{what}: {'within' if figures[self.of] <= self.most else 'OVER'}"


class Row:
    """A name and its samples; `processor` and `served` have the milliseconds that each used of one, here and in servers."""

    def __init__(self, name, samples, processor=(), served=(), budgets=()):
        self.name, self.samples, self.processor, self.served, self.budgets = name, samples, processor, served, list(budgets)

    @property
    def median(self):
        return statistics.median(self.samples)

    def below(self, peer):
        """Has the peer's median as a budget."""
        self.budgets.append(Budget(peer.median, against=peer.name))


def heading(title, columns):
    print(f"\n{title:56}" + "".join(f"{column:>11}" for column in columns) + "  budget", flush=True)


def line(name, cells, verdicts=()):
    print(f"  {name:54}" + "".join(f"{cell:>11}" for cell in cells) + f"  {'; '.join(verdicts)}".rstrip(), flush=True)


def parts(rows):
    """The columns for what was used of a processor, where a row knows it."""
    return [name for name in ("processor", "served") if any(getattr(row, name) for row in rows)]


def parts_of(row, rows):
    return [number(statistics.median(getattr(row, name))) if getattr(row, name) else "" for name in parts(rows)]


def note(text):
    print(f"  {text}", flush=True)


def number(value):
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


def timed(title, rows, plain=None):
    """Rows of spans in milliseconds, each beside the plain one: by difference (of every turn, then the median) and ratio."""
    plain = plain or rows[0]
    heading(f"{title}, ms", ["median", "fastest", "more", "ratio", *parts(rows)])
    for row in rows:
        if len(row.samples) == len(plain.samples):
            more = statistics.median(ours - theirs for ours, theirs in zip(row.samples, plain.samples))
        else:
            more = row.median - plain.median
        ratio = min(row.median / plain.median, min(row.samples) / min(plain.samples))
        cells = [number(row.median), number(min(row.samples))]
        cells += ["", ""] if row is plain else [number(more), number(row.median / plain.median)]
        line(row.name, cells + parts_of(row, rows), [budget.verdict(median=row.median, more=more, ratio=ratio) for budget in row.budgets])


def rates(title, rows, plain):
    """Rows of commands per second, beside the plain one; ours must not be below it."""
    heading(title, ["a second", "ratio", *parts(rows)])
    for row in rows:
        verdict = f"above {plain.name}: {'within' if row.median > plain.median else 'OVER'}"
        cells = [number(row.median), number(row.median / plain.median)]
        line(row.name, cells + parts_of(row, rows), [verdict] if row.name.startswith("locked") else [])


def one(argv, env=None, stdin=None):
    """Runs a command to its end: milliseconds on the clock, and those that it and its children used of a processor."""
    environment = {**os.environ, **(env or {})}
    files = [(os.POSIX_SPAWN_OPEN, 0, stdin or "/dev/null", os.O_RDONLY, 0)]
    files += [(os.POSIX_SPAWN_OPEN, fd, place, os.O_WRONLY | os.O_CREAT, 0o600) for fd, place in ((1, "/dev/null"), (2, COMPLAINTS))]
    program = found(argv[0], environment["PATH"])
    begun = time.perf_counter()
    pid = os.posix_spawn(program, argv, environment, file_actions=files)
    _, status, used = os.wait4(pid, 0)
    took = (time.perf_counter() - begun) * 1000
    if status != 0:
        with open(COMPLAINTS, errors="replace") as file:
            sys.exit(f"{' '.join(argv)}: ended with {os.waitstatus_to_exitcode(status)}: {file.read().strip()}")
    return took, (used.ru_utime + used.ru_stime) * 1000


def found(program, path, known={}):
    if "/" in program:
        return program
    if (program, path) not in known:
        places = (os.path.join(place, program) for place in path.split(":"))
        known[program, path] = next(place for place in places if os.access(place, os.X_OK))
    return known[program, path]


def in_turn(commands, runs=RUNS, stdin=None):
    """A row for each (name, argv, environment), by turns: whatever else the machine does meets all of them alike. What is to
    differ from turn to turn has `{turn}` in a word."""
    rows = [Row(name, [], []) for name, _, _ in commands]
    for turn in range(-2, runs):
        for row, (_, argv, env) in zip(rows, commands):
            took, used = one([word.replace("{turn}", str(turn)) for word in argv], env, stdin)
            if turn >= 0:
                row.samples.append(took)
                row.processor.append(used)
    return rows


def start(argv, env=None, out=subprocess.DEVNULL):
    """Starts a command that goes on beside us."""
    environment = {**os.environ, **(env or {})}
    with open(COMPLAINTS, "ab") as complaints:
        return subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=complaints)


def until(true, what, limit=60):
    """Waits until something is so."""
    late = time.monotonic() + limit
    while not true():
        if time.monotonic() > late:
            sys.exit(f"waited {limit} s in vain until {what}")
        time.sleep(0.02)


def said(argv, env=None):
    """What a command prints."""
    ended = subprocess.run(argv, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(argv)}: {ended.stderr.strip()}")
    return ended.stdout
