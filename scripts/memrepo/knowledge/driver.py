"""The merge of one file for Git: what ``git merge``, ``rebase`` and ``cherry-pick`` call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.semmerge.file import merge_file

if TYPE_CHECKING:
    from memrepo.semmerge.values import Merged, Resolution

_MOST_RECORD_BYTES = 1_000_000


def drive(
    root: Path,
    path: str,
    versions: tuple[bytes, bytes, bytes],
    names: tuple[str, str] = ("", ""),
) -> tuple[bytes, list[str]]:
    """The bytes for the file ``path``, and a line (safe for a terminal) for each place that a
    person must decide.

    ``root`` is the top of the worktree, where Git starts a driver. Where there is such a
    place the bytes hold markers (:mod:`memrepo.semmerge.generic_markers`). ``versions``
    are base, ours and theirs; ``names`` are Git's for the two sides, "" where it gave
    none. Decisions in ``.memrepo/resolutions/`` are used as the knowledge merge uses them.
    """
    ours = versions[1]
    merged = merge_file(path, *versions, line_merge=lambda *s: _lines(root, *s))
    if merged.data is not None:
        return merged.data, []
    from memrepo.gitrepo.mergestate import sides
    from memrepo.gitrepo.repository import Repository
    from memrepo.report.escape import for_terminal
    from memrepo.semmerge.generic_markers import marked
    from memrepo.semmerge.resolve import decide
    from memrepo.semmerge.values import Labels

    with Repository.open(root) as repo:
        labels = Labels(*sides(repo, *names))
    decisions = list(_decisions(root))

    def merge(resolutions: list[Resolution]) -> Merged:
        return merge_file(
            path,
            *versions,
            labels=labels,
            resolutions=resolutions,
            line_merge=lambda *s: _lines(root, *s),
        )

    merged = merge(decisions)
    if merged.data is not None:
        return merged.data, []
    # All that can be joined, with ours' value where the sides disagree.
    joined = merge([*decisions, *(decide(conflict, "ours") for conflict in merged.conflicts)])
    data = marked(ours if joined.data is None else joined.data, merged.conflicts, labels)
    said = [for_terminal(f"{path}#{c.pointer}: {c.message}") for c in merged.conflicts]
    return data, said


def _lines(root: Path, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    from memrepo.gitrepo.linemerge import line_merge
    from memrepo.gitrepo.repository import Repository

    with Repository.open(root) as repo:
        return line_merge(repo)(base, ours, theirs)


def _decisions(root: Path) -> Iterator[Resolution]:
    """The decisions recorded in the worktree; what is no record is passed over."""
    from memrepo.knowledge.resolutions import FOLDER, read_record

    folder = root / FOLDER
    if folder.is_symlink() or not folder.is_dir():
        return
    for file in sorted(folder.glob("*.json")):
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_RECORD_BYTES:
            continue
        record = read_record(file.read_bytes())
        if record is not None:
            yield record.resolution
