"""What passes through: beside the same command without us, in front of it by name, and through a shim."""

import json
import os
import shutil

from measure import RUNS, Budget, in_turn, said, timed

MORE = Budget(1.5, of="more")

# As rbenv and its kin have them: a script that hands over to a script that looks on PATH for the next program of that name.
SHIM = """#!/usr/bin/env bash
set -e
program=${0##*/}
export SHIM_ROOT=${0%/*}
exec "$SHIM_ROOT/exec" "$program" "$@"
"""
EXEC = """#!/usr/bin/env bash
set -e
program=$1
shift
IFS=: read -r -a entries <<<"$PATH"
for entry in "${entries[@]}"; do
    case $entry in */script | */shims) continue ;; esac
    if [ -x "$entry/$program" ]; then exec -a "$program" "$entry/$program" "$@"; fi
done
exit 127
"""

here = os.getcwd()
bare = shutil.which("true", path="/usr/bin:/bin")
os.makedirs("script"), os.makedirs("programs")
for name, text in (("true", SHIM), ("exec", EXEC)):
    with open(f"script/{name}", "w") as file:
        file.write(text)
    os.chmod(f"script/{name}", 0o755)
# The tools' own clients take far longer than we do; where they do nothing, what is left of the time is ours.
tools = ["docker", "gh", "sops", "ssh"]
for tool in tools:
    shutil.copy(bare, f"programs/{tool}")
# Everything stands where it stands in use: shims first on PATH, then the programs.
around = {"PATH": f"{here}/shims:{here}/programs:{os.environ['PATH']}"}
said(["locked", "shims", "install", "--dir", "shims", "true", *tools], around)
# What an agent's hook asks before it runs a line that locks nothing; plain is a program that only reads the call.
call = {"session_id": "a", "cwd": here, "hook_event_name": "PreToolUse", "tool_name": "Bash"}
with open("call.json", "w") as file:
    json.dump({**call, "tool_input": {"command": "ls -la && make test > log.txt"}}, file)


def beside(title, *commands, runs=RUNS * 5, budget=(MORE,), stdin=None):
    rows = in_turn([(name, argv, around) for name, argv in commands], runs, stdin=stdin)
    for row in rows[1:]:
        if "script" not in row.name:
            row.budgets.extend(budget)
    timed(title, rows)


beside(
    "pass through: nothing to lock",
    ("true", [bare]),
    ("locked true", ["locked", bare]),
    ("its shim", [f"{here}/shims/true"]),
    ("a shim of shell scripts, as rbenv's", [f"{here}/script/true"]),
)
for line in ("docker compose ps", "gh pr list", "sops decrypt app.yaml", "ssh host ls"):
    tool, *rest = line.split()
    beside(
        f"pass through: {line}, with an idle {tool}",
        (tool, [f"{here}/programs/{tool}", *rest]),
        (f"locked {tool}", ["locked", f"{here}/programs/{tool}", *rest]),
        ("its shim", [f"{here}/shims/{tool}", *rest]),
    )
sops = shutil.which("sops")
beside(
    "pass through: a read by the real sops",
    ("sops decrypt app.yaml", [sops, "decrypt", "app.yaml"]),
    ("locked sops decrypt app.yaml", ["locked", sops, "decrypt", "app.yaml"]),
    runs=RUNS,
)
beside(
    "looked into: a line of a shell",
    ("sh -c 'true; true'", ["sh", "-c", "true; true"]),
    ("locked sh -c 'true; true'", ["locked", "sh", "-c", "true; true"]),
)
beside("an agent's hook", ("cat", ["cat"]), ("locked agents check", ["locked", "agents", "check"]), stdin="call.json", budget=())
