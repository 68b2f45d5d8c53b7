"""Review a change: compare its two sides by the base's policy, and give a verdict."""

from __future__ import annotations

from memrepo.gate.compare import compare
from memrepo.gate.policy import policy_at
from memrepo.gate.sides import change_between
from memrepo.gitrepo.repository import Repository
from memrepo.report.verdict import Review, verdict_of


def review_change(
    repo: Repository, base: str, head: str, names: tuple[str, str] | None = None
) -> Review:
    """Review what ``head`` changes since it left ``base``, as a pull request shows it.

    ``names`` are the words for the two in the report (the revisions themselves).
    Raises :class:`memrepo.errors.UnknownRevision` for a revision that does not exist.
    """
    base_id, head_id = repo.resolve(base), repo.resolve(head)
    change = change_between(repo, base_id, head_id)
    compared = compare(change, policy_at(repo, base_id))
    return Review(
        base=change.start,
        head=head_id,
        base_name=names[0] if names else base,
        head_name=names[1] if names else head,
        verdict=verdict_of(compared.findings),
        findings=tuple(compared.findings),
        diff=compared.diff,
    )
