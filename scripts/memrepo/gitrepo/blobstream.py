"""The contents of very many blobs, one after the other, in little memory.

``ObjectReader`` answers questions as they come. This asks for all at once, which takes Git
fewer system calls and this process fewer steps, and holds Git's own memory down.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import suppress
from itertools import islice
from threading import Thread
from typing import IO, TYPE_CHECKING

from memrepo.errors import GitFailed

from .process import start_git

if TYPE_CHECKING:
    from .repository import Repository

#: Git maps whole packs and keeps 96 MB of what deltas build on; neither is faster here.
LEAN = (
    *("-c", "core.packedGitWindowSize=1m", "-c", "core.packedGitLimit=16m"),
    *("-c", "core.deltaBaseCacheLimit=8m"),
)
_AT_ONCE = 5000
_END = ord("\n")


def stream_blobs(
    repo: Repository, oids: Iterable[str], sizes: Iterable[int]
) -> Generator[bytes, None, None]:
    """The bytes of each blob, in order, from their ids in hex and their sizes in bytes.

    ``oids`` is read in a thread of its own, apart from ``sizes``. Holds one blob at a time.
    Raises GitFailed where an object is missing, damaged or not as large; that it is the blob
    it should be is for the caller to check.
    """
    # Without type and size in the answer Git need not find them out.
    asked = [*LEAN, "cat-file", "--batch=%(objectname)", "--buffer"]
    process = start_git(asked, cwd=repo.path)
    feeder = Thread(target=_feed, args=(process.stdin, oids), daemon=True)
    feeder.start()
    read, head = process.stdout.read, 2 * repo.id_size + 1
    try:
        for size in sizes:
            answer = read(head + size + 1)
            if len(answer) != head + size + 1 or answer[head - 1] != _END or answer[-1] != _END:
                raise _unreadable()
            yield answer[head:-1]
        if read(1):
            raise _unreadable()
    finally:
        # The reading end first: a Git that waits for it would keep the feeder waiting, and
        # that one holds the lock of the other pipe.
        process.stdout.close()
        feeder.join()
        process.stop()


def _feed(stdin: IO[bytes], oids: Iterable[str]) -> None:
    rest = iter(oids)
    try:
        while some := list(islice(rest, _AT_ONCE)):
            stdin.write(("\n".join(some) + "\n").encode("ascii", "replace"))
    except BrokenPipeError:
        pass  # whoever reads the answers has stopped
    finally:
        with suppress(BrokenPipeError):
            stdin.close()


def _unreadable() -> GitFailed:
    return GitFailed(
        "the repository's objects could not be read", "run git fsck to see what is damaged"
    )
