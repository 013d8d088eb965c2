"""What the proof after a write costs: the whole command with and without it, and each stage of it, as the system calls of
the wrapper show them. Tracing makes the stages a little longer than they are."""

import os
import re
import shutil
import subprocess

from measure import QUICK, RUNS, Row, in_turn, note, timed

CALLS = "trace=openat,execve,clone,clone3,vfork,fork,wait4,unlink"
TRACE = ["strace", "-f", "--seccomp-bpf", "-qq", "-ttt", "-s", "300", "-e", CALLS, "-o", "trace.txt"]
# A stage ends with the first call of the wrapper that looks so; the first begins when the file is read after the command.
STAGES = [
    ("locked's own checks: the file by itself, and beside before", r'^openat\(.*/key\.txt"'),
    ("the data key unwrapped (crate age)", r"^(clone3?|vfork|fork)\("),
    ("sops decrypt to nowhere", r"^(<\.\.\. )?wait4.*WIFEXITED"),
    ("a copy kept for restore, digests", r'^openat\(.*/locked\.db-journal"'),
    ("receipt and release, one transaction of the store", r'^unlink\(.*/locked\.db-journal"'),
]


def setting(file, value="{turn}"):
    """The command, on a copy that is made at first."""
    if not os.path.exists(file):
        shutil.copy("app.yaml", file)
    return ["sops", "set", file, '["password"]', f'"turn {value}"']


def wrapper_after_command(lines):
    """The calls of the first process, from when it reads the file that the real program has written."""
    calls = [line.split(maxsplit=2) for line in lines]
    wrapper = calls[0][0]
    ran = next(at for at, call in enumerate(calls) if call[0] != wrapper and call[2].startswith("execve(") and '"set"' in call[2])
    ours = [(float(at), text) for pid, at, text in calls[ran:] if pid == wrapper]
    first = next(at for at, (_, text) in enumerate(ours) if re.match(r'openat\(.*/traced\.yaml"', text))
    return ours[first:]


def stages(value):
    """Milliseconds of each stage of one traced run."""
    subprocess.run([*TRACE, "locked", *setting("traced.yaml", value)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open("trace.txt") as file:
        calls = iter(wrapper_after_command(file))
    begun, took = next(calls)[0], []
    for _, end in STAGES:
        ended = next(at for at, text in calls if re.search(end, text))
        took.append((ended - begun) * 1000)
        begun = ended
    return took


# Each has a file of its own, so that nobody is told that another has changed it; and each writes what was not there before:
# only a change is proven.
rows = in_turn([
    ("sops set F …", setting("bare.yaml"), None),
    ("locked --no-canary sops set F …", ["locked", "--no-canary", *setting("unproven.yaml")], None),
    ("locked sops set F …", ["locked", *setting("proven.yaml")], None),
    ("sops decrypt F", ["sops", "decrypt", "bare.yaml"], None),
])
timed("canary: one write", rows)
try:
    traced = [stages(turn) for turn in range(5 if QUICK else RUNS // 2)]
except (OSError, subprocess.CalledProcessError, StopIteration) as error:
    note(f"its stages are unknown: they cannot be traced here ({type(error).__name__})")
else:
    rows = [Row(name, list(spans)) for (name, _), spans in zip(STAGES, zip(*traced))]
    timed("canary: its stages, and what follows", rows, plain=rows[2])
