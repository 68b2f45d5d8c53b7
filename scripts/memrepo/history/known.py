"""Which agents there are, to help whoever mistyped one."""

from __future__ import annotations

from memrepo.errors import UnknownRevision
from memrepo.gitrepo.changes import folder_names
from memrepo.gitrepo.repository import Repository

_MOST_NAMED = 8


def no_agent(repo: Repository, agent_id: str, rev: str) -> UnknownRevision:
    """The error for an agent that is not there at ``rev``, with the one that may be meant."""
    commit = repo.tip() if rev == "HEAD" else repo.resolve(rev)
    names = sorted(folder_names(repo, commit, "state/")) if commit else []
    return UnknownRevision(f"there is no agent {agent_id} at {rev}", _hint(agent_id, names))


def _hint(agent_id: str, names: list[str]) -> str:
    import difflib

    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(agent_id.casefold(), list(folded), 1)
    if near:
        return f"did you mean {folded[near[0]]}?"
    if not names:
        return "no agent is committed yet: memrepo commit makes its first cycle"
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"there is {', '.join(names[:_MOST_NAMED])}{more}"
