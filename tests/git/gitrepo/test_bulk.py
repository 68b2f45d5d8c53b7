"""Many commits in one pack, as sound as if Git had made them."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memrepo.errors import NeedsPerson
from memrepo.gitrepo.bulk import Batch, bulk
from memrepo.gitrepo.commit import CommitRequest, commit
from memrepo.gitrepo.delta import delta_of, patched
from memrepo.gitrepo.repository import Repository
from memrepo.gitrepo.trees import Splice
from repositories import GitRepo, new_repo

START = 1_772_366_400


def cycles(batch: Batch, count: int, agents: int, *, first: int = 0) -> None:
    chance = random.Random(first)  # noqa: S311 (the same choices in each run)
    for number in range(first, first + count):
        agent = f"agent-{chance.randrange(agents):03}"
        text = f"{agent} {number}\n".encode()
        changes: dict[str, bytes | None] = {
            f"state/{agent}/context.json": text,
            f"history/20260301-{number:06}-{agent}.json": text,
        }
        if number % 50 == 49:
            changes[f"state/agent-{chance.randrange(agents):03}/old.json"] = None
        done = batch.commit(
            lambda _, c=changes, n=number: CommitRequest(c, f"{n}\n", when=START + n, offset=0)  # type: ignore[misc]
        )
        assert done
        view = batch.view()
        assert view.read(f"state/{agent}/context.json") == text


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_a_thousand_cycles(algorithm: str, tmp_path: Path) -> None:
    repos = {name: GitRepo(tmp_path / name) for name in ("bulk", "single")}
    for made in repos.values():
        command = ["git", "init", "-q", f"--object-format={algorithm}", str(made.path)]
        subprocess.run(command, check=True)
        made.write("state/agent-001/old.json", "x")
        made.git("add", ".")
        made.git("commit", "-q", "-m", "begin", f"--date=@{START} +0000")
        made.git("config", "memrepo.x", "y")
    made = repos["bulk"]
    with Repository.open(made.path) as repo:
        with bulk(repo) as batch:
            cycles(batch, 700, 60)
        assert batch.commits[-1] == made.head()
        assert len(batch.commits) == 700
        assert repo.notes == []
        cycles_after = repo.view(repo.tip()).list_dir("history")
        assert len(cycles_after) == 700
    assert made.git("status", "--porcelain") == ""
    assert len(list((made.path / ".git/objects/pack").glob("*.pack"))) == 1
    assert len(made.git("rev-list", "HEAD").splitlines()) == 701
    made.git("fsck", "--strict", "--no-dangling")
    index = next((made.path / ".git/objects/pack").glob("*.idx"))
    report = made.git("verify-pack", "-v", str(index))
    chains = [int(line.split()[3][:-1]) for line in report.splitlines() if "chain length" in line]
    assert max(chains) <= 12
    size = sum(file.stat().st_size for file in (made.path / ".git/objects/pack").iterdir())
    assert size < 700 * 1500
    made.git("repack", "-adfq")
    made.git("fsck", "--strict")
    with Repository.open(repos["single"].path) as repo:

        class Single:
            def commit(self, build: Callable[..., CommitRequest]) -> str | None:
                return commit(repo, build)

            def view(self) -> object:
                return repo.view(repo.tip())

        cycles(Single(), 60, 60)  # type: ignore[arg-type]
    tree = repos["single"].git("rev-parse", "HEAD^{tree}")
    assert made.git("rev-parse", "HEAD~640^{tree}") == tree


def test_an_exception_leaves_nothing(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo("a1")
    before, files = made.head(), sorted((made.path / ".git/objects").rglob("*"))

    def fail(repo: Repository) -> None:
        with repo.bulk() as batch:
            cycles(batch, 5, 2)
            raise ZeroDivisionError

    with Repository.open(made.path) as repo:
        with pytest.raises(ZeroDivisionError):
            fail(repo)
        with repo.bulk() as batch:
            assert batch.commit(lambda _: None) is None
    assert made.head() == before
    assert sorted((made.path / ".git/objects").rglob("*")) == files
    assert made.git("status", "--porcelain") == ""


def test_on_a_bare_and_empty_repository(tmp_path: Path) -> None:
    made = new_repo(tmp_path / "bare.git", bare=True)
    with Repository.open(made.path) as repo, repo.bulk() as batch:
        cycles(batch, 20, 3)
    assert len(made.git("rev-list", "main").splitlines()) == 20
    made.git("fsck", "--strict")


def test_another_writer_in_between(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo("a1")
    with Repository.open(made.path) as repo:
        with repo.bulk() as batch:
            cycles(batch, 10, 2)
            made.write("state/other/context.json", "[]\n")
            other = made.commit("between", "state/other")
        assert made.head(f"HEAD~{len(batch.commits)}") == other
        assert batch.commits[-1] == made.head()
    assert made.read("state/other/context.json") == b"[]\n"
    assert made.git("status", "--porcelain") == ""
    made.git("fsck", "--strict", "--no-dangling")


def test_another_writer_of_the_same_agent(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo("a1")

    def write_both(repo: Repository) -> None:
        with repo.bulk() as batch:
            batch.commit(lambda _: CommitRequest({"state/a1/context.json": b"mine"}, "mine"))
            made.write("state/a1/tools.json", "theirs")
            made.commit("theirs", "state/a1/tools.json")

    with Repository.open(made.path) as repo, pytest.raises(NeedsPerson, match="a1"):
        write_both(repo)
    assert made.git("log", "-1", "--format=%s") == "theirs"
    assert made.read("state/a1/context.json") != b"mine"


def test_deltas_say_what_the_edits_did() -> None:
    chance = random.Random(5)  # noqa: S311
    for _ in range(200):
        base = chance.randbytes(chance.randrange(1, 70_000))
        body, steps = base, []
        for _ in range(chance.randrange(1, 6)):
            edits = []
            for _ in range(chance.randrange(1, 4)):
                start = chance.randrange(len(body) + 1)
                removed = chance.randrange(min(40, len(body) - start) + 1)
                edits.append(Splice(start, removed, chance.randbytes(chance.randrange(300))))
                body = body[:start] + edits[-1].inserted + body[start + removed :]
            steps.append(edits)
        assert patched(base, delta_of(len(base), len(body), steps)) == body
