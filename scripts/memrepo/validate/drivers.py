"""Whether this clone merges memory as its ``.gitattributes`` says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memrepo.gate.sides import read_plain
from memrepo.gitrepo.doctorfacts import knows_identity
from memrepo.protocol.catalogue import severity_of
from memrepo.protocol.findings import Finding

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository
    from memrepo.protocol.policy import Policy

_DECLARED = re.compile(rb"^[^#\n].*\smerge=memrepo(\s|$)", re.MULTILINE)


def judge_drivers(repo: Repository, policy: Policy) -> list[Finding]:
    """The finding ``driver-unregistered``, where Git would quietly merge memory by lines.

    Only for a clone that somebody works in: one with a worktree, whose ``.gitattributes``
    names the driver, and in which Git knows who commits. A checkout in CI has no identity,
    merges nothing, and is not told.
    """
    severity = severity_of("driver-unregistered", policy)
    if severity is None or repo.bare or repo.config_value("merge.memrepo.driver"):
        return []
    attributes = read_plain(repo.path, ".gitattributes")
    data = (attributes.data if attributes else None) or b""
    declared = _DECLARED.search(data)
    if not declared or not knows_identity(repo):
        return []
    line = data.count(b"\n", 0, declared.start()) + 1
    message = (
        "the merge driver memrepo is named here and not set up in this clone, "
        "so Git merges memory line by line and does not say so"
    )
    hint = "memrepo init --repo-path . (or memrepo doctor --fix), once in each clone"
    return [
        Finding(
            code="driver-unregistered",
            severity=severity,
            path=".gitattributes",
            line=line,
            column=1,
            message=message,
            hint=hint,
        )
    ]
