"""``python killed.py REPO N``: writes a record, publishes it, and dies before its N-th lasting act.

An act is a file renamed, made or removed, a folder made, or a Git program started.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from recordstores import a_store, new

_ACTS = ("os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "subprocess.Popen")


def main() -> None:
    """Count, and die."""
    path, left = Path(sys.argv[1]), int(sys.argv[2])

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        # An object that no ref names yet is nothing to anyone.
        if event in _ACTS and "/objects/" not in str(arguments):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    with a_store(path, agent="cursor") as store:
        sys.addaudithook(hook)
        done = store.write(new(summary=f"Written by try {sys.argv[2]}."), push=True)
        assert done.pushed, done.push_failed


if __name__ == "__main__":
    main()
