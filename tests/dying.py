"""Runs one job again and again, and dies (SIGKILL) before the n-th thing that would last.

``python dying.py FORGE REPO``: for each line ``N`` on standard input a child is forked that
runs ``archive run`` on the repository and kills itself before its N-th lasting act: a file
renamed, made or removed, or a Git program started. Prints ``killed`` or ``ended`` for each.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from archiving import archive, forge_at
from repositories import GitRepo

_ACTS = ("os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "subprocess.Popen")
#: Scratch that a run leaves to nobody, and objects that no ref names yet.
_PASSING = ("memrepo-archive-", "/objects/", "/memrepo-")


def _lasts(event: str, arguments: tuple[Any, ...]) -> bool:
    return event in _ACTS and not any(word in str(arguments) for word in _PASSING)


def _die_before(number: int) -> None:
    left = number

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if _lasts(event, arguments):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def main() -> None:
    """Serve standard input."""
    forge, repo = (Path(argument) for argument in sys.argv[1:])
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _die_before(int(line))
            archive(GitRepo(repo), forge_at(forge))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        sys.stdout.write("killed\n" if died else f"ended {os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
