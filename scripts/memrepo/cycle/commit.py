"""Commit one cycle of an agent: read its files, judge them, and make the commit."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import msgspec

from memrepo.cycle.plan import CyclePlan, judge_state_files, plan_cycle
from memrepo.cycle.recorded import is_recorded
from memrepo.errors import BadInput, GateRefused, NotAMemoryRepo, RemoteFailed, UsageError
from memrepo.gate.files import make, too_large
from memrepo.gate.layout import Entry, judge_agents, judge_entry
from memrepo.gate.sides import mode_on_disk, read_plain
from memrepo.gitrepo.branches import merge_head
from memrepo.gitrepo.commit import CommitRequest
from memrepo.gitrepo.remote import find_remote
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.protocol.canonical import snapshot_bytes
from memrepo.protocol.documents import STATE_FILES
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import place_of, state_path, state_paths
from memrepo.protocol.policy import POLICY_PATH, Policy
from memrepo.protocol.policyfile import parse_policy
from memrepo.rules.text import scan_plain


class Judged(msgspec.Struct, frozen=True):
    """An agent's files that may be committed, their canonical bytes, and the warnings."""

    files: dict[str, bytes]
    canonical: dict[str, bytes]
    findings: list[Finding]


def read_state(repo: Repository, agent_id: str) -> dict[str, bytes]:
    """The agent's files as they lie in the worktree. Links are not followed.

    Raises :class:`BadInput` when the agent has no folder, :class:`NotAMemoryRepo` in a
    repository without a worktree, :class:`UsageError` while a merge that changes the agent
    is not finished, :class:`GateRefused` where something else than plain files lies there.
    """
    if repo.bare:
        raise NotAMemoryRepo(
            "this repository is bare: there are no files to commit",
            "give the state itself: MemoryRepo.commit(..., state=...)",
        )
    _refuse_unfinished_merge(repo, agent_id)
    _refuse_special(repo, agent_id)
    files = {}
    for name in STATE_FILES:
        blob = read_plain(repo.path, state_path(agent_id, name))
        if blob is not None and blob.data is None:
            path = state_path(agent_id, name)
            raise _refused(agent_id, too_large(path, blob.size, Policy(), agent_id))
        if blob is not None and blob.data is not None:
            files[name] = blob.data
    if not files:
        raise BadInput(
            f"there is no agent state at state/{agent_id}/",
            f"write {', '.join(STATE_FILES)} there, then commit",
        )
    return files


def _refuse_unfinished_merge(repo: Repository, agent_id: str) -> None:
    """A cycle made now would leave the merge without what it brings; other agents may go on."""
    theirs, ours = merge_head(repo), repo.tip()
    if theirs is None or ours is None:
        return
    base = repo.merge_base(ours, theirs)
    views = [repo.view(commit) for commit in (theirs, ours, base)]
    for path in state_paths(agent_id):
        brought, here, before = (view.entry(path) for view in views)
        if brought not in (here, before):
            raise UsageError(
                f"a merge is not finished, and it changes {agent_id}",
                f"git add state/{agent_id}, then git commit; the next cycle can be committed then",
            )


def _refuse_special(repo: Repository, agent_id: str) -> None:
    modes = repo.config_true("core.filemode", default=True)
    folders = ("state", f"state/{agent_id}")
    found: list[Finding] = []
    for path in (*folders, *state_paths(agent_id)):
        mode = mode_on_disk(repo.path / path, modes)
        if path not in folders or not stat.S_ISDIR(mode):
            found += judge_entry(Entry(path, mode), place_of(path), Policy()) if mode else []
        if found and path in folders:
            break
    if found:
        raise _refused(agent_id, found)


def judge(agent_id: str, files: Mapping[str, bytes], policy: Policy) -> Judged:
    """The files with all that is said of them; raises :class:`GateRefused` on an error."""
    for name in files:
        if name not in STATE_FILES:
            raise UsageError(
                f"{name!a} is no file of an agent", f"an agent is {', '.join(STATE_FILES)}"
            )
    findings, canonical = judge_state_files(agent_id, files, policy)
    errors = [f for f in findings if f.severity == "error"]
    if errors:
        raise _refused(agent_id, findings)
    return Judged(dict(files), canonical, findings)


def _refused(agent_id: str, findings: list[Finding]) -> GateRefused:
    errors = sum(finding.severity == "error" for finding in findings)
    count = "1 error" if errors == 1 else f"{errors} errors"
    return GateRefused(
        f"{count} in the state of {agent_id}; nothing was committed",
        "put them right and commit again",
        findings,
    )


def _refuse_collision(agent_id: str, tip: TipView) -> None:
    """Raise :class:`GateRefused` for a new agent whose id only differs in case from another's."""
    state, name = tip.trees.folder(tip.root, b"state"), agent_id.encode()
    if state is None or state.get(name) is not None:
        return
    # Quick, for a run of commits that makes many agents; the listing is for the few hits.
    if b" %b\0" % name.lower() in state.body.lower():
        ids = [agent_id, *(listed.name for listed in tip.list_dir("state"))]
        found = judge_agents({i: set(STATE_FILES) for i in ids}, Policy(), only=[agent_id])
        if found:
            raise _refused(agent_id, found)


def judge_message(message: str, policy: Policy) -> None:
    """Raise :class:`GateRefused` for a commit message that holds a secret: it is kept for ever.

    Its words are not memory, so no other rule applies.
    """
    found: list[Finding] = []
    for hit in scan_plain(message, policy, path=""):
        if hit.code == "secret":
            found += make(policy, hit.code, "the message", hit.message, hit.hint)
    if any(finding.severity == "error" for finding in found):
        raise GateRefused(
            "the message holds a secret; nothing was committed", "say it without", found
        )


def refuse_push_in_vain(repo: Repository, remote: str) -> None:
    """Raise before anything is committed where no push could ever follow."""
    try:
        find_remote(repo, remote)
    except RemoteFailed as failed:
        raise RemoteFailed(f"{failed.message}; nothing was committed", failed.hint) from None
    if repo.head_ref() is None:
        raise UsageError(
            "HEAD is detached, so there is no branch to push",
            "check out a branch with git switch, or commit without --push",
        )


def _lacks_snapshot(tip: TipView, agent_id: str, judged: Judged) -> bool:
    snapshot = snapshot_bytes(*(judged.canonical[name] for name in STATE_FILES))
    return not is_recorded(tip, agent_id, snapshot)


def builder(
    agent_id: str,
    judged: Judged,
    message: str,
    when: datetime,
    *,
    layout: str,
    trailers: Sequence[str] = (),
    planned: Callable[[CyclePlan], None] | None = None,
    complete: bool = False,
) -> Callable[[TipView], CommitRequest | None]:
    """What to commit on a given tip; None when the tip holds this state already.

    With ``complete`` a state that Git merged, or a person committed, and that no snapshot
    holds gets one. ``planned`` is told the plan of each try; the last one is that of the commit.
    """

    def build(tip: TipView) -> CommitRequest | None:
        held = all(
            tip.read(state_path(agent_id, name)) == judged.files[name] for name in STATE_FILES
        )
        if held and not (complete and _lacks_snapshot(tip, agent_id, judged)):
            return None
        _refuse_collision(agent_id, tip)
        plan = plan_cycle(
            agent_id,
            judged.files,
            judged.canonical,
            message,
            when,
            layout=layout,
            exists=tip.exists,
            trailers=trailers,
        )
        if planned:
            planned(plan)
        return CommitRequest(changes=dict(plan.files), message=plan.message)

    return build


def policy_on(tip: TipView) -> Policy:
    """The policy as the tip holds it; the default one where it holds none."""
    data = tip.read(POLICY_PATH)
    return parse_policy(data)[0] if data is not None else Policy()
