"""The size of the program, and the instructions from its start until the real program takes its place."""

import os
import re
import shutil
import subprocess

from measure import heading, line, note

# Until the process ends or becomes another program, whatever comes first.
CALLGRIND = ["valgrind", "-q", "--tool=callgrind", "--combine-dumps=yes", "--dump-before=execve*", "--callgrind-out-file=calls.txt"]


def instructions(argv):
    if os.path.exists("calls.txt"):
        os.remove("calls.txt")
    env = {**os.environ, "PATH": f"{os.getcwd()}/idle:{os.environ['PATH']}"}
    subprocess.run([*CALLGRIND, *argv], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open("calls.txt") as file:
        return int(re.search(r"^totals: (\d+)", file.read(), re.MULTILINE)[1])


heading("size of the program, MiB", ["size"])
for name in ("flock", "locked", "etcdctl", "sops"):
    line(name, [f"{os.stat(os.path.realpath(shutil.which(name))).st_size / 2**20:.2f}"])

# A sops that does nothing; the real one is a script's business elsewhere.
os.makedirs("idle", exist_ok=True)
bare = shutil.which("true", path="/usr/bin:/bin")
shutil.copy(bare, "idle/sops")
heading("instructions until the real program starts, thousands", ["count"])
for name, argv in (
    ("true, from start to end", [bare]),
    ("locked true", ["locked", bare]),
    ("locked sops decrypt app.yaml", ["locked", "sops", "decrypt", "app.yaml"]),
    ("locked sh -c 'ls -la && make test'", ["locked", "sh", "-c", "ls -la && make test"]),
    ("locked --version, from start to end", ["locked", "--version"]),
):
    try:
        line(name, [f"{instructions(argv) / 1000:.0f}"])
    except (OSError, TypeError) as error:
        note(f"{name}: unknown; callgrind cannot count here ({type(error).__name__})")
