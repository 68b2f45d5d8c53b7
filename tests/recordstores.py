"""Stores of shared records on real repositories, for tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memrepo.gitrepo.repository import Repository
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import Policy, Records
from memrepo.protocol.record import Address, Trust, Writer
from memrepo.records.store import Store
from memrepo.records.values import New
from recordfiles import NOW, WEB
from repositories import GitRepo


class Clock:
    """A clock that goes on by a millisecond whenever it is read, and as it is moved."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@contextmanager
def a_store(
    repo: GitRepo | Path,
    *,
    agent: str = "codex",
    trust: Trust = "session",
    address: Address = WEB,
    clock: Clock | None = None,
    **more: Any,
) -> Iterator[Store]:
    """The records of ``repo`` for one writer; without a ``clock`` time is real."""
    path = repo.path if isinstance(repo, GitRepo) else repo
    times: dict[str, Any] = {"clock": clock} if clock else {}
    with (
        Repository.open(path) as opened,
        Store(
            opened, writer=Writer(agent, "gpt", trust), address=address, **times, **more
        ) as store,
    ):
        yield store


def new(
    key: str = "pool-size", summary: str = "Twenty connections are enough.", **more: Any
) -> New:
    """A conclusion to be written."""
    return New(key, summary, **more)


def make_key(folder: Path, name: str = "ann") -> Path:
    """A new SSH key without a passphrase; its public half lies beside it as ``.pub``."""
    path = folder / name
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)], check=True
    )
    return path


def policy_of(**keys: tuple[Path, str]) -> Policy:
    """A policy whose signers are ``name=(key file, trust)``."""
    lines = [
        f"{trust} {name} {' '.join(key.with_suffix('.pub').read_text().split()[:2])}"
        for name, (key, trust) in keys.items()
    ]
    return Policy(records=Records(tuple(lines)))


def codes(findings: list[Finding]) -> list[str]:
    """The codes of findings, in order."""
    return [finding.code for finding in findings]


#: Writes ``count`` conclusions about keys named ``prefix-0`` … and one key that others share.
WRITER = """
import sys
from pathlib import Path
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.record import Address, Writer
from memrepo.records.store import Store
from memrepo.records.values import New

path, agent, count, push = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "push"
with Repository.open(path) as repo:
    store = Store(repo, writer=Writer(agent, "gpt"), address=Address("acme", "web"))
    for number in range(count):
        key = "shared" if number % 2 else f"{agent}-{number}"
        done = store.write(New(key, f"{agent} says {number}"), push=push)
        assert not done.push_failed, done.push_failed
        print(done.answer.record.id, done.answer.record.lifecycle.status, flush=True)
    store.close()
"""


def start_writer(repo: GitRepo, agent: str, count: int, *, push: bool) -> subprocess.Popen[str]:
    """A process that writes ``count`` records, every second one of the key ``shared``."""
    command = [sys.executable, "-c", WRITER, str(repo.path), agent, str(count)]
    return subprocess.Popen(
        [*command, "push" if push else "no"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
