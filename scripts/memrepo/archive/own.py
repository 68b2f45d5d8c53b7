"""Archived snapshots that are still in this clone, as objects of its old commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memrepo.errors import BadInput, GitFailed
from memrepo.gitrepo.blobs import all_here, promisor
from memrepo.gitrepo.objects import object_id
from memrepo.gitrepo.repository import Repository
from memrepo.shards.values import Archived

#: What a restored snapshot was read from, in words.
OWN = "this clone's own objects"


def is_here(repo: Repository, meant: Sequence[Archived]) -> bool:
    """Whether every snapshot is an object of this clone, whole: each is read and hashed.

    A partial clone is not asked: it would fetch them one by one.
    """
    if promisor(repo) is not None or not all_here(repo, (one.blob for one in meant)):
        return False
    try:
        for _ in contents_here(repo, meant):
            pass
    except (BadInput, GitFailed):
        return False
    return True


def contents_here(repo: Repository, meant: Sequence[Archived]) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of each snapshot, in order.

    Raises BadInput for one that is not here or does not have the id it goes by, GitFailed
    where objects cannot be read.
    """
    read = repo.reader.read_many(one.blob for one in meant)
    for one, found in zip(meant, read, strict=True):
        data = found.data if found else None
        if data is None or object_id(repo.object_format, "blob", data).hex() != one.blob:
            raise BadInput(
                f"the object {one.blob} of {one.path} is not whole in this clone",
                "name the forge with --forge, so that it is taken from there",
            )
        yield one.path, data
