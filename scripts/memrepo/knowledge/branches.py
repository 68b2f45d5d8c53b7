"""One knowledge branch looked at from a tip: replayed, judged, and put into words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from memrepo.gate.compare import compare
from memrepo.gate.policy import policy_at
from memrepo.gate.sides import Commits
from memrepo.gitrepo.linear import Step, count_beyond, messages_with
from memrepo.gitrepo.repository import Repository
from memrepo.knowledge.names import TRAILER, replayed_in, replayed_message
from memrepo.knowledge.outcome import BranchOutcome, Result
from memrepo.knowledge.replay import pending, replay
from memrepo.knowledge.resolutions import FOLDER, read_record
from memrepo.protocol.policy import Policy
from memrepo.report.phrases import count
from memrepo.semmerge.values import Labels, Resolution

#: What no source may change, in any case of letters: what runs with the repository's rights
#: or says who reviews, what decides here, and what tells Git how to join and keep files.
_REFUSED = re.compile(
    r"\.github(/.*)?|\.memrepo(/.*)?|(.*/)?\.git(attributes|ignore|modules)",
    re.IGNORECASE | re.DOTALL,
)
_MOST_RECORD_BYTES = 1 << 20


class Ground(msgspec.Struct):
    """What branches are replayed onto: a commit called ``name``, and what is known of it.

    ``done`` are the commits of knowledge branches that it holds.
    """

    repo: Repository
    name: str
    commit: str
    done: set[str]
    resolutions: list[Resolution]
    policy: Policy
    unread: tuple[str, ...] = ()


def ground(repo: Repository, name: str, commit: str, *, trusted: str = "") -> Ground:
    """The ground at ``commit``: its marks of replayed commits and its recorded decisions.

    The policy is that of ``trusted``, a commit of the main branch (``commit`` itself).
    """
    done = {
        source
        for _, _, message in messages_with(repo, commit, f"{TRAILER}: ")
        for source in replayed_in(message)
    }
    resolutions, unread = recorded(repo, commit)
    policy = policy_at(repo, trusted or commit)
    return Ground(repo, name, commit, done, resolutions, policy, unread)


def recorded(repo: Repository, commit: str) -> tuple[list[Resolution], tuple[str, ...]]:
    """The decisions recorded at ``commit``, the oldest first, and the files that hold none."""
    view = repo.view(commit)
    listed = [entry for entry in view.list_dir(FOLDER) if entry.mode.startswith("100")]
    records, unread = [], []
    blobs = repo.reader.read_many([entry.oid for entry in listed], _MOST_RECORD_BYTES)
    for entry, blob in zip(listed, blobs, strict=True):
        record = read_record(blob.data) if blob is not None and blob.data else None
        if record is None:
            unread.append(f"{FOLDER}/{entry.name}")
        else:
            records.append(record)
    records.sort(key=lambda record: record.when)
    return [record.resolution for record in records], tuple(unread)


def look(at: Ground, branch: str, tip: str, *, judge: bool = True) -> BranchOutcome:
    """What becomes of ``branch`` (at ``tip``) on the ground; objects are made, no ref is moved.

    With ``judge``, what would land is held to the review gate by the policy of the ground.
    """
    repo = at.repo
    empty = BranchOutcome(branch, "nothing", tip, at.commit)
    if repo.merge_base(at.commit, tip) is None:
        message = f"it shares no history with {at.name}"
        return msgspec.structs.replace(empty, result="unrelated", message=message)
    steps = pending(repo, at.commit, tip, at.done)
    empty = msgspec.structs.replace(
        empty, ahead=len(steps), behind=count_beyond(repo, at.commit, tip)
    )
    if not steps:
        return empty
    return _replayed(at, empty, steps, judge=judge)


def _replayed(
    at: Ground, empty: BranchOutcome, steps: Sequence[Step], *, judge: bool
) -> BranchOutcome:
    labels = Labels(at.name, empty.branch)
    done = replay(at.repo, steps, at.commit, labels, at.resolutions, replayed_message)
    found = msgspec.structs.replace(
        empty,
        head=done.head,
        commits=done.commits,
        empty=done.empty,
        conflicts=done.conflicts,
        notes=done.notes,
    )
    refused = [path for path in done.paths if _REFUSED.fullmatch(path)]
    if refused:
        message = f"it changes {refused[0]}, which only a person may: propose that by hand"
        return _left_out(found, at, "refused", message)
    if done.conflicts:
        message = f"{count(len(done.conflicts), 'place')} where it and {at.name} disagree"
        return _left_out(found, at, "conflict", message)
    if not done.commits:
        return found
    if judge:
        compared = compare(Commits(at.repo, at.commit, done.head), at.policy)
        errors = [f for f in compared.findings if f.severity == "error"]
        found = msgspec.structs.replace(
            found, findings=tuple(compared.findings), diff=compared.diff
        )
        if errors:
            message = f"the review gate finds {count(len(errors), 'error')} in what would land"
            return _left_out(found, at, "invalid", message)
    at.done.update(done.done)
    return msgspec.structs.replace(found, result="merged")


def _left_out(found: BranchOutcome, at: Ground, result: Result, message: str) -> BranchOutcome:
    return msgspec.structs.replace(
        found, result=result, message=message, head=at.commit, commits=(), empty=0
    )


def move_on(at: Ground, outcome: BranchOutcome) -> None:
    """The ground is where a merged branch left it."""
    at.commit = outcome.head
