"""What memrepo writes, as another implementation of Git's formats reads it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import git
from memrepo import MemoryRepo
from repositories import new_memory_repo

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("bulk", [False, True])
def test_gitpython_reads_commits_trailers_and_a_clean_index(bulk: bool, tmp_path: Path) -> None:
    repo = new_memory_repo(tmp_path / "memory", "bot")
    state = {p.name: p.read_bytes() for p in (repo.path / "state/bot").iterdir()}
    state["context.json"] = b"[]\n"
    with MemoryRepo(repo.path) as memory:
        if bulk:
            with memory.bulk() as batch:
                batch.commit("bot", "forgot it all", state=state, at=AT)
        else:
            for name, data in state.items():
                repo.write(f"state/bot/{name}", data)
            memory.commit("bot", "forgot it all", at=AT)
    with git.Repo(repo.path) as reader:
        head = reader.head.commit
        snapshot = "history/20260301-120000-bot.json"
        assert head.summary == "bot: forgot it all"
        assert head.trailers_dict == {"Agent-Id": ["bot"], "Snapshot": [snapshot]}
        assert head.authored_datetime == AT
        assert (head.tree / "state/bot/context.json").data_stream.read() == b"[]\n"
        changed = {change.b_path or change.a_path for change in head.parents[0].diff(head)}
        assert changed == {snapshot, "state/bot/context.json"}
        assert not reader.is_dirty(untracked_files=True)
        index = {path for path, _ in reader.index.entries}
        assert snapshot in index
        mode = head.tree[snapshot].mode
        assert mode == 0o100644
