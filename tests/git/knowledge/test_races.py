"""While others push, and when the job is killed: main is the old tip or the new one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from knowledgework import merge_now, on_branch, on_main, origin, tools, tools_of
from repositories import GitRepo

Make = Callable[..., GitRepo]
MERGE = [sys.executable, "-m", "memrepo", "knowledge", "merge", "--json"]


def write_tools(repo: GitRepo, *names: str, agent: str = "bot", **described: str) -> None:
    repo.write_agent(agent, tools=tools(*names, **described))


def test_jobs_at_once_bring_each_commit_once(work: GitRepo, clone: Make) -> None:
    """Four jobs while a person pushes to main: every change is in, none of them twice."""
    made = []
    for source in ("api", "crm", "wiki"):
        for number in range(3):
            names = [f"{source}{n}" for n in range(number + 1)]
            made += on_branch(work, source, partial(write_tools, work, *names, agent=source))
    clones = [clone(origin(work), f"clone-{n}") for n in range(4)]
    person = clone(origin(work), "person")
    runs = [subprocess.Popen(MERGE, cwd=c.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for c in clones]  # fmt: skip
    for number in range(5):
        person.git("pull", "--quiet", "--rebase")
        write_tools(person, "find", "refund", refund=f"Pays {number}.")
        person.commit(f"person {number}")
        while person.git("push", "--porcelain", "origin", "main", check=False).count("[rejected]"):
            person.git("pull", "--quiet", "--rebase")
    said = [run.communicate(timeout=120)[0].decode() for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, said
    remote = origin(work)
    marks = remote.git("log", "--format=%(trailers:key=Knowledge-Commit,valueonly)", "main").split()
    assert sorted(marks) == sorted(made)
    assert remote.git("rev-list", "--merges", "main") == ""
    assert tools_of(remote)["refund"]["description"] == "Pays 4."
    remote.git("fsck", "--strict", "--no-dangling")


@pytest.mark.parametrize("milliseconds", [150, 300, 450, 600, 800, 1000])
def test_killed_at_any_moment(work: GitRepo, milliseconds: int) -> None:
    made = on_branch(work, "wiki", *(
        lambda n=n: write_tools(work, "find", "refund", *(f"t{i}" for i in range(n)))
        for n in range(1, 9)
    ))  # fmt: skip
    old = on_main(work, lambda: write_tools(work, "find", "refund", refund="Pays."))
    run = subprocess.Popen(
        MERGE, cwd=work.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    time.sleep(milliseconds / 1000)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    remote = origin(work)
    landed = remote.git("rev-list", "--count", f"{old}..main")
    assert landed in ("0", "8")
    for lock in [*Path(work.path, ".git").rglob("*.lock"), *remote.path.rglob("*.lock")]:
        lock.unlink()
    assert merge_now(work).exit_code == 0
    marks = remote.git("log", "--format=%(trailers:key=Knowledge-Commit,valueonly)", "main").split()
    assert sorted(marks) == sorted(made)
    assert len(tools_of(remote)) == 10


def test_main_that_moves_under_the_push_is_met_again(work: GitRepo, clone: Make) -> None:
    """The first push finds main elsewhere; what came meanwhile is joined, not overwritten."""
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", find="Finds more."))
    other = clone(origin(work), "other")
    write_tools(other, "find", "refund", refund="Pays.")
    other.commit("meanwhile")
    hook = work.path / ".git/hooks/pre-push"
    hook.write_text(
        '#!/bin/sh\nrm -f "$0"\nunset GIT_DIR\n'
        f'exec git -C "{other.path}" push --quiet origin main\n'
    )
    hook.chmod(0o755)
    done = merge_now(work)
    assert (done.tries, done.commits, done.exit_code) == (2, 1, 0)
    texts = [tool["description"] for tool in tools_of(origin(work)).values()]
    assert texts == ["Finds more.", "Pays."]
