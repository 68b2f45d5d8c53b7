"""The commands that Git itself runs, once a file: they start without typer.

Git gives them names of temporary files, and reads what they leave.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

#: What Git before 2.44 leaves of ``%S %X %Y`` in the command of a merge driver.
_UNKNOWN = ("%S", "%X", "%Y")
_BROKEN = 129


def merge_driver(arguments: list[str]) -> int:
    """``%O %A %B %P [%S %X %Y]``: join the three files into ``%A``.

    Returns 0 when joined, 1 when a person must decide, and above 128 (which Git takes
    for a failure, not a conflict) when the files cannot be read or written.
    """
    if not 4 <= len(arguments) <= 7:
        print("memrepo merge-driver: Git gives it %O %A %B %P", file=sys.stderr)
        return _BROKEN
    from memrepo.errors import MemrepoError
    from memrepo.knowledge.driver import drive

    base, ours, theirs, path = arguments[:4]
    labels = ["" if label in _UNKNOWN else label for label in arguments[4:]]
    _base, ours_label, theirs_label = [*labels, "", "", ""][:3]
    try:
        before, left, right = (Path(name).read_bytes() for name in (base, ours, theirs))
        names = (ours_label, theirs_label)
        data, said = drive(Path.cwd(), path, (before, left, right), names)
        Path(ours).write_bytes(data)
    except (OSError, MemrepoError) as error:
        _say(f"memrepo merge-driver: {path}: {error!s}")
        return _BROKEN
    for line in said:
        print(line, file=sys.stderr)
    return 1 if said else 0


def _say(text: str) -> None:
    from memrepo.report.escape import for_terminal

    print(for_terminal(text), file=sys.stderr)


def textconv(arguments: list[str]) -> int:
    """``FILE``: print it as a person reads it; one that is no JSON comes out as it is."""
    if len(arguments) != 1:
        print("memrepo textconv: Git gives it one file", file=sys.stderr)
        return 2
    from memrepo.semdiff.readable import readable

    try:
        data = Path(arguments[0]).read_bytes()
    except OSError as error:
        _say(f"memrepo textconv: {arguments[0]}: {error.strerror}")
        return 2
    try:
        sys.stdout.buffer.write(readable(data))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


FOR_GIT = {"merge-driver": merge_driver, "textconv": textconv}
