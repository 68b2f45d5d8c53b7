"""Replay a knowledge branch, commit by commit, onto a tip: new commits, or why not.

Each commit's own change (from its parent to it) is merged by meaning. Where one meets what
the tip says, the branch is asked as a whole, from before its first new commit to its tip:
what it said in between does not count. If the whole fits, the file goes in as the whole
merge has it, with the last commit that touches it; if not, a person must decide, once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from memrepo.gate.sides import READ_LIMIT
from memrepo.gitrepo.linear import Step, same_commits, steps_of
from memrepo.gitrepo.linemerge import line_merge
from memrepo.gitrepo.log import log_paths
from memrepo.gitrepo.paths import Value, path_text
from memrepo.gitrepo.repository import Repository
from memrepo.gitrepo.threeway import PathChange, changes_between
from memrepo.gitrepo.workshop import Workshop
from memrepo.knowledge.outcome import Disagreement, Landed, Touched
from memrepo.knowledge.touched import last_change, touched_in, touched_of
from memrepo.knowledge.treemerge import Joined, TreeMerge
from memrepo.semmerge.values import Conflict, Labels, Note, Resolution

#: So many conflicts are looked up in the history, and so many versions of a file for each.
_MOST_LOOKED_UP = 50
_MOST_VERSIONS = 50
Message = Callable[[bytes, Sequence[str]], bytes]


class Replayed(msgspec.Struct, frozen=True):
    """The new commits on ``onto``, oldest first, and their last one (``onto`` without any).

    ``done`` are the branch's commits that this covers, the empty ones too. With
    ``conflicts`` nothing was made. ``paths`` are what would change.
    """

    head: str
    steps: int = 0
    commits: tuple[Landed, ...] = ()
    done: tuple[str, ...] = ()
    empty: int = 0
    conflicts: tuple[Disagreement, ...] = ()
    notes: tuple[Note, ...] = ()
    paths: tuple[str, ...] = ()


def join_of(repo: Repository) -> Callable[[str, str, str], str | None]:
    """The merge of two trees (base, one, other; ids) by meaning; None where they disagree."""

    def join(base: str, one: str, other: str) -> str | None:
        with Workshop(repo, loose=True) as shop:
            changes = next(changes_between(repo, [(base, other)]))
            merge = TreeMerge(shop, Labels(), line_merge(repo))
            joined = merge.merge(bytes.fromhex(one), changes)
            if joined.conflicts:
                return None
            return shop.apply(bytes.fromhex(one), joined.wanted).hex()

    return join


def pending(repo: Repository, onto: str, tip: str, done: Iterable[str]) -> list[Step]:
    """The changes of ``tip`` that ``onto`` does not have; ``done`` are commits known to be in."""
    known = set(done)
    steps = [step for step in steps_of(repo, tip, onto, join_of(repo)) if step.commit not in known]
    by_hand = same_commits(repo, steps, tip, onto) if steps else set()
    return [step for step in steps if step.commit not in by_hand]


def replay(
    repo: Repository,
    steps: Sequence[Step],
    onto: str,
    labels: Labels,
    resolutions: Sequence[Resolution],
    message: Message,
) -> Replayed:
    """Make ``steps`` again on ``onto``; no ref is moved.

    ``message`` gives a new commit's message from the old one and the ids that it stands for.
    """
    with Workshop(repo) as shop:
        merge = TreeMerge(shop, labels, line_merge(repo), resolutions)
        run = _Replay(repo, shop, merge, steps, repo.root_of(onto))
        run.walk()
        if run.clashing:
            whole = run.whole()
            if whole.conflicts:
                conflicts = _named(repo, onto, run, whole.conflicts)
                paths = tuple(map(path_text, run.touched))
                return Replayed(onto, len(steps), conflicts=conflicts, paths=paths)
            run.walk(whole)
        return run.commit(onto, message)


class _Replay:
    """One branch on its way onto a tip."""

    def __init__(
        self,
        repo: Repository,
        shop: Workshop,
        merge: TreeMerge,
        steps: Sequence[Step],
        root: bytes,
    ) -> None:
        self.repo, self.shop, self.merge, self.steps, self.start = repo, shop, merge, steps, root
        self.first: dict[bytes, Value | None] = {}
        self.last: dict[bytes, Value | None] = {}
        self.seen: dict[bytes, list[int]] = {}
        self.clashing: set[bytes] = set()
        self.touched: dict[bytes, None] = {}
        self.roots: list[bytes | None] = []
        self.notes: dict[tuple[str, str, str], Note] = {}

    def walk(self, whole: Joined | None = None) -> None:
        """Merge each step onto the one before; ``whole`` says what the clashing paths become."""
        root, self.roots, self.notes = self.start, [], {}
        pairs = [(step.before, step.after) for step in self.steps]
        for number, changes in enumerate(changes_between(self.repo, pairs)):
            if whole is None:
                self.see(number, changes)
            joined = self.merge.merge(root, changes, self.clashing)
            wanted = joined.wanted
            if whole is None:
                self.clashing |= joined.clashing
            else:
                due = {p for c in changes if (p := c.path) in whole.wanted}
                wanted |= {p: whole.wanted[p] for p in due if self.seen[p][-1] == number}
            self.note(joined.notes)
            self.touched.update(dict.fromkeys((*wanted, *joined.clashing)))
            new = self.shop.apply(root, wanted) if wanted else root
            self.roots.append(new if new != root else None)
            root = new
        if whole is not None:
            self.note(whole.notes)

    def see(self, number: int, changes: Sequence[PathChange]) -> None:
        for change in changes:
            self.first.setdefault(change.path, change.before)
            self.last[change.path] = change.after
            self.seen.setdefault(change.path, []).append(number)

    def note(self, notes: Sequence[Note]) -> None:
        for note in notes:
            self.notes[note.path, note.pointer, note.kind] = note

    def whole(self) -> Joined:
        """The clashing paths merged as the branch has them in the end."""
        changes = [
            PathChange(path, self.first[path], self.last[path])
            for path in sorted(self.clashing)
            if self.first[path] != self.last[path]
        ]
        return self.merge.merge(self.start, changes)

    def commit(self, onto: str, message: Message) -> Replayed:
        """The commits of what was merged."""
        now = int(time.time())
        tip, made, waiting, empty = onto, [], [], 0
        done: list[str] = []
        for step, root in zip(self.steps, self.roots, strict=True):
            stands = [*step.stands_for, step.commit]
            done += stands
            if root is None:
                waiting += stands
                empty += 1
                continue
            text = message(step.parsed.message, [*waiting, *stands])
            tip = self.shop.commit(root, tip, step.parsed, text, now=now)
            who = touched_of(step)
            made.append(Landed(tip, step.commit, who.subject, who.author))
            waiting = []
        return Replayed(
            head=tip,
            steps=len(self.steps),
            commits=tuple(made),
            done=tuple(done),
            empty=empty,
            notes=tuple(self.notes.values()),
            paths=tuple(map(path_text, self.touched)),
        )


def _named(
    repo: Repository, onto: str, run: _Replay, conflicts: Sequence[Conflict]
) -> tuple[Disagreement, ...]:
    """The conflicts with the commits and authors of both sides."""
    found: list[Disagreement] = []
    for number, conflict in enumerate(conflicts):
        if number >= _MOST_LOOKED_UP:
            found.append(Disagreement(conflict))
            continue
        path = conflict.path
        entries = log_paths(repo, [path], onto, limit=_MOST_VERSIONS)
        ours = _versions(repo, path, [(touched_in(e), e.commit) for e in entries])
        steps = [run.steps[n] for n in run.seen[path.encode("utf-8", "surrogateescape")]]
        theirs = _versions(repo, path, [(touched_of(s), s.after) for s in reversed(steps)])
        at = conflict.pointer
        found.append(Disagreement(conflict, last_change(ours, at), last_change(theirs, at)))
    return tuple(found)


def _versions(
    repo: Repository, path: str, commits: Sequence[tuple[Touched, str]]
) -> Iterator[tuple[Touched, bytes | None]]:
    """The bytes of a file in each of these commits or trees."""
    for who, at in commits[:_MOST_VERSIONS]:
        blob = None if "\n" in path else repo.reader.find(f"{at}:{path}", READ_LIMIT)
        yield who, blob.data if blob is not None else None
