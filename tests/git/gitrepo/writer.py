"""A writer as a process of its own: ``writer.py PATH AGENT COUNT [push|die]``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from unittest import mock

from memrepo.gitrepo import refs
from memrepo.gitrepo.commit import CommitRequest, commit
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.gitrepo.sync import push


def main(path: str, agent: str, count: str, then: str = "") -> None:
    with Repository.open(Path(path)) as repo:
        for number in range(int(count)):
            text = f"{agent} {number}\n".encode()

            def build(
                tip: TipView, number: int = number, text: bytes = text
            ) -> CommitRequest | None:
                snapshot = f"history/20260301-1200{number:02}-{agent}.json"
                assert not tip.exists(snapshot)
                changes = {f"state/{agent}/context.json": text, snapshot: text}
                return CommitRequest(
                    changes, f"{agent}: {number}\n\nAgent-Id: {agent}\nSnapshot: {snapshot}\n"
                )

            if repo.has_worktree:
                file = repo.path / "state" / agent / "context.json"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text)
            if then == "die" and number == 2:
                mock.patch.object(refs.RefWriter, "swap", _die).start()
            assert commit(repo, build)
            if then == "push":
                push(repo, "main")
        assert repo.notes == [], repo.notes


def _die(*_: object) -> bool:
    os.kill(os.getpid(), signal.SIGKILL)
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
