"""Archived snapshots brought back: into a folder, onto the branch, or as a new branch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from memrepo.archive.below import write_below
from memrepo.archive.fetch import Shelves, contents, fetched
from memrepo.archive.own import OWN, contents_here
from memrepo.archive.select import Picked
from memrepo.archive.values import Tell, quiet
from memrepo.errors import UsageError
from memrepo.gitrepo.putback import put_back
from memrepo.gitrepo.repository import Repository
from memrepo.history.archived import ArchiveIndex
from memrepo.report.phrases import count, listed
from memrepo.shards.values import Archived, IndexLine

_TELL_EVERY = 256


class Restored(msgspec.Struct, frozen=True):
    """What came back: ``snapshots`` were asked for, ``written`` of them were not there yet.

    ``commit`` and ``branch`` are "" where files were written into ``folder``;
    ``new_branch`` says that the branch was made for them. ``source`` is what they were read
    from, in words: a forge, or this clone's own objects.
    """

    snapshots: int
    written: int
    releases: tuple[str, ...]
    folder: str = ""
    commit: str = ""
    branch: str = ""
    new_branch: bool = False
    source: str = ""

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of ``archive restore --json``."""
        value: dict[str, Any] = msgspec.to_builtins(self)
        return value


class Target(msgspec.Struct, frozen=True):
    """Where snapshots go: ``folder``, or the new ``branch``; the current branch for neither."""

    folder: Path | None = None
    branch: str | None = None


def planned(index: ArchiveIndex, picked: Sequence[Picked]) -> list[Archived]:
    """The snapshots that a selection means, each path once, without asking a forge.

    Raises UsageError where two shards hold a path with two contents.
    """
    found: dict[str, Archived] = {}
    for each in picked:
        for one in index.members(each.line):
            if each.paths is not None and one.path not in each.paths:
                continue
            if found.setdefault(one.path, one).blob != one.blob:
                raise _twice(one.path)
    return [found[path] for path in sorted(found)]


def _twice(path: str) -> UsageError:
    return UsageError(
        f"{path} is archived twice, with two contents",
        "name one of the releases: memrepo archive list shows them",
    )


def restore(
    repo: Repository,
    shelves: Shelves | None,
    index: ArchiveIndex,
    picked: Sequence[Picked],
    target: Target,
    *,
    tell: Tell = quiet,
) -> Restored:
    """Fetch every shard that is needed, check all of them, and only then give anything.

    ``shelves`` None takes them from this clone's own objects
    (:func:`memrepo.archive.own.is_here`). Raises BadInput with the reason for a tarball that
    is refused, NeedsPerson where another file is in a snapshot's place, RemoteFailed where
    the forge fails; nothing changed then.
    """
    tags = tuple(dict.fromkeys(one.line.tag for one in picked))
    total = sum(one.line.snapshots if one.paths is None else len(one.paths) for one in picked)
    if shelves is None:
        meant = planned(index, picked)
        files = _told(contents_here(repo, meant), len(meant), tell)
        blobs = [one.blob for one in meant]
        return _given(repo, files, blobs, target, Restored(len(meant), 0, tags, source=OWN))
    seen: dict[str, int] = {}
    with fetched(shelves, [one.line for one in picked], tell=tell) as shards:
        files = _told(_contents(index, picked, shards, seen), total, tell)
        members = (one.blob for each in picked for one in index.members(each.line))
        source = listed(dict.fromkeys(shelves.release(one.line)[0].place for one in picked))
        done = _given(repo, files, members, target, Restored(total, 0, tags, source=source))
    return msgspec.structs.replace(done, snapshots=len(seen))


def _given(
    repo: Repository,
    files: Iterator[tuple[str, bytes]],
    blobs: Iterable[str],
    target: Target,
    done: Restored,
) -> Restored:
    """``done`` with where the files are now; its ``snapshots`` are what the commit speaks of."""
    if target.folder is not None:
        written = write_below(target.folder, files)
        return msgspec.structs.replace(done, written=written, folder=str(target.folder))
    message = _message(done.snapshots, done.releases)
    put = put_back(repo, files, message, branch=target.branch, blobs=blobs)
    return msgspec.structs.replace(
        done,
        written=put.added,
        commit=put.commit,
        branch=put.ref.removeprefix("refs/heads/"),
        new_branch=target.branch is not None,
    )


def _contents(
    index: ArchiveIndex,
    picked: Sequence[Picked],
    files: dict[IndexLine, Path],
    seen: dict[str, int],
) -> Iterator[tuple[str, bytes]]:
    """Each snapshot that is meant, once; ``seen`` notes the hash of each.

    Every shard is read to its end.
    """
    for one in picked:
        for path, data in contents(one.line, files[one.line], index.members(one.line)):
            if one.paths is not None and path not in one.paths:
                continue
            number = hash(data)
            if path not in seen:
                seen[path] = number
                yield path, data
            elif seen[path] != number:
                raise _twice(path)


def _told(
    files: Iterator[tuple[str, bytes]], total: int, tell: Tell
) -> Iterator[tuple[str, bytes]]:
    for number, file in enumerate(files):
        if number % _TELL_EVERY == 0:
            tell("reading snapshots", number, total)
        yield file


def _message(number: int, tags: Sequence[str]) -> str:
    trailers = "\n".join(f"Restored-From: {tag}" for tag in tags)
    return f"archive: bring back {count(number, 'snapshot')}\n\n{trailers}\n"
