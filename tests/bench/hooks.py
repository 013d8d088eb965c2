"""What the git hooks cost with 10,000 staged files, installing them with 10,000 SOPS files in HEAD, and the note of a read."""

import base64
import hashlib
import os
import re
import shutil

from measure import QUICK, RUNS, Budget, Row, in_turn, note, one, said, timed

MANY = 10_000
TURNS = 3 if QUICK else max(5, RUNS // 4)
WITHIN = Budget(1000)
here = os.getcwd()
with open("app.yaml") as file:
    TEMPLATE = file.read()


def version(number):
    """A SOPS file like the template, of which no value and no code is another file's."""

    def other(match):
        length = len(base64.b64decode(match[1]))
        stream = hashlib.shake_128(f"{number} {match.start()}".encode()).digest(length)
        return f"data:{base64.b64encode(stream).decode()}"

    return re.sub(r"data:([A-Za-z0-9+/=]+)", other, TEMPLATE)


def repository(name, content):
    """Many files, staged upon a first commit; git does not pack them while we measure."""
    os.mkdir(name)
    git = ["git", "-C", name]
    said([*git, "-c", "init.defaultBranch=main", "init", "-q"])
    for setting in ("user.name=a", "user.email=a@example.org", "gc.auto=0", "maintenance.auto=false"):
        said([*git, "config", *setting.split("=")])
    said([*git, "remote", "add", "origin", f"git@example.org:{name}.git"])
    said([*git, "commit", "-q", "--allow-empty", "-m", "first"])
    for number in range(MANY):
        place = f"{name}/files/{number // 100}"
        os.makedirs(place, exist_ok=True)
        with open(f"{place}/f{number}.yaml", "w") as file:
            file.write(content(number))
    said([*git, "add", "-A"])


def by_turns(commands, before, turns=TURNS):
    """As `in_turn`, with something that is done before each command and not measured."""
    rows = [Row(name, [], []) for name, _ in commands]
    for turn in range(-1, turns):
        for row, (_, argv) in zip(rows, commands):
            before()
            took, used = one(argv)
            if turn >= 0:
                row.samples.append(took)
                row.processor.append(used)
    return rows


def commits(title, name):
    """Each commit is taken back: what it brought is in no ref."""
    first = said(["git", "-C", name, "rev-list", "--max-parents=0", "HEAD"]).strip()
    rows = by_turns(
        [
            ("git commit, no hook", ["git", "-C", name, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "x"]),
            ("git commit, with the hook", ["git", "-C", name, "commit", "-qm", "x"]),
            ("the hook: locked hooks run pre-commit", ["sh", "-c", f"cd {name} && exec locked hooks run pre-commit"]),
        ],
        lambda: said(["git", "-C", name, "reset", "-q", "--soft", first]),
    )
    rows[2].budgets.append(WITHIN)
    timed(title, rows)


def installs():
    """In a state of its own each time: nothing of HEAD has a receipt."""
    said(["git", "-C", "sops", "commit", "-q", "--no-verify", "-m", "x"])

    def afresh():
        said(["sh", "-c", "cd sops && locked hooks uninstall"])
        shutil.rmtree("fresh", ignore_errors=True)
        os.mkdir("fresh", 0o700)

    command = f"cd sops && LOCKED_STATE_DIR={here}/fresh exec locked hooks install"
    timed("git hooks: install, 10,000 SOPS files in HEAD get receipts", by_turns([("locked hooks install", ["sh", "-c", command])], afresh, 3))


def reads():
    """Of a file that is none of SOPS no note is left; it is as long, and the rest of the way is the same."""
    os.makedirs("idle", exist_ok=True)
    shutil.copy(shutil.which("true", path="/usr/bin:/bin"), "idle/sops")
    with open("open.yaml", "w") as file:
        file.write("".join(f"{line}\n" for line in TEMPLATE.replace("sops", "spos").replace("ENC[", "CNE[").splitlines()))
    idle = f"{here}/idle/sops"
    rows = in_turn(
        [
            ("locked sops decrypt open.yaml: no note", ["locked", idle, "decrypt", "open.yaml"], None),
            ("locked sops decrypt app.yaml: its note", ["locked", idle, "decrypt", "app.yaml"], None),
            ("the same file, where no note can be written", ["locked", idle, "decrypt", "app.yaml"], {"LOCKED_STATE_DIR": f"{here}/barred"}),
        ],
        RUNS * 5,
    )
    timed("the note of a read, with an idle sops", rows)


repository("plain", lambda number: f"name: {number}\n" * 40)
said(["sh", "-c", "cd plain && locked hooks install"])
commits("git hooks: 10,000 plain files staged", "plain")
repository("sops", version)
said(["sh", "-c", "cd sops && locked hooks install"])
unproven = ["sh", "-c", "cd sops && locked hooks run pre-commit; test $? = 73"]
rows = in_turn([("refused: locked hooks run pre-commit", unproven, None)], TURNS)
rows[0].budgets.append(WITHIN)
timed("git hooks: 10,000 SOPS files staged, none with a receipt", rows)
installs()
# Receipts for what is staged: those that installing gives to HEAD.
said(["sh", "-c", "cd sops && locked hooks install"])
commits("git hooks: 10,000 different SOPS files staged, all with receipts", "sops")
os.mkdir("barred", 0o700)
with open("barred/notes", "w") as file:
    file.write("in its place\n")
reads()
note("a note is one small file in the state directory")
