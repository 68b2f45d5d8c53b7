"""Real Git repositories for tests, driven by plain Git so that no test trusts memrepo to set up."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec


class GitRepo(msgspec.Struct, frozen=True):
    """A repository on disk, with or without a worktree."""

    path: Path

    def git(self, *args: str, text: str | None = None, check: bool = True) -> str:
        """What Git prints for ``args``, without the last newline. ``text`` is its input."""
        done = subprocess.run(
            ["git", *args], cwd=self.path, input=text, capture_output=True, encoding="utf-8"
        )
        if check and done.returncode != 0:
            raise AssertionError(f"git {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout.removesuffix("\n")

    def read(self, path: str, rev: str = "HEAD") -> bytes:
        """The bytes of a file as a commit has it."""
        command = ["git", "cat-file", "blob", f"{rev}:{path}"]
        return subprocess.run(command, cwd=self.path, capture_output=True, check=True).stdout

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file of the worktree exactly as given, folders included."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def write_agent(
        self,
        agent_id: str,
        *,
        turns: list[dict[str, str]] | None = None,
        tools: list[dict[str, object]] | None = None,
        version: str = "1.0.0",
        last_updated: str = "2026-03-01T12:00:00Z",
    ) -> None:
        """Write the three files of an agent, in the protocol's bytes."""
        if turns is None:
            turns = [
                {"role": "user", "content": "Hello", "timestamp": "2026-03-01T11:59:00Z"},
                {"role": "assistant", "content": "Hi!", "timestamp": "2026-03-01T12:00:00Z"},
            ]
        metadata = {"agent_id": agent_id, "version": version, "last_updated": last_updated}
        for name, value in (("context", turns), ("tools", tools or []), ("metadata", metadata)):
            data = msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
            self.write(f"state/{agent_id}/{name}.json", data)

    def commit(self, message: str = "change", *paths: str) -> str:
        """Commit all of the worktree (or just ``paths``) and answer the commit's id."""
        self.git("add", "--all", "--", *(paths or (".",)))
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head()

    def head(self, rev: str = "HEAD") -> str:
        """The commit id of a revision."""
        return self.git("rev-parse", "--verify", "--end-of-options", f"{rev}^{{commit}}")


def new_repo(path: Path, *, bare: bool = False) -> GitRepo:
    """An empty repository whose branch is called main."""
    path.mkdir(parents=True)
    repo = GitRepo(path)
    repo.git("init", "--quiet", *(["--bare"] if bare else []))
    return repo


def new_memory_repo(path: Path, *agents: str) -> GitRepo:
    """A memory repo with one commit that holds ``agents`` and an empty ``history/``."""
    repo = new_repo(path)
    repo.write("state/.gitkeep", "")
    repo.write("history/.gitkeep", "")
    for agent_id in agents:
        repo.write_agent(agent_id)
    repo.commit("begin")
    return repo
