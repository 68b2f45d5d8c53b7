"""One made-up repository three times over, and the cycles that go into each.

``bare`` and ``ours`` are memrepo's, ``cli`` is for ``git add`` and ``git commit``; ``ours``
and ``cli`` have a worktree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from memrepo import MemoryRepo
from memrepo.protocol.documents import AgentState

from . import corpus, measure


class Stage:
    """Ten snapshots an agent; round ``n`` puts the same cycle into each repository."""

    def __init__(self, bench: measure.Bench, layout: str, snapshots: int) -> None:
        self.layout = layout
        self.made = corpus.Corpus(max(snapshots // 10, 2))
        name = f"{layout}-{snapshots}"
        source = bench.folder / f"{name}.git"
        self._begin = corpus.fill(source, self.made, snapshots=snapshots, layout=layout)
        self._cycles: list[AgentState] = []
        self.bare = corpus.copy(source, bench.folder / f"{name}-bare.git")
        self.ours = corpus.check_out(source, bench.folder / f"{name}-memrepo")
        self.cli = corpus.check_out(source, bench.folder / f"{name}-git")
        for repo in (self.ours, self.cli):
            measure.git(repo, "status", "--short")

    def state(self, number: int) -> tuple[AgentState, datetime]:
        """The state that a round's cycle leaves, and the cycle's time."""
        while len(self._cycles) <= number:
            when = self._begin + len(self._cycles) * corpus.STEP
            self._cycles.append(self.made.cycle(self.made.any_agent(), when))
        when = self._begin + number * corpus.STEP
        return self._cycles[number], datetime.fromtimestamp(when, UTC)

    def files(self, number: int) -> tuple[dict[str, bytes], str]:
        """The four files of a round's cycle by path, and the commit message."""
        state, at = self.state(number)
        path, data = corpus.snapshot(state, int(at.timestamp()), self.layout)
        return {**corpus.named(state), path: data}, corpus.message_for(state, path)

    def write_state(self, number: int) -> tuple[str, datetime]:
        """Write the agent's files into the worktree of ``ours``; its id and the cycle's time."""
        state, at = self.state(number)
        write(self.ours, corpus.named(state))
        return state.metadata.agent_id, at

    def on_bare(self, memory: MemoryRepo) -> measure.Way:
        """MemoryRepo.commit of a given state."""

        def prepare(number: int) -> Callable[[], object]:
            state, at = self.state(number)
            return lambda: memory.commit(state.metadata.agent_id, "answered", state=state, at=at)

        return prepare

    def with_worktree(self, memory: MemoryRepo) -> measure.Way:
        """MemoryRepo.commit of the files that lie in the worktree."""

        def prepare(number: int) -> Callable[[], object]:
            agent_id, at = self.write_state(number)
            return lambda: memory.commit(agent_id, "answered", at=at)

        return prepare

    def by_git(self, number: int) -> Callable[[], object]:
        """``git add`` and ``git commit`` of files that are there already."""
        files, message = self.files(number)
        write(self.cli, files)
        return lambda: self.add_and_commit(files, message)

    def add_and_commit(self, paths: Mapping[str, bytes], message: str) -> None:
        """What a person types."""
        measure.git(self.cli, "add", "--", *paths)
        measure.git(self.cli, "commit", "--quiet", "--message", message)

    def agree(self, *repos: Path) -> None:
        """Stop unless these hold the same files and have nothing left to commit."""
        trees = {measure.git(repo, "rev-parse", "HEAD^{tree}") for repo in repos}
        if len(trees) != 1:
            raise SystemExit("the ways that are compared made different trees")
        for repo in repos:
            left = b"" if repo == self.bare else measure.git(repo, "status", "--short")
            if left:
                raise SystemExit(f"git status is not clean in {repo.name}: {left[:200]!r}")


def write(repo: Path, files: Mapping[str, bytes]) -> None:
    """Write files of a worktree."""
    for path, data in files.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_bytes(data)
