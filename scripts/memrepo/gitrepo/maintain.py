"""Packing a repository and dropping what nothing needs, by Git's own commands, one at a time.

Nothing here moves a ref or shortens a reflog. Loose objects are packed by reachability, so
that what is not reachable stays loose and keeps its age; only that can ever be pruned.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import NeedsPerson, PermissionDenied

from .blobs import promisor
from .objects import write_failure
from .process import plain, run_git

if TYPE_CHECKING:
    from .repository import Repository

#: What is younger is never pruned: Git's own rule (``gc.pruneExpire``), which covers a writer
#: that has stored its objects and not yet moved its ref.
PRUNE_AFTER = "2.weeks.ago"
#: A temporary file that is younger belongs to a writer that may still run.
_WRITING_SECONDS = 3600.0
_LOCK = "maintenance.lock"
_OURS = b"memrepo maintain\n"
#: So many ids go onto one command line at most.
_MOST_KEPT = 2000
_NO_AUTO = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"]


class Store(msgspec.Struct, frozen=True):
    """How a repository keeps its objects.

    ``loose`` and ``packs`` are numbers, ``loose_bytes`` and ``pack_bytes`` sizes on disk;
    ``graph_bytes`` is the size of the commit-graph, 0 without one, and ``filters`` whether
    it holds changed paths.
    """

    loose: int
    loose_bytes: int
    packs: int
    pack_bytes: int
    graph_bytes: int
    filters: bool

    @property
    def bytes(self) -> int:
        """All of it."""
        return self.loose_bytes + self.pack_bytes + self.graph_bytes


def look_at_store(repo: Repository) -> Store:
    """How the repository keeps its objects now."""
    out = run_git(["count-objects", "-v"], cwd=repo.path).out.decode("ascii", "replace")
    pairs = (line.partition(": ") for line in out.splitlines())
    found = {key: int(value) for key, _, value in pairs if value.isdigit()}
    graphs = list(_graph_files(repo))
    return Store(
        loose=found.get("count", 0),
        loose_bytes=found.get("size", 0) << 10,
        packs=found.get("packs", 0),
        pack_bytes=found.get("size-pack", 0) << 10,
        graph_bytes=sum(path.stat().st_size for path in graphs),
        filters=bool(graphs) and all(map(_has_filters, graphs)),
    )


def _graph_files(repo: Repository) -> Iterator[Path]:
    info = repo.common_dir / "objects" / "info"
    yield from (path for path in [info / "commit-graph"] if path.is_file())
    yield from sorted((info / "commit-graphs").glob("graph-*.graph"))


def _has_filters(path: Path) -> bool:
    """Whether a commit-graph file has the chunk of Bloom filters (gitformat-commit-graph)."""
    with path.open("rb") as file:
        head = file.read(8)
        chunks = file.read(12 * head[6]) if len(head) == 8 else b""
    return b"BDAT" in {chunks[at : at + 4] for at in range(0, len(chunks), 12)}


@contextmanager
def maintaining(repo: Repository) -> Iterator[None]:
    """Hold the lock that ``git maintenance`` takes too, so that one of the two runs at a time.

    A lock that a killed run of memrepo left is taken over. Raises NeedsPerson when another
    run holds it, PermissionDenied or GitFailed when it cannot be taken.
    """
    path = repo.common_dir / "objects" / _LOCK
    descriptor = _take(path)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _take(path: Path) -> int:
    for _ in range(2):
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            if not _abandoned(path):
                break
            path.unlink(missing_ok=True)
            continue
        except OSError as error:
            raise write_failure(error, str(path)) from None
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, _OURS)
        return descriptor
    raise NeedsPerson(
        f"another maintenance of this repository holds {plain(str(path))}",
        "wait for it to end; if none runs, delete that file",
    )


def _abandoned(path: Path) -> bool:
    """Whether a lock is one of ours whose process is gone; Git's own are not for us to judge."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return file.read(64) == _OURS
    except OSError:
        return False


def pack_loose(repo: Repository) -> None:
    """Put the loose objects that something reaches into one new pack; the others stay loose."""
    _git(repo, ["repack", "-d", "-l", "-q"])


def join_packs(repo: Repository) -> None:
    """Make one pack of the small ones, so that each pack left is twice as large as the smaller.

    No object goes: the new pack is there before an old one is removed, and Git removes only
    packs whose every object lies in another. A partial clone's packs are left alone, since
    what was fetched on demand has to stay marked as such.
    """
    small = packs_to_join(_plain_packs(repo))
    if not small or promisor(repo):
        return
    folder = repo.common_dir / "objects" / "pack"
    asked = ["pack-objects", "--stdin-packs", "-q", str(folder / "pack")]
    names = "".join(f"{name}\n" for name in small).encode()
    made = _git(repo, asked, names).decode("ascii").strip()
    _git(repo, ["multi-pack-index", "write", f"--preferred-pack=pack-{made}.pack"])
    _git(repo, ["multi-pack-index", "expire"])


def packs_to_join(sizes: Mapping[str, int]) -> list[str]:
    """The packs to make one of, by name, for packs of these sizes in bytes; [] for none.

    The rule of ``git repack --geometric=2``, by bytes.
    """
    order = sorted(sizes, key=lambda name: (sizes[name], name))
    total, split = 0, 0
    for place, name in enumerate(order):
        if place and sizes[name] < 2 * total:
            split = place + 1
        total += sizes[name]
    return order[:split]


def _plain_packs(repo: Repository) -> dict[str, int]:
    """The packs that are nobody's to keep apart, with their sizes in bytes."""
    folder = repo.common_dir / "objects" / "pack"
    apart = (".keep", ".promisor", ".mtimes")
    return {
        path.name: path.stat().st_size
        for path in folder.glob("pack-*.pack")
        if path.with_suffix(".idx").exists()
        and not any(path.with_suffix(suffix).exists() for suffix in apart)
    }


def write_graph(repo: Repository) -> None:
    """A commit-graph of everything that refs reach, with the paths that each commit changed.

    Filters that are there are kept, so that a second run costs what is new. A shallow clone
    gets none (Git does not keep one there), a clone without trees one without paths, which
    would have to be fetched one by one.
    """
    paths = [] if _lacks_trees(repo) else ["--changed-paths"]
    _git(repo, ["commit-graph", "write", "--reachable", *paths, "--no-progress"])


def _lacks_trees(repo: Repository) -> bool:
    filters = (
        value
        for key, values in repo.config().items()
        if key.startswith("remote.") and key.endswith(".partialclonefilter")
        for value in values
    )
    return any("tree:" in value for value in filters)


def writers_at_work(repo: Repository) -> str:
    """The sign of another writer in this repository right now; "" where there is none.

    A lock on a ref or an index, or a young temporary object.
    """
    now = time.time()
    for path in _signs(repo):
        with suppress(OSError):
            if path.name.endswith(".lock") or now - path.stat().st_mtime < _WRITING_SECONDS:
                return path.relative_to(repo.common_dir).as_posix()
    return ""


def _signs(repo: Repository) -> Iterator[Path]:
    common = repo.common_dir
    yield from common.glob("*.lock")
    yield from common.glob("worktrees/*/*.lock")
    yield from common.glob("refs/**/*.lock")
    yield from common.glob("objects/pack/tmp_*")
    yield from common.glob("objects/pack/.tmp-*")
    yield from common.glob("objects/??/tmp_obj_*")


def prunable(repo: Repository, kept: tuple[str, ...] = ()) -> dict[str, str]:
    """The loose objects that nothing reaches and that are old, each with its kind.

    Reached is what refs, reflogs, an index or a HEAD of any worktree reach, and what younger
    objects do (git-prune). ``kept`` are commits that count as reached.
    """
    out = _git(repo, ["prune", "--dry-run", f"--expire={PRUNE_AFTER}", *_heads(kept)])
    lines = (line.split(" ") for line in out.decode("ascii", "replace").splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2 and len(line[0]) in (40, 64)}


def commits_worth_keeping(repo: Repository, doomed: dict[str, str]) -> tuple[str, ...]:
    """Those of the ``doomed`` commits that hold a file which would go with them.

    A draft that lost a race was made again, with the same files; what a person dropped
    (a stash, commits nobody pushed) may be the only place where something is written.
    """
    commits = [oid for oid, kind in doomed.items() if kind == "commit"]
    if not commits:
        return ()
    args = ["diff-tree", "--stdin", "-r", "-m", "--root", "-z", "--raw", "--no-abbrev"]
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    kept: dict[str, None] = {}
    commit = ""
    fields = iter(run_git([*args, "--no-renames"], cwd=repo.path, input=asked).out.split(b"\0"))
    for field in fields:
        if not field.startswith(b":"):
            commit = field.decode("ascii", "replace").strip()
            continue
        next(fields)  # the path
        if doomed.get(field.split(b" ")[3].decode("ascii")) == "blob":
            kept[commit] = None
    return tuple(kept)


def prune(repo: Repository, kept: tuple[str, ...]) -> None:
    """Delete what :func:`prunable` lists, and temporary files that are as old."""
    _git(repo, ["prune", f"--expire={PRUNE_AFTER}", *_heads(kept)])


def _heads(kept: tuple[str, ...]) -> list[str]:
    return ["--", *kept] if kept else []


def too_many_kept(kept: tuple[str, ...]) -> bool:
    """Whether there are more commits to keep than one command line takes."""
    return len(kept) > _MOST_KEPT


def _git(repo: Repository, args: list[str], text: bytes | None = None) -> bytes:
    repo.reader.close()  # its processes hold packs open that may go
    return run_git([*_NO_AUTO, *args], cwd=repo.path, input=text).out


def refuse_if_precious(repo: Repository) -> None:
    """Raise PermissionDenied where the repository's owner forbids that objects are removed."""
    if repo.config_true("extensions.preciousobjects"):
        raise PermissionDenied(
            "this repository is marked as precious (extensions.preciousObjects)",
            "others borrow its objects; maintain the repository that they belong to",
        )
