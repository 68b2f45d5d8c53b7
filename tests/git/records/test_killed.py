from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from memrepo.protocol.recordfile import read_record
from recordstores import a_store, new
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
TESTS = Path(__file__).parents[2]


def dies_at(repo: GitRepo, number: int) -> bool:
    """Whether a write that meets another one was killed before its end."""
    command = [sys.executable, str(Path(__file__).with_name("killed.py")), str(repo.path)]
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run([*command, str(number)], env=env, capture_output=True, text=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def records_are_whole(repo: GitRepo, rev: str) -> None:
    listed = repo.git("ls-tree", "-r", "--name-only", rev, "records").splitlines()
    active = [
        r for p in listed if (r := read_record(repo.read(p, rev), p)).lifecycle.status == "active"
    ]
    assert len(active) == 1
    assert repo.git("fsck", "--connectivity-only", "--no-dangling", rev) == ""


def test_killed_anywhere_there_is_no_half_record(
    memory_repo: MakeRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(memory_repo("agent-1"))
    number, killed = -2, True
    with a_store(clone(remote, "one")) as other:
        while killed:
            number += 3
            two = clone(remote, f"two-{number}")
            other.write(new(summary=f"Of another, {number}."), push=True)
            killed = dies_at(two, number)
            records_are_whole(remote, "main")
            if two.git("ls-tree", "HEAD", "records"):
                records_are_whole(two, "HEAD")
            with a_store(two, agent="cursor") as store:
                store.write(new(summary=f"In the end, {number}."))
                store.sync()
                assert [one.summary for one in store.list()] == [f"In the end, {number}."]
                assert store.verify() == []
            records_are_whole(remote, "main")
            assert two.head() == remote.head()
            assert two.git("status", "--short") == ""
    assert number > 10
