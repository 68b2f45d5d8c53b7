"""Record what a person decided about one place, as a file that later merges use."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from memrepo.cycle.commit import judge_message
from memrepo.errors import NeedsPerson, RemoteFailed, UsageError
from memrepo.forge.forge import Forge
from memrepo.gate.files import judge_plain
from memrepo.gitrepo.branches import commit_onto
from memrepo.gitrepo.commit import Build, CommitRequest
from memrepo.gitrepo.identity import identity
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.published import Published, tries
from memrepo.gitrepo.repository import TipView
from memrepo.knowledge.branches import Ground, ground
from memrepo.knowledge.merge import chosen, moved, run_through, tip_of
from memrepo.knowledge.names import branch_of, quoted
from memrepo.knowledge.outcome import BranchOutcome, Disagreement
from memrepo.knowledge.place import Place, brought_on, find_place, put
from memrepo.knowledge.resolutions import (
    Record,
    read_record,
    record_bytes,
    record_of,
    record_path,
)
from memrepo.memory import MemoryRepo
from memrepo.semmerge.jsonvalue import same
from memrepo.semmerge.values import ABSENT, Take

_MOST_TRIES = 20
_MOST_SECONDS = 300.0
_MOST_LISTED = 5
_WORDS: dict[Take, str] = {
    "ours": "what {into} says",
    "theirs": "what {branch} says",
    "base": "what was before both",
    "value": "a value of its own",
}


class Choice(msgspec.Struct, frozen=True):
    """What a person takes at one place; ``value`` counts for take "value".

    ``branch`` "" is whichever branch has the conflict. ``by`` is who decides ("" is Git's
    own identity here).
    """

    path: str
    pointer: str
    take: Take
    value: Any = None
    branch: str = ""
    reason: str = ""
    by: str = ""


class Resolved(msgspec.Struct, frozen=True):
    """Where decisions are recorded: the files, the branch and commit that hold them.

    ``already`` says that all of it was there before, so that no commit was made. ``notes`` are
    what a person should know of this clone.
    """

    paths: tuple[str, ...]
    branch: str
    commit: str
    number: int = 0
    url: str = ""
    already: bool = False
    notes: tuple[str, ...] = ()


def parse_take(text: str) -> tuple[Take, Any]:
    """What ``--take`` names: ``ours``, ``theirs``, ``base`` or ``value:JSON``."""
    if text in ("ours", "theirs", "base"):
        return text, None  # type: ignore[return-value]
    if text.startswith("value:"):
        from memrepo.knowledge.document import read_json_value

        return "value", read_json_value(text.removeprefix("value:"), "--take value:")
    raise UsageError(f"--take {text[:60]!a} is no choice", "ours, theirs, base or value:JSON")


def resolve(
    repo: MemoryRepo,
    choice: Choice,
    *,
    into: str = "main",
    mode: Literal["push", "pr"] = "push",
    remote: str | None = None,
    forge: Forge | None = None,
    now: datetime | None = None,
    dry_run: bool = False,
) -> Resolved:
    """Record ``choice`` on ``into``, or on the job's pull request for it (mode "pr").

    The conflict must be open now: what is decided is its three values as they are. The same
    decision a second time makes no commit. Raises UsageError where there is no conflict at
    that place, and says which there are.
    """
    if mode == "pr" and forge is None:
        raise UsageError("a pull request needs a forge", "name one with --forge")
    git = repo.repository
    shelf = Published(git, remote)
    when = now or datetime.now(UTC)
    for _ in tries(_MOST_TRIES, _MOST_SECONDS):
        main = tip_of(shelf, into)
        place = find_place(shelf, forge, into, main, when) if forge and mode == "pr" else None
        start = _start(shelf, place, into, main)
        at = ground(git, into, start, trusted=main)
        tips = chosen(shelf, (), at.policy.knowledge.order)
        found = _find(at, choice, tips)
        branch = place.branch if place else into
        held = git.view(start)
        request = _record(repo, choice, found, into, when, held)
        if all(held.read(path) == data for path, data in request.changes.items()):
            known = Resolved(tuple(request.changes), into, start, already=True)
            if place is None or place.tip is None:
                return known
            known = msgspec.structs.replace(known, branch=branch, commit=place.tip)
            return known if dry_run else _opened(forge, place, into, known)
        if choice.take == "value":
            _try_value(ground(git, into, start, trusted=main), choice, request, tips)
        commit = commit_onto(git, start, _always(request))
        if commit is None or dry_run:
            return Resolved(tuple(request.changes), branch, start)
        done = Resolved(tuple(request.changes), branch, commit)
        if place is None and moved(shelf, into, main, commit, did="recorded"):
            return msgspec.structs.replace(done, notes=tuple(git.notes))
        if place is not None and put(shelf, place, commit):
            return _opened(forge, place, into, done)
    raise RemoteFailed(
        f"{plain(into)} was moved by others at every one of {_MOST_TRIES} tries",
        "nothing was recorded; run it again in a while",
    )


def _start(shelf: Published, place: Place | None, into: str, main: str) -> str:
    if place is None:
        return main
    brought = brought_on(shelf, place, into, main)
    if brought.conflicts:
        raise NeedsPerson(
            f"{plain(place.branch)} no longer fits {plain(into)}, so nothing can go on it",
            "bring that branch up to date by hand first",
        )
    return brought.head


def _find(
    at: Ground, choice: Choice, tips: dict[str, str]
) -> list[tuple[BranchOutcome, Disagreement]]:
    """The open conflicts that ``choice`` is about: one, or several that it settles alike."""
    if choice.branch and branch_of(choice.branch) not in tips:
        raise UsageError(f"there is no branch {plain(branch_of(choice.branch))}")
    # What was decided there before does not stand in the way of another mind.
    at.resolutions = [
        r for r in at.resolutions if (r.path, r.pointer) != (choice.path, choice.pointer)
    ]
    outcomes = run_through(at, tips)
    open_ones = [(outcome, one) for outcome in outcomes for one in outcome.conflicts]
    found = [
        (outcome, one)
        for outcome, one in open_ones
        if (one.conflict.path, one.conflict.pointer) == (choice.path, choice.pointer)
        and (not choice.branch or outcome.branch == branch_of(choice.branch))
    ]
    if not found:
        raise _nothing_there(choice, open_ones)
    if found[0][1].conflict.kind == "file-folder":
        raise UsageError(
            f"{plain(choice.path)} is a file on one side and a folder on the other",
            "no decision can hold both: move one of them on its branch",
        )
    if len(found) > 1 and choice.take == "theirs":
        names = ", ".join(plain(outcome.branch) for outcome, _ in found)
        raise UsageError(f"{names} all have a conflict there", "say which with --branch")
    return found


def _nothing_there(
    choice: Choice, open_ones: list[tuple[BranchOutcome, Disagreement]]
) -> UsageError:
    """What to say where no place is open that ``choice`` could be about."""
    places: dict[tuple[str, str], list[str]] = {}
    for outcome, one in open_ones:
        places.setdefault((one.conflict.path, one.conflict.pointer), []).append(outcome.branch)
    listed = [
        f"{plain(path)}#{plain(pointer)} ({', '.join(map(plain, dict.fromkeys(branches)))})"
        for (path, pointer), branches in places.items()
    ]
    more = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
    hint = f"open are: {', '.join(listed[:_MOST_LISTED]) or 'none'}{more}"
    near = f"/{choice.pointer.strip('/')}"
    if (choice.path, near) in places and near != choice.pointer:
        hint = f"did you mean {plain(near)}? {hint}"
    where = f"{plain(choice.path)}#{plain(choice.pointer)}"
    return UsageError(f"there is no conflict at {where}", hint)


def _try_value(at: Ground, choice: Choice, request: CommitRequest, tips: dict[str, str]) -> None:
    """Raises UsageError where no file can hold the value that a person gave."""
    records = map(read_record, filter(None, request.changes.values()))
    at.resolutions += [record.resolution for record in records if record]
    for outcome in run_through(at, tips):
        for one in outcome.conflicts:
            met = one.conflict
            refused = met.kind == "invalid-result" and met.ours is met.theirs is ABSENT
            if met.path == choice.path and refused:
                raise UsageError(
                    f"that value cannot stand at {plain(met.path)}#{plain(choice.pointer)}:"
                    f" {met.message}",
                    "nothing was recorded; give one of the kind that the sides have there",
                )


def _record(
    repo: MemoryRepo,
    choice: Choice,
    found: list[tuple[BranchOutcome, Disagreement]],
    into: str,
    when: datetime,
    held: TipView,
) -> CommitRequest:
    """The commit that records the decision; what is recorded already stays as it is."""
    who = identity(repo.repository, "author")
    by = choice.by or f"{who.name} <{who.email}>"
    files: dict[str, bytes | None] = {}
    for outcome, one in found:
        record: Record = record_of(
            one.conflict,
            choice.take,
            choice.value,
            branch=outcome.branch,
            by=by,
            when=when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            reason=choice.reason,
        )
        path = record_path(record.resolution)
        before = held.read(path)
        if before and _says_the_same(read_record(before), record):
            files[path] = before
            continue
        files[path] = record_bytes(record, one.conflict)
        refused = judge_plain(path, files[path] or b"", repo.policy())
        if any(finding.severity == "error" for finding in refused):
            from memrepo.errors import GateRefused

            raise GateRefused("the decision was not recorded", refused[0].hint, refused)
    words = _WORDS[choice.take].format(into=into, branch=found[0][0].branch)
    place = json.dumps(f"{choice.path}#{choice.pointer}", ensure_ascii=False)[1:-1]
    lines = [f"knowledge: take {words} at {place}"]
    if choice.reason.strip():
        lines.append(quoted(choice.reason.strip()))
    lines.append(f"Decided-By: {' '.join(by.split())}")
    message = "\n\n".join(lines)
    judge_message(message, repo.policy())
    return CommitRequest(files, message)


def _says_the_same(known: Record | None, new: Record) -> bool:
    """Whether what is recorded is this decision, for this reason where one is given."""
    if known is None or (known.branch, known.resolution.take) != (new.branch, new.resolution.take):
        return False
    alike = same(known.resolution.value, new.resolution.value)
    return alike and new.reason in ("", known.reason)


def _always(request: CommitRequest) -> Build:
    return lambda _: request


def _opened(forge: Forge | None, place: Place, into: str, done: Resolved) -> Resolved:
    if forge is None:
        return done
    pull = place.pull
    if pull is None:
        pull = forge.open_pull_request(
            title="Knowledge: decisions",
            body="The next run of the knowledge merge describes what is here.",
            head_ref=place.branch,
            base_ref=into,
        ).pull_request
    return msgspec.structs.replace(done, number=pull.number, url=pull.url)
