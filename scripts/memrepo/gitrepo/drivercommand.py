"""How Git starts memrepo, and whether what is registered can still be started."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from memrepo.protocol.defaults import driver_program


def own_command() -> str:
    """The command that starts this memrepo, quoted for the shell that Git uses.

    The interpreter by its full path: a driver also runs where ``PATH`` is another one, from
    an editor or a scheduled job. Isolated (-I), so that nothing in the folder where Git
    merges, which is the repository's own, is imported.
    """
    return f"{shlex.quote(sys.executable)} -I -m memrepo"


def can_start(command_line: str) -> bool:
    """Whether the program that a driver's command begins with is there."""
    program = driver_program(command_line)
    if not program:
        return False
    if os.sep in program:
        return os.access(program, os.X_OK)
    return shutil.which(program) is not None
