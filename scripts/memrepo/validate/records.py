"""Validate the shared records that lie in a worktree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memrepo.gate.files import too_large
from memrepo.gate.layout import Entry, judge_entry
from memrepo.gate.sides import mode_on_disk, read_plain
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import place_of
from memrepo.protocol.record import RECORDS_FOLDER
from memrepo.validate.worktree import Look, judge_path, read_quickly, walk

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository


def judge_records(look: Look, repo: Repository, start: str = RECORDS_FOLDER) -> list[Finding]:
    """Every path at or below ``start``, and, of all of them, how the records hang together."""
    findings: list[Finding] = []
    paths = list(walk(look.root, start))
    if not paths:
        return findings
    from memrepo.gate.recordtree import judge_all_records

    def records() -> Iterator[tuple[str, bytes]]:
        for path in paths:
            place = place_of(path)
            if place.role != "record":
                findings.extend(judge_path(look, path))
                continue
            data = read_quickly(f"{look.root}/{path}", look.modes)
            if data is None:
                mode = mode_on_disk(look.root / path, look.modes)
                findings.extend(judge_entry(Entry(path, mode), place, look.policy))
                blob = read_plain(look.root, path)
                data = blob.data if blob else None
                if blob and data is None:
                    findings.extend(too_large(path, blob.size, look.policy))
            if data is not None:
                yield path, data

    whole = start == RECORDS_FOLDER
    judged = judge_all_records(records(), look.policy, repo, text=look.text, chains=whole)
    return findings + judged
