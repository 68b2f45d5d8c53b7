"""Agents commit and push all the time while the archive runs: nothing is lost, the job ends."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from archiving import FIRST, Place, archive, blobs, due, forge_at, in_releases, request
from memrepo.archive.run import run_archive
from memrepo.errors import RemoteFailed
from memrepo.gitrepo.repository import Repository
from repositories import GitRepo

#: An agent that commits and pushes until the file named last is there, then says how often.
AGENT = """
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from memrepo import MemoryRepo

agent, clone, stop = sys.argv[1], sys.argv[2], Path(sys.argv[3])
done, start = 0, datetime(2026, 7, 1, tzinfo=UTC)

def text(value):
    return (json.dumps(value, indent=2) + "\\n").encode()

with MemoryRepo(clone) as repo:
    while not stop.exists():
        at = start + timedelta(seconds=done)
        turn = {"role": "user", "content": f"turn {done}", "timestamp": at.isoformat()}
        metadata = {"agent_id": agent, "version": f"1.0.{done}", "last_updated": at.isoformat()}
        state = {"context.json": text([turn]), "metadata.json": text(metadata)}
        state["tools.json"] = text([])
        repo.commit(agent, f"turn {done}", state=state, at=at, push=True)
        done += 1
print(done)
"""


def test_writers_that_never_rest(tmp_path: Path) -> None:
    place = Place(tmp_path)
    before = blobs(place.remote)
    stop = tmp_path / "stop"
    agents = {}
    for name in ("cleo", "dan"):
        place.remote.git("clone", "--quiet", ".", str(tmp_path / name))
        command = [sys.executable, "-c", AGENT, name, str(tmp_path / name), str(stop)]
        agents[name] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        for week in range(1, 9):
            moved = archive(place.work, place.forge, before=FIRST + timedelta(weeks=week))
            assert moved.archived == 2
    finally:
        stop.touch()
        said = {name: agent.communicate()[0] for name, agent in agents.items()}
    assert all(agent.returncode == 0 for agent in agents.values())
    written = {name: int(text) for name, text in said.items()}
    assert min(written.values()) > 0
    after = blobs(place.remote)
    released = in_releases(place.forge)
    assert released == due(before)
    assert not due(after)
    for name, count in written.items():
        assert sum(path.endswith(f"-{name}.json") for path in after) == count
    # The first of the archive's commits were not the last: the agents' went in between.
    log = place.remote.git("log", "--format=%s", "main").splitlines()
    assert sum(line.startswith("memrepo: archive") for line in log) == 8
    assert len(place.forge.list_releases()) == 8


def test_main_moves_at_each_of_the_first_pushes(tmp_path: Path) -> None:
    """A writer's push lands between the fetch and the push of the archive, three times."""
    place = Place(tmp_path)
    place.remote.git("clone", "--quiet", ".", str(tmp_path / "rival"))
    rival = GitRepo(tmp_path / "rival")
    hook = place.work.path / ".git/hooks/pre-push"
    hook.write_text(
        "#!/bin/sh\n"
        f'n=$(cat "{tmp_path}/count" 2>/dev/null || echo 0)\n'
        '[ "$n" -ge 3 ] && exit 0\n'
        f'echo $((n + 1)) > "{tmp_path}/count"\n'
        f'unset GIT_DIR; cd "{rival.path}" && git pull -q && echo "$n" > "rival-$n.txt" &&\n'
        'git add . && git commit -q -m "rival $n" && git push -q\n'
    )
    hook.chmod(0o755)
    done = archive(place.work, place.forge)
    assert (done.state, done.archived) == ("pruned", 16)
    files = place.remote.git("ls-tree", "--name-only", "main").splitlines()
    assert {"rival-0.txt", "rival-1.txt", "rival-2.txt"} <= set(files)
    assert place.work.head() == place.remote.head("main")


def test_another_run_makes_the_same_release_public_first(tmp_path: Path) -> None:
    place = Place(tmp_path)
    before = blobs(place.remote)
    place.remote.git("clone", "--quiet", ".", str(tmp_path / "rival"))
    rival: list[str] = []

    def tell(what: str, done: int, _total: int) -> None:
        if (what, done) == ("uploaded", 1) and not rival:
            forge = forge_at(tmp_path / "forge", place.remote)
            rival.append(archive(GitRepo(tmp_path / "rival"), forge).pruned_commit)

    with Repository.open(place.work.path) as git:
        done = run_archive(git, place.forge, request(), "push", tell)
    assert rival == [place.remote.head("main")]
    assert (done.release_tag, len(place.forge.list_releases())) == ("history-2026-W30", 1)
    assert in_releases(place.forge) == due(before)
    assert not due(blobs(place.remote))


def test_another_run_clears_the_draft_away(tmp_path: Path) -> None:
    place = Place(tmp_path)
    before = blobs(place.remote)
    place.remote.git("clone", "--quiet", ".", str(tmp_path / "rival"))

    def tell(what: str, done: int, _total: int) -> None:
        if (what, done) == ("uploaded", 1):
            forge = forge_at(tmp_path / "forge", place.remote)
            archive(GitRepo(tmp_path / "rival"), forge, agents=("ada",))

    with (
        Repository.open(place.work.path) as git,
        pytest.raises(RemoteFailed, match="another run changed the release") as caught,
    ):
        run_archive(git, place.forge, request(), "push", tell)
    assert "run it again" in caught.value.hint
    archive(place.work, place.forge)
    assert in_releases(place.forge) == due(before)
    assert [release.draft for release in place.forge.list_releases()] == [False, False]
