"""An open Git repository: where it is, what its tip holds, and the processes that read it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import NotAMemoryRepo, UnknownRevision

from .identity import Identity
from .objects import LooseWriter, ObjectReader, object_id
from .paths import Applied, PathTrees, path_bytes, path_text
from .process import plain, run_git
from .refs import RefWriter, branch_ref, check_ref
from .trees import Entry

if TYPE_CHECKING:
    from .bulk import Batch

_SHARED = {"group": 0o660, "true": 0o660, "1": 0o660, "all": 0o664, "world": 0o664, "2": 0o664}
_MOST_RECENT = 256
_TRUE = ("true", "yes", "on", "1")


class Listed(msgspec.Struct, frozen=True):
    """One name in a folder of a commit: ``mode`` as Git writes it ("100644", "40000")."""

    name: str
    mode: str
    oid: str

    @property
    def is_folder(self) -> bool:
        """Whether the name is a folder."""
        return self.mode == "40000"


class TipView:
    """What one commit holds, read as objects; ``commit`` is None before the first one."""

    def __init__(self, trees: PathTrees, commit: str | None, root: bytes | None) -> None:
        self.trees = trees
        self.commit = commit
        self.root = root

    def entry(self, path: str) -> Entry | None:
        """The entry at ``path`` (mode, name, raw id), or None."""
        return self.entry_at(path_bytes(path))

    def entry_at(self, path: bytes) -> Entry | None:
        """The entry at a path that is known to be one, or None."""
        return self.trees.get(self.root, path)

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder at ``path``."""
        return self.entry(path) is not None

    def read(self, path: str) -> bytes | None:
        """The bytes of the regular file at ``path``; None for anything else."""
        entry = self.entry(path)
        if entry is None or not entry.mode.startswith(b"100"):
            return None
        return self.trees.blob(entry.oid)

    def list_dir(self, path: str = "") -> list[Listed]:
        """The names in the folder at ``path`` ("" is the root); [] when there is none."""
        folder = self.trees.folder(self.root, path_bytes(path) if path else b"")
        entries: Iterator[Entry] = folder.entries() if folder else iter(())
        return [Listed(path_text(e.name), e.mode.decode(), e.oid.hex()) for e in entries]


class Repository:
    """One repository on disk. Use it as a context manager: it keeps Git processes open.

    ``path`` is the top of the worktree, or the Git folder of a bare repository;
    ``git_dir`` is this worktree's Git folder and ``common_dir`` the one all worktrees
    share. ``notes`` collects what the person should hear about, one line each.
    Not for use by several threads at once.
    """

    def __init__(
        self, path: Path, git_dir: Path, *, bare: bool, shallow: bool, object_format: str
    ) -> None:
        self.path = path
        self.git_dir = git_dir
        self.common_dir = _common_dir(git_dir)
        self.bare = bare
        self.is_shallow = shallow
        self.object_format = object_format
        self.id_size = 20 if object_format == "sha1" else 32
        self.null = "0" * (2 * self.id_size)
        self.notes: list[str] = []
        self.commits_made = 0
        self.recent: dict[str, Applied] = {}
        self.identities: dict[str, Identity] = {}
        self.reader = ObjectReader(path)
        self.trees = PathTrees(self.reader, self.id_size)
        self._refs: dict[str, RefWriter] = {}
        self._config: dict[str, list[str]] | None = None
        self._writer: LooseWriter | None = None

    @classmethod
    def open(cls, path: Path) -> Repository:
        """The repository that ``path`` lies in.  Raises NotAMemoryRepo, PermissionDenied."""
        asked = [
            "--is-bare-repository",
            "--is-shallow-repository",
            "--show-object-format",
            "--is-inside-work-tree",
            "--show-cdup",
            "--absolute-git-dir",
        ]
        lines = run_git(["rev-parse", *asked], cwd=path).out.decode("utf-8", "surrogateescape")
        bare, shallow, object_format, inside, rest = lines.removesuffix("\n").split("\n", 4)
        if inside == "true":
            up, _, git_dir = rest.partition("\n")
            top = Path(os.path.realpath(path / up))
        else:  # bare, or somewhere in the Git folder itself, which then stands for itself
            git_dir = rest.removeprefix("\n")
            top = Path(git_dir)
        return cls(
            top,
            Path(git_dir),
            bare=bare == "true",
            shallow=shallow == "true",
            object_format=object_format,
        )

    @classmethod
    def init(cls, path: Path, *, branch: str = "main", bare: bool = False) -> Repository:
        """Open the repository at ``path``, made first if need be; existing ones stay as they are.

        A folder inside another repository's worktree gets a repository of its own.
        """
        branch_ref(branch)
        path.mkdir(parents=True, exist_ok=True)
        if not (path / ".git").exists() and not (path / "HEAD").is_file():
            options = ["--bare"] if bare else []
            run_git(["-c", f"init.defaultBranch={branch}", "init", "--quiet", *options], cwd=path)
        return cls.open(path)

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; the repository starts them again when it is used again."""
        self.reader.close()
        for refs in self._refs.values():
            refs.close()

    @property
    def has_worktree(self) -> bool:
        """Whether there is a worktree with files checked out, so an index to keep up."""
        if self.bare or self.path == self.git_dir:
            return False
        return self.index_file.exists() or self.tip() is None

    @property
    def empty_tree(self) -> str:
        """The id of the tree that holds nothing; Git knows it without it being stored."""
        return object_id(self.object_format, "tree", b"").hex()

    @property
    def index_file(self) -> Path:
        """This worktree's index."""
        return self.git_dir / "index"

    @property
    def writer(self) -> LooseWriter:
        """The writer of loose objects."""
        if self._writer is None:
            shared = self.config_value("core.sharedrepository").lower()
            bits = int(shared, 8) if shared.startswith("0") and shared.isdigit() else 0
            self._writer = LooseWriter(
                self.common_dir / "objects",
                self.object_format,
                shared=_SHARED.get(shared, bits) & 0o777,
                fsync=self.fsync,
            )
        return self._writer

    @property
    def fsync(self) -> bool:
        """Whether the configuration asks that loose objects be made durable one by one."""
        asked = [part.strip() for part in self.config_value("core.fsync").lower().split(",")]
        wide = ("all", "added", "committed", "objects", "loose-object")
        return (any(word in asked for word in wide) and "-loose-object" not in asked) or (
            self.config_true("core.fsyncobjectfiles")
        )

    def config(self) -> dict[str, list[str]]:
        """Git's configuration as it holds here: lower-case key (subsection kept) to its values."""
        if self._config is None:
            found: dict[str, list[str]] = {}
            for item in run_git(["config", "-z", "--list"], cwd=self.path).out.split(b"\0")[:-1]:
                key, given, value = item.decode("utf-8", "surrogateescape").partition("\n")
                found.setdefault(key, []).append(value if given else "true")
            self._config = found
        return self._config

    def config_value(self, key: str, default: str = "") -> str:
        """The value of ``key`` (written in lower case) that wins, or ``default``."""
        values = self.config().get(key)
        return values[-1] if values else default

    def config_true(self, key: str, *, default: bool = False) -> bool:
        """Whether ``key`` is set to a true value; ``default`` when it is not set."""
        values = self.config().get(key)
        return values[-1].lower() in _TRUE if values else default

    def forget_config(self) -> None:
        """Read the configuration anew at the next question."""
        self._config = None
        self._writer = None
        self.identities.clear()

    def refs(self, message: str) -> RefWriter:
        """The ref writer whose moves carry ``message`` in the reflog."""
        if message not in self._refs:
            self._refs[message] = RefWriter(self.path, self.null, message)
        return self._refs[message]

    def head_ref(self) -> str | None:
        """The full name of the ref that HEAD names, even before its first commit; None detached."""
        try:
            text = (self.git_dir / "HEAD").read_text("utf-8", "surrogateescape").strip()
        except OSError:
            text = "ref: refs/heads/.invalid"
        if text == "ref: refs/heads/.invalid":  # refs are not kept as files here
            done = run_git(["symbolic-ref", "--quiet", "HEAD"], cwd=self.path, check=False)
            return done.out.decode("utf-8", "surrogateescape").strip() or None
        return text.removeprefix("ref:").strip() if text.startswith("ref:") else None

    def tip(self, ref: str = "HEAD") -> str | None:
        """The commit id that ``ref`` (a full ref name, or HEAD) is at; None when there is none."""
        if ref != "HEAD":
            check_ref(ref)
        found = self.reader.find(f"{ref}^{{commit}}", limit=0)
        return found.oid if found else None

    def resolve(self, rev: str) -> str:
        """The commit id that ``rev`` names, as ``git rev-parse`` reads it.

        Raises UnknownRevision; a name that starts with a dash is a name.
        """
        if rev and "\0" not in rev and "\n" not in rev:
            asked = ["rev-parse", "--quiet", "--verify", "--end-of-options", f"{rev}^{{commit}}"]
            done = run_git(asked, cwd=self.path, check=False)
            oid = done.out.decode("ascii", "replace").strip()
            if done.code == 0 and len(oid) == len(self.null):
                return oid
        raise UnknownRevision(
            f"{plain(rev)!r} names no commit in {plain(str(self.path))}",
            "this clone is shallow: fetch more history with git fetch --unshallow"
            if self.is_shallow
            else "see git log for the commits there are",
        )

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commit ids; None when they share no history."""
        done = run_git(["merge-base", one, other], cwd=self.path, check=False)
        if done.code > 1:
            raise UnknownRevision(f"no commits {plain(one)} and {plain(other)} in this repository")
        return done.out.decode("ascii").split("\n")[0] or None

    def bulk(self) -> Batch:
        """Many commits at once: ``with repo.bulk() as batch: batch.commit(build)``."""
        from .bulk import Batch  # that module needs this one

        return Batch(self)

    def remember(self, commit: str, applied: Applied) -> None:
        """Keep what a commit made here changed, so that a rebuild need not ask for it."""
        self.recent[commit] = applied
        if len(self.recent) > _MOST_RECENT:
            del self.recent[next(iter(self.recent))]

    def read_commit(self, commit: str) -> bytes:
        """The raw body of a commit.  Raises UnknownRevision."""
        kind, body = self.reader.read(commit)
        if kind != "commit":
            raise UnknownRevision(f"{plain(commit)} is a {kind}, not a commit")
        return body

    def root_of(self, commit: str) -> bytes:
        """The raw id of a commit's root tree."""
        body = self.read_commit(commit)
        return bytes.fromhex(body[5 : 5 + 2 * self.id_size].decode("ascii"))

    def view(self, commit: str | None) -> TipView:
        """What ``commit`` (an id; None is the empty start) holds."""
        return TipView(self.trees, commit, self.root_of(commit) if commit else None)


def _common_dir(git_dir: Path) -> Path:
    try:
        text = (git_dir / "commondir").read_text("utf-8", "surrogateescape").rstrip("\n")
    except FileNotFoundError:
        return git_dir
    except OSError as error:
        raise NotAMemoryRepo(f"{plain(str(git_dir))} cannot be read: {error.strerror}") from None
    return Path(os.path.realpath(git_dir / text))
