"""Which of an agent's tools a source brought itself, told from its own earlier updates."""

from __future__ import annotations

from memrepo.gate.sides import READ_LIMIT
from memrepo.gitrepo.linear import messages_with
from memrepo.gitrepo.log import AGENT_TRAILER, trailer
from memrepo.gitrepo.repository import Repository
from memrepo.knowledge.names import REVISION_TRAILER, SOURCE_TRAILER
from memrepo.protocol.check import decode
from memrepo.protocol.documents import Tool
from memrepo.protocol.layout import state_path


def brought_by(repo: Repository, tip: str, source: str, agent_id: str) -> set[str]:
    """The names of tools that updates of ``source`` added to the agent and did not take out.

    An update is a commit of this job, by its trailers, wherever it lies in the history of
    ``tip``: on the source's branch, or replayed on the main one. What it only reworded was
    there before it, and so is another's. Where the history is cut off (a shallow clone), a
    tool of unknown origin is nobody's.
    """
    path = state_path(agent_id, "tools.json")
    mine: set[str] = set()
    updates = list(messages_with(repo, tip, f"{SOURCE_TRAILER}: {source}"))
    for commit, _, message in reversed(updates):
        said = (trailer(message, SOURCE_TRAILER), trailer(message, AGENT_TRAILER))
        if said != (source, agent_id) or not trailer(message, REVISION_TRAILER):
            continue
        if repo.reader.find(f"{commit}^", limit=0) is None:
            continue
        before, after = (_names(repo, f"{rev}:{path}") for rev in (f"{commit}^", commit))
        mine = (mine - (before - after)) | (after - before)
    return mine


def _names(repo: Repository, blob: str) -> set[str]:
    found = repo.reader.find(blob, READ_LIMIT)
    tools = decode("tools", found.data) if found is not None and found.data else None
    listed = tools if isinstance(tools, list) else []
    return {tool.name for tool in listed if isinstance(tool, Tool)}
