"""What one run starts from: the tip, what is due there, and what releases hold already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from memrepo.archive.adopt import Adopted, adopt
from memrepo.archive.collect import collect, newest_of_each
from memrepo.archive.values import Tell
from memrepo.cycle.given import check_agent_id
from memrepo.errors import UsageError
from memrepo.forge.forge import Forge
from memrepo.forge.releases import Release
from memrepo.gate.policy import policy_at
from memrepo.gitrepo.blobs import promisor
from memrepo.gitrepo.branches import branch_checked_out
from memrepo.gitrepo.land import published_tip
from memrepo.gitrepo.linear import count_beyond
from memrepo.gitrepo.refs import branch_ref
from memrepo.gitrepo.repository import Repository
from memrepo.history.archived import read_index
from memrepo.history.known import no_agent
from memrepo.protocol.policy import Archive
from memrepo.report.phrases import count
from memrepo.shards.plan import plan_key, plan_shards
from memrepo.shards.table import Snapshots
from memrepo.shards.values import Archived, Plan, Shard

#: A release takes 1,000 files; what is more goes into the next run's.
MOST_SHARDS = 900


class Request(msgspec.Struct, frozen=True):
    """What is asked for.

    ``older_than`` None is the policy's age; ``before`` wins over it. ``agents`` empty is all.
    ``branch`` "" is the one checked out, ``remote`` None this repository itself. ``prefix``
    "" is the policy's.
    """

    now: datetime
    branch: str = ""
    remote: str | None = None
    older_than: timedelta | None = None
    before: datetime | None = None
    agents: tuple[str, ...] = ()
    prefix: str = ""


class Start(msgspec.Struct, frozen=True):
    """Where a run begins: a branch and what it is at ("" before the first commit).

    ``notes`` say where the branch here is ahead of the one that counts.
    """

    branch: str
    commit: str
    policy: Archive
    prefix: str
    before: datetime
    notes: tuple[str, ...] = ()


class Prepared(msgspec.Struct, frozen=True):
    """What is due at a commit, of that what is still to be published, and the rest.

    ``due`` is the plan of all that is due; ``plan`` of what no release holds yet.
    ``knows_sizes`` is False in a clone without blobs, which only knows the sizes of what is due.
    """

    start: Start
    snapshots: Snapshots
    due: Plan
    plan: Plan
    adopted: Adopted
    listed: tuple[Release, ...]
    knows_sizes: bool
    notes: tuple[str, ...]

    def held(self) -> dict[str, str]:
        """What is due and in a proven release already: path to blob id."""
        holds = self.adopted.holds()
        return {
            one.path: one.blob
            for shard in (self.due.shards if holds else ())
            for one in shard.snapshots
            if one.blob in holds.get(one.path, ())
        }


def start_of(repo: Repository, request: Request) -> Start:
    """The tip to archive from, and the policy that it holds.

    Raises UsageError when no branch is checked out and none was named.
    """
    branch = request.branch or branch_checked_out(repo)
    if branch is None:
        raise UsageError(
            "HEAD is detached, so the branch to archive from is not known",
            "name it with --branch, or check a branch out",
        )
    commit = published_tip(repo, request.remote, branch)
    if commit is None and request.remote and repo.tip() is not None:
        raise UsageError(
            f"{request.remote} has no branch {branch} to archive from",
            f"push it first (git push {request.remote} {branch}), or name another --branch",
        )
    policy = policy_at(repo, commit).archive
    age = request.older_than
    before = request.before or request.now - (age or timedelta(days=policy.older_than_days))
    ahead = here_is_ahead(repo, branch, commit) if request.remote else 0
    note = f"{ahead_of(branch, ahead, request.remote or '')}, which is what is archived"
    prefix = request.prefix or policy.tag_prefix
    return Start(branch, commit or "", policy, prefix, before, (note,) if ahead else ())


def here_is_ahead(repo: Repository, branch: str, published: str | None) -> int:
    """How many commits the branch of this clone has that its published tip does not reach."""
    here = repo.tip(branch_ref(branch))
    if here is None or published is None or here == published:
        return 0
    return count_beyond(repo, here, published)


def ahead_of(branch: str, ahead: int, remote: str) -> str:
    """``main here is 2 commits ahead of origin/main``."""
    return f"{branch} here is {count(ahead, 'commit')} ahead of {remote}/{branch}"


def prepare(
    repo: Repository, forge: Forge, request: Request, folder: Path, tell: Tell
) -> Prepared | None:
    """Look at the tip and at the forge; None where there is no commit yet.

    Raises UnknownRevision for an agent that is not there, BadInput for a damaged index.
    """
    for agent in request.agents:
        check_agent_id(agent)
    start = start_of(repo, request)
    if not start.commit:
        return None
    view = repo.view(start.commit)
    read_index(view)
    snapshots = collect(repo, start.commit, before=start.before, remote=request.remote)
    known = newest_of_each(snapshots) if request.agents else {}
    for agent in request.agents:
        if agent not in known and not view.exists(f"state/{agent}"):
            raise no_agent(repo, agent, start.commit)
    due = plan_shards(snapshots, commit=start.commit, before=start.before, agents=request.agents)
    listed = tuple(forge.list_releases())
    adopted = adopt(
        forge, listed, view, _all(due.shards), prefix=start.prefix, folder=folder, tell=tell
    )
    prepared = Prepared(
        start,
        snapshots,
        due,
        due,
        adopted,
        listed,
        promisor(repo) is None,
        (*start.notes, *adopted.notes),
    )
    if held := prepared.held():
        rest = (one for one in snapshots if held.get(one.path) != one.blob)
        plan = plan_shards(rest, commit=start.commit, before=start.before, agents=request.agents)
        prepared = msgspec.structs.replace(prepared, plan=plan)
    return _within_one_release(prepared)


def _within_one_release(prepared: Prepared) -> Prepared:
    shards = prepared.plan.shards
    if len(shards) <= MOST_SHARDS:
        return prepared
    note = f"{len(shards) - MOST_SHARDS:,} weeks are more than one release takes: run it again"
    plan = only(prepared.plan, shards[:MOST_SHARDS])
    return msgspec.structs.replace(prepared, plan=plan, notes=(*prepared.notes, note))


def only(plan: Plan, shards: Sequence[Shard]) -> Plan:
    """The plan of some of its shards."""
    return msgspec.structs.replace(plan, shards=tuple(shards), key=plan_key(shards))


def _all(shards: Iterable[Shard]) -> Iterable[Archived]:
    return (one for shard in shards for one in shard.snapshots)
