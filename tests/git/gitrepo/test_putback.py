"""Files put back as one commit: through one pack, beside other writers, nothing replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archiving import blob_id
from commandline import everything
from memrepo.errors import BadInput, NeedsPerson, UsageError
from memrepo.gitrepo.putback import PutBack, put_back
from memrepo.gitrepo.repository import Repository
from repositories import GitRepo, new_repo

MakeRepo = Callable[..., GitRepo]
Files = dict[str, bytes]


def put(repo: GitRepo, files: Files, branch: str | None = None) -> PutBack:
    with Repository.open(repo.path) as git:
        ids = [blob_id(data) for data in files.values()]
        return put_back(git, iter(files.items()), "put back", branch=branch, blobs=ids)


def held(repo: GitRepo, rev: str = "HEAD") -> Files:
    paths = repo.git("ls-tree", "-r", "-z", "--name-only", rev).split("\0")[:-1]
    return {path: repo.read(path, rev) for path in paths}


FILES: Files = {
    "history/20260101-000000-a.json": b"one\n",
    "history/2026/01/02/20260102-000000-a.json": b"two\n",
    "history/2026/01/02/20260102-000001-a.json": b"one\n",
    "history/2026/01/03/20260103-000000-a.json": b"x" * 100_000,
}


def test_one_commit_adds_them_and_leaves_the_rest(memory_repo: MakeRepo) -> None:
    repo = memory_repo("ada")
    before = held(repo)
    done = put(repo, FILES)
    assert held(repo) == before | FILES
    assert (done.commit, done.ref, done.added) == (repo.head(), "refs/heads/main", len(FILES))
    assert repo.git("rev-list", "--count", "HEAD") == "2"
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    state = everything(repo)
    assert put(repo, FILES).added == 0
    assert everything(repo) == state


def test_what_is_here_already_is_not_stored_again(memory_repo: MakeRepo) -> None:
    repo = memory_repo("ada")
    put(repo, FILES)
    repo.git("rm", "-q", "-r", "history/2026")
    repo.git("commit", "-q", "-m", "out")
    packs = {path: path.stat().st_size for path in (repo.path / ".git/objects/pack").glob("*.pack")}
    put(repo, FILES, branch="back")
    (new,) = set((repo.path / ".git/objects/pack").glob("*.pack")) - packs.keys()
    kinds = repo.git("verify-pack", "-v", str(new)).split()
    assert "blob" not in kinds
    assert {path: held(repo, "back")[path] for path in FILES} == FILES


@pytest.mark.parametrize("branch", [None, "back"])
def test_a_bare_and_an_empty_repository(branch: str | None, tmp_path: Path) -> None:
    bare = new_repo(tmp_path / "bare.git", bare=True)
    done = put(bare, FILES, branch)
    assert held(bare, done.commit) == FILES
    assert bare.head(done.ref) == done.commit


def test_a_detached_head_moves_alone(memory_repo: MakeRepo) -> None:
    repo = memory_repo("ada")
    repo.git("checkout", "-q", "--detach")
    done = put(repo, FILES)
    assert (repo.head(), done.ref) == (done.commit, "HEAD")
    assert repo.head("main") == repo.head("HEAD~1")


def test_a_writer_that_was_faster_keeps_its_commit(memory_repo: MakeRepo) -> None:
    repo = memory_repo("ada")

    def slowly() -> Iterator[tuple[str, bytes]]:
        for number, file in enumerate(FILES.items()):
            yield file
            repo.write("notes.txt", f"{number}")
            repo.commit("meanwhile")

    with Repository.open(repo.path) as git:
        put_back(git, slowly(), "put back")
    assert {path: held(repo)[path] for path in FILES} == FILES
    assert held(repo)["notes.txt"] == b"3"
    assert repo.git("log", "-1", "--format=%s", "HEAD~1") == "meanwhile"
    assert repo.git("status", "--porcelain") == ""


def test_files_that_fail_half_way_leave_nothing(memory_repo: MakeRepo) -> None:
    repo = memory_repo("ada")
    before = everything(repo), sorted((repo.path / ".git/objects").rglob("*"))

    def failing() -> Iterator[tuple[str, bytes]]:
        yield "history/a.json", b"good"
        raise BadInput("the tarball is refused")

    with Repository.open(repo.path) as git, pytest.raises(BadInput, match="refused"):
        put_back(git, failing(), "put back")
    after = everything(repo), [p for p in (repo.path / ".git/objects").rglob("*") if p.is_file()]
    assert after[0] == before[0]
    assert after[1] == [p for p in after[1] if p in before[1]]


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({"state/ada/context.json": b"other"}, NeedsPerson),
        ({"state/ada": b"a file for a folder"}, NeedsPerson),
        ({"state/ada/context.json/x": b"a folder for a file"}, NeedsPerson),
        ({"../x": b""}, BadInput),
        ({".git/hooks/x": b""}, BadInput),
        ({"/x": b""}, BadInput),
    ],
)
def test_what_is_in_the_way_or_no_path_changes_nothing(
    files: Files, error: type[Exception], memory_repo: MakeRepo
) -> None:
    repo = memory_repo("ada")
    before = everything(repo)
    with pytest.raises(error):
        put(repo, {"history/new.json": b"new", **files})
    assert everything(repo) == before


@pytest.mark.parametrize(
    ("branch", "error"), [("main", UsageError), ("-x", BadInput), ("a..b", BadInput)]
)
def test_a_branch_that_cannot_be_made(
    branch: str, error: type[Exception], memory_repo: MakeRepo
) -> None:
    repo = memory_repo("ada")
    with pytest.raises(error):
        put(repo, FILES, branch)


NAMES = st.text("ab.-0", min_size=1, max_size=3).filter(lambda name: name.strip(".") != "")


@settings(max_examples=40, deadline=None)
@given(
    here=st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map(tuple), st.binary(max_size=3)),
    new=st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map(tuple), st.binary(max_size=3)),
)
def test_trees_are_those_that_git_makes(
    here: dict[tuple[str, ...], bytes],
    new: dict[tuple[str, ...], bytes],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    wanted: Files = {}
    for parts, data in (here | new).items():
        path = "/".join(parts)
        others = [*wanted]
        if not any(o.startswith(f"{path}/") or path.startswith(f"{o}/") for o in others):
            wanted[path] = data
    first = {"/".join(parts): data for parts, data in here.items()}
    first = {path: wanted[path] for path in first if path in wanted}
    repo = new_repo(tmp_path_factory.mktemp("trees") / "bare.git", bare=True)
    if first:
        put(repo, first)
    if wanted:
        put(repo, wanted)
        lines = [f"100644 {blob_id(data)}\t{path}" for path, data in sorted(wanted.items())]
        repo.git("update-index", "--index-info", text="\n".join(lines) + "\n")
        assert repo.git("rev-parse", "HEAD^{tree}") == repo.git("write-tree")
