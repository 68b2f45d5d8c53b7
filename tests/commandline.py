"""The command line for tests: in this process for speed, as a real process where that matters."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from memrepo.cli import app
from repositories import GitRepo

#: Far above what any command needs: only a loop without an end gets here.
HANG_SECONDS = 60


class Ran(msgspec.Struct, frozen=True):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The answer on standard output, which must be JSON that any reader takes."""
        return msgspec.json.decode(self.out)


def memrepo(repo: GitRepo | Path, *args: str | Path) -> Ran:
    """``memrepo ARGS --repo-path REPO`` in this process; a traceback fails the test.

    The first argument is the command, as ``"pr list"`` where it is one of a group.
    """
    path = repo.path if isinstance(repo, GitRepo) else repo
    command, *rest = map(str, args)
    out, err = _stream(), _stream()
    with hang_guard(), redirect_stdout(out), redirect_stderr(err):
        code = app._run([*command.split(), "--repo-path", str(path), *rest])
    ran = Ran(code, _text(out), _text(err))
    assert code in range(6), ran
    return ran


def memrepo_process(cwd: Path, *args: str | bytes) -> Ran:
    """The same as a process of its own, its arguments as bytes where they are no text."""
    done = subprocess.run(
        [sys.executable, "-m", "memrepo", *args],
        cwd=cwd,
        capture_output=True,
        timeout=HANG_SECONDS,
    )
    ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in ran.err
    assert ran.code in range(6), ran
    return ran


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", newline="\n")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


@contextmanager
def hang_guard() -> Iterator[None]:
    """End what never ends with an error in its place."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"no end after {HANG_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANG_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def everything(repo: GitRepo) -> tuple[str, str, str, dict[str, tuple[int, bytes]]]:
    """HEAD, every ref, the index, and every path of the worktree with its mode and bytes."""
    return (
        (repo.path / ".git/HEAD").read_text(),
        repo.git("for-each-ref"),
        repo.git("ls-files", "--stage"),
        dict(_files(repo.path)),
    )


def _files(root: Path) -> Iterator[tuple[str, tuple[int, bytes]]]:
    for folder, folders, names in os.walk(os.fsencode(root)):
        if folder == os.fsencode(root):
            folders.remove(b".git")
        for name in [*folders, *names]:
            path = os.path.join(folder, name)  # noqa: PTH118 (names that are no text)
            mode = os.lstat(path).st_mode
            data = b""
            if stat.S_ISLNK(mode):
                data = os.readlink(path)  # noqa: PTH115
            elif stat.S_ISREG(mode):
                data = Path(os.fsdecode(path)).read_bytes()
            yield os.fsdecode(path), (mode, data)
