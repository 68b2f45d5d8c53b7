"""A review's word that the archive holds what leaves the tree, asked of the forge itself."""

from __future__ import annotations

import msgspec

from memrepo.archive.check import check
from memrepo.archive.fetch import Shelves
from memrepo.errors import MemrepoError
from memrepo.forge.forge import Forge
from memrepo.gitrepo.repository import Repository
from memrepo.history.archived import ArchiveIndex
from memrepo.protocol.findings import Finding, in_order
from memrepo.report.verdict import Review, verdict_of
from memrepo.shards.index import members_path

CODE = "snapshot-archived"


def needs_word(review: Review) -> bool:
    """Whether a review holds snapshots that leave for the archive."""
    return any(finding.code == CODE for finding in review.findings)


def vouch(review: Review, repo: Repository, forge: Forge) -> Review:
    """The review with an error for each shard whose release is not what the record says.

    Published, and size and digest of its asset as in the index; nothing is downloaded where
    the forge gives digests. A forge that cannot be asked proves nothing, so that is an error.
    """
    if not needs_word(review):
        return review
    paths = {finding.path for finding in review.findings if finding.code == CODE}
    try:
        index = ArchiveIndex(repo.view(review.head))
        lines = [line for line in index.lines if members_path(line.tag, line.shard) in paths]
        checked = list(check(Shelves(forge), lines, index))
    except MemrepoError as error:
        wrong = dict.fromkeys(paths, f"this could not be checked: {error.message}")
    else:
        wrong = {
            members_path(one.tag, one.shard): one.problems[0] for one in checked if one.problems
        }
    findings = in_order([_judged(finding, wrong) for finding in review.findings])
    return msgspec.structs.replace(review, findings=tuple(findings), verdict=verdict_of(findings))


def _judged(finding: Finding, wrong: dict[str, str]) -> Finding:
    if finding.code != CODE or finding.path not in wrong:
        return finding
    message = f"{finding.message}, says the record, but {wrong[finding.path]}"
    return msgspec.structs.replace(finding, severity="error", message=message)
