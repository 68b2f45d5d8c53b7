"""Many commits as one: all objects in one pack, the branch moved once at the end."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from memrepo.errors import GitFailed

from .commit import REFLOG, Build, LooseSink, make_commit, take_back
from .filters import refuse_filters
from .pack import PackSink
from .paths import Applied, PathTrees, Value
from .replay import changes_of, replay
from .repository import TipView
from .worktree import Staged

if TYPE_CHECKING:
    from types import TracebackType

    from .repository import Repository

_MOST_TRIES = 20
_PATHS_AT_ONCE = 2000


def bulk(repo: Repository) -> Batch:
    """Begin a run of commits: ``with bulk(repo) as batch: batch.commit(build)``."""
    return Batch(repo)


class Batch:
    """A run of commits on HEAD that becomes visible when the ``with`` block ends well.

    An exception inside the block drops everything, and the repository is as before.
    """

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._ref = repo.head_ref() or "HEAD"
        self._start = repo.tip()
        self._made: list[str] = []
        self._before: dict[bytes, Value | None] = {}
        self._after: dict[bytes, Value | None] = {}
        self._pack: PackSink | None = None
        self._sink: PackSink | LooseSink = LooseSink(repo.writer)
        trees = repo.trees
        if not repo.config_true("commit.gpgsign"):  # Git signs only what it can already see
            self._pack = self._sink = PackSink(
                repo.common_dir / "objects", repo.object_format, repo.reader
            )
            trees = PathTrees(self._pack, repo.id_size)
        root = repo.root_of(self._start) if self._start else None
        self._view = TipView(trees, self._start, root)

    def commit(self, build: Build, *, when: int | None = None) -> str | None:
        """One commit on top of those before; its id, or None when ``build`` returns None.

        The id is final unless another writer moves the branch before the block ends; then
        :attr:`commits` has the ids that count.
        """
        request = build(self._view)
        if request is None:
            return None
        refuse_filters(self._repo, request.changes)
        draft = make_commit(self._repo, self._sink, self._view, request, when)
        self._note(draft.applied)
        self._made.append(draft.commit)
        self._view = TipView(self._view.trees, draft.commit, draft.applied.root)
        return draft.commit

    def _note(self, applied: Applied) -> None:
        for path, value in applied.after.items():
            self._before.setdefault(path, applied.before[path])
            self._after[path] = value

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits of this run, oldest first."""
        return tuple(self._made)

    def view(self) -> TipView:
        """What the commits so far hold."""
        return self._view

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None or not self._made:
            if self._pack:
                self._pack.abandon()
            return
        if self._pack:
            self._pack.finish()
        self._publish()

    def _publish(self) -> None:
        """Bring the worktree along and move the branch, on whatever tip it is by then.

        Raises NeedsPerson when another writer changed the same paths meanwhile.
        """
        repo, refs = self._repo, self._repo.refs(REFLOG)
        staged = Staged(repo) if repo.has_worktree else None
        line, start, tip = list(self._made), self._start, self._made[-1]
        try:
            for _ in range(_MOST_TRIES):
                if staged:
                    self._stage(staged)
                if refs.swap(self._ref, start, tip):
                    repo.commits_made += len(line)
                    return
                now = repo.tip(self._ref)
                if now is not None and now != start:
                    done = replay(repo, changes_of(repo, line), now, LooseSink(repo.writer))
                    start, tip, self._made = now, done.tip, list(done.made)
            raise GitFailed(
                f"the branch could not be moved in {_MOST_TRIES} tries: {refs.lost_because}",
                "another process holds its lock; if none runs, delete the .lock file that is named",
            )
        except BaseException:
            if staged and staged.paths:
                take_back(staged, repo.view(repo.tip()))
            raise

    def _stage(self, staged: Staged) -> None:
        paths = iter(self._after)
        blob = self._repo.trees.blob
        while some := list(islice(paths, _PATHS_AT_ONCE)):
            contents = {
                path: blob(value.oid) if (value := self._after[path]) else None for path in some
            }
            staged.stage(contents, self._before, self._after)
