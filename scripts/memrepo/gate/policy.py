"""Which policy judges: the one of the trusted side."""

from __future__ import annotations

from pathlib import Path

from memrepo.gate.sides import read_plain
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.policy import POLICY_PATH, Policy
from memrepo.protocol.policyfile import parse_policy


def policy_at(repo: Repository, commit: str | None) -> Policy:
    """The policy as it stands at ``commit``; the default one where there is none.

    What is wrong with a policy is for ``memrepo validate`` to say; here the defaults
    stand in for what cannot be read.
    """
    if commit is None:
        return Policy()
    found = repo.reader.find(f"{commit}:{POLICY_PATH}")
    if found is None or found.kind != "blob" or found.data is None:
        return Policy()
    return parse_policy(found.data)[0]


def policy_of_worktree(root: Path) -> Policy:
    """The policy file as it lies in the worktree; the default one where there is none."""
    blob = read_plain(root, POLICY_PATH)
    return parse_policy(blob.data)[0] if blob and blob.data is not None else Policy()
