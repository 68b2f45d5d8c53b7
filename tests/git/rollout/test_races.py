"""Schedules at once, and a job that is killed: one step, and the file is the old or the new."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from repositories import GitRepo
from rolloutwork import NAME, history, on_branch, origin, rollout, run, start

Make = Callable[..., GitRepo]
STEP = [sys.executable, "-m", "memrepo", "rollout", "step", "--name", NAME, "--json"]


def test_of_schedules_at_once_one_makes_the_step(work: GitRepo, clone: Make) -> None:
    start(work, "--steps", "5,25:24h,100")
    clones = [clone(origin(work), f"clone-{n}") for n in range(4)]
    runs = [
        subprocess.Popen(STEP, cwd=c.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for c in clones
    ]
    said = [run.communicate(timeout=120)[0].decode() for run in runs]
    # One that began after the step was made is told of its hold.
    assert {run.returncode for run in runs} <= {0, 2}, said
    assert sum('"changed": true' in text for text in said) == 1, said
    assert rollout(work).state.step == 2
    assert history(work).count(f"rollout {NAME}: 5 % → 25 %") == 1
    origin(work).git("fsck", "--strict", "--no-dangling")


def pushed_meanwhile(work: GitRepo, change: Callable[[], object]) -> None:
    """Make a change that reaches the remote just before the next push of ``work`` does."""
    bare = origin(work)
    old = bare.head("main")
    change()
    new = bare.head("main")
    assert new != old
    bare.git("update-ref", "refs/heads/main", old)
    hook = work.write(
        ".git/hooks/pre-push",
        f"#!/bin/sh\nunset GIT_DIR\ngit -C '{bare.path}' update-ref refs/heads/main {new}\n"
        'rm -f "$0"\n',
    )
    hook.chmod(0o755)


def test_a_step_that_lost_the_race_to_another_is_nothing_to_do(work: GitRepo, clone: Make) -> None:
    start(work, "--steps", "5,25,100")
    other = clone(origin(work), "other")
    pushed_meanwhile(work, lambda: run(other, "step"))
    ran = run(work, "step")
    assert (ran.code, ran.out) == (0, f"{NAME} is at step 2 of 3\n")
    assert rollout(work).state.step == 2


def test_a_step_that_lost_the_race_to_an_abort_is_refused(work: GitRepo, clone: Make) -> None:
    start(work, "--steps", "5,25,100")
    other = clone(origin(work), "other")
    pushed_meanwhile(work, lambda: run(other, "abort", "--reason", "harm"))
    ran = run(work, "step")
    assert (ran.code, "it is aborted" in ran.err) == (2, True)
    assert rollout(work).state.phase == "aborted"


@pytest.mark.parametrize(
    "command", [["step"], ["abort", "--reason", "harm"], ["promote", "--early"]]
)
def test_a_change_is_made_again_on_what_others_pushed(
    work: GitRepo, clone: Make, command: list[str]
) -> None:
    start(work, "--steps", "5,25,100")
    other = clone(origin(work), "other")
    pushed_meanwhile(work, lambda: on_branch(other, "main", {"notes.md": "Theirs.\n"}, "notes"))
    ran = run(work, *command)
    assert ran.code == 0, ran
    assert "notes" in history(work)
    assert history(work)[-1].startswith(f"rollout {NAME}: ")
    assert origin(work).read("notes.md", "main") == b"Theirs.\n"


@pytest.mark.parametrize("milliseconds", [200, 350, 450, 550, 650, 800])
def test_killed_at_any_moment(work: GitRepo, milliseconds: int) -> None:
    start(work, "--steps", "5,25,100")
    path = f".memrepo/rollouts/{NAME}.yml"
    old, states = origin(work).head("main"), rollout(work).state
    killed = subprocess.Popen(
        STEP, cwd=work.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    time.sleep(milliseconds / 1000)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    remote = origin(work)
    for lock in remote.path.rglob("main.lock"):
        lock.unlink()  # what Git itself leaves when it is killed, as it says
    if remote.head("main") == old:
        assert rollout(work).state == states
        assert run(work, "step").code == 0
    assert rollout(work).state.step == 2
    assert remote.git("diff", "--name-only", f"{old}..main") == path
    remote.git("fsck", "--strict", "--no-dangling")
