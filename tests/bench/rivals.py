"""Those who make commands wait for each other: how each puts a lock before a command, how many wait for it, and a line of
commands that wait."""

import json
import os

from measure import said, start, until


# What lets the commands of one machine share warm connections.
RELAY = {"LOCKED_RELAY": "1m"}


class Locked:
    """Ours on one store."""

    def __init__(self, where, variable=None, more=None):
        self.name = f"locked, {where}"
        self.env = {"LOCKED_STORE": os.environ[variable]} if variable else {}
        self.env |= more or {}

    def before(self, resource, argv):
        return ["locked", "--wait", "10m", "-r", f"test:{resource}", *argv]

    def waiting(self, resource):
        leases = json.loads(said(["locked", "status", "--json", f"test:{resource}"], self.env))
        return sum(lease["waiters"] for lease in leases)


class Flock:
    name, env = "flock", {}

    def before(self, resource, argv):
        return ["flock", f"{resource}.lock", *argv]

    def waiting(self, resource):
        inode = os.stat(f"{resource}.lock").st_ino
        with open("/proc/locks") as file:
            return sum("->" in line and f":{inode} " in line for line in file)


class Etcd:
    name, env = "etcdctl lock", {}
    command = os.environ.get("BENCH_ETCDCTL", "").split()

    def before(self, resource, argv):
        return [*self.command, "lock", resource, *argv]

    def waiting(self, resource):
        keys = said([*self.command, "get", "--prefix", "--keys-only", f"{resource}/"]).split()
        return max(len(keys) - 1, 0)


def all_of_them():
    """The peers, then ours on each kind of store; who compares takes the second for the peer."""
    ours = [
        Locked("embedded store"),
        Locked("loopback TLS", "BENCH_TLS"),
        Locked("loopback TLS by a relay", "BENCH_TLS", RELAY),
        Locked("through pgbouncer", "BENCH_POOLED"),
    ]
    return [Flock(), Etcd(), *ours]


class Line:
    """While this is entered, so many commands wait in line behind one holder; on leaving, they have their turns."""

    def __init__(self, rival, waiters, resource, argv):
        self.gate = f"{resource}.gate"
        os.mkfifo(self.gate)
        self.rival = rival
        self.all = [start(rival.before(resource, ["cat", self.gate]), rival.env)]
        self.key = None
        try:
            until(self.is_held, f"{rival.name} holds")
            self.all += [start(rival.before(resource, argv), rival.env) for _ in range(waiters)]
            until(lambda: rival.waiting(resource) >= waiters, f"{waiters} wait for {rival.name}")
        except SystemExit:
            # A machine that is too busy for so many: they must not be in the way of what is measured next.
            for process in self.all:
                process.kill()
                process.wait()
            raise

    def is_held(self):
        """Whether the holder's program reads from the gate; it does until we let go of the other end."""
        try:
            self.key = os.open(self.gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        return True

    def __enter__(self):
        return self.all[1:]

    def __exit__(self, *_):
        os.close(self.key)
        for process in self.all:
            if process.wait() != 0:
                raise SystemExit(f"{self.rival.name}: a command in line ended with {process.returncode}")
