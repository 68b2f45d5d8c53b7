"""Commits built one on another before any ref names them: trees, new files, and their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from .commit import LooseSink, store_commit
from .identity import ident_line, identity, stamp
from .pack import PackSink
from .paths import PathTrees, Value
from .trees import Tree

if TYPE_CHECKING:
    from types import TracebackType

    from .objects import ObjectReader
    from .replay import ParsedCommit
    from .repository import Repository

#: Fewer folders than this are not worth an exchange of their own.
_FEW = 3
#: Bytes of new files that are kept to be read again at once.
_KEPT_BYTES = 32 << 20


class _Trees(PathTrees):
    """Trees that can be read ahead, many in one exchange with Git."""

    def read_ahead(self, root: bytes, folders: Iterable[bytes], reader: ObjectReader) -> None:
        """Read those of ``folders`` that are not at hand; their parents are read one by one."""
        wanted: dict[bytes, bytes] = {}
        for folder in folders:
            entry = self.get(root, folder) if folder else None
            kept = self._kept.get(folder)
            if entry and entry.is_folder and not (kept and kept[0] == entry.oid):
                wanted[folder] = entry.oid
        if len(wanted) < _FEW:
            return
        bodies = reader.read_many([oid.hex() for oid in wanted.values()])
        for (folder, oid), found in zip(wanted.items(), bodies, strict=True):
            # What was made in this pack is not Git's yet.
            if found is not None and found.kind == "tree" and found.data is not None:
                self._keep(folder, oid, Tree(found.data, self.id_size))


class Workshop:
    """Makes commits in one new pack. Git sees them after :meth:`finish`, and no ref is moved.

    ``with Workshop(repo) as shop`` drops the pack where the block ends with an exception.
    ``loose``: as loose objects, which Git sees at once.
    """

    def __init__(self, repo: Repository, *, loose: bool = False) -> None:
        self._repo = repo
        self._pack: PackSink | None = None
        self._sink: PackSink | LooseSink = LooseSink(repo.writer)
        self._trees = _Trees(repo.reader, repo.id_size)
        # Git signs only what it can already see.
        if not loose and not repo.config_true("commit.gpgsign"):
            folder = repo.common_dir / "objects"
            self._pack = self._sink = PackSink(folder, repo.object_format, repo.reader)
            self._trees = _Trees(self._pack, repo.id_size)
        self._mine: set[bytes] = set()
        self._kept: dict[bytes, bytes] = {}
        self._kept_bytes = 0
        self._done = False

    def __enter__(self) -> Workshop:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        elif self._pack and not self._done:
            self._pack.abandon()

    def finish(self) -> None:
        """Let Git see what was made."""
        if self._pack and not self._done:
            self._done = True
            self._pack.finish()

    def read_ahead(self, root: bytes, paths: Iterable[bytes]) -> None:
        """Read the folders of ``paths`` together, before :meth:`value` asks for each."""
        folders = dict.fromkeys(path.rpartition(b"/")[0] for path in paths)
        self._trees.read_ahead(root, folders, self._repo.reader)

    def value(self, root: bytes, path: bytes) -> Value | None:
        """What the tree ``root`` holds at ``path``: a file, a link, a folder, or nothing."""
        entry = self._trees.get(root, path)
        return Value(entry.mode, entry.oid) if entry else None

    def paths_below(self, root: bytes, folder: bytes) -> Iterator[bytes]:
        """Every file below a folder of the tree ``root``."""
        tree = self._trees.folder(root, folder)
        for entry in tree.entries() if tree else ():
            path = folder + b"/" + entry.name
            if entry.is_folder:
                yield from self.paths_below(root, path)
            else:
                yield path

    def write_file(self, data: bytes) -> bytes:
        """Store the bytes of a file; their id."""
        oid = self._sink.write("blob", data)
        self._mine.add(oid)
        if oid not in self._kept:
            self._kept[oid] = data
            self._kept_bytes += len(data)
            while self._kept_bytes > _KEPT_BYTES and len(self._kept) > 1:
                self._kept_bytes -= len(self._kept.pop(next(iter(self._kept))))
        return oid

    def files(self, oids: Iterable[bytes], limit: int) -> dict[bytes, bytes | None]:
        """The bytes by id; None for what is larger than ``limit``, nothing for what is no file."""
        found: dict[bytes, bytes | None] = {}
        asked = []
        for oid in dict.fromkeys(oids):
            if oid in self._kept:
                found[oid] = self._kept[oid]
            elif oid in self._mine and self._pack:
                found[oid] = self._pack.read(oid.hex())[1]
            else:
                asked.append(oid)
        read = self._repo.reader.read_many([oid.hex() for oid in asked], limit)
        for oid, blob in zip(asked, read, strict=True):
            if blob is not None and blob.kind == "blob":
                found[oid] = blob.data
        return found

    def apply(self, root: bytes, wanted: Mapping[bytes, Value | None]) -> bytes:
        """The tree ``root`` with these files set or removed (None); its id.

        A file may take the place of a folder that this empties, and the other way round.
        """
        gone = {path: None for path, value in wanted.items() if value is None}
        there = {path: value for path, value in wanted.items() if value is not None}
        for changes in (gone, there) if gone and there else (wanted,):
            root = self._trees.apply(root, changes, self._sink).root
        return root

    def commit(
        self, root: bytes, parent: str, like: ParsedCommit, message: bytes, *, now: int
    ) -> str:
        """A commit of ``root`` on ``parent`` with the author and dates of ``like``; its id.

        The committer is Git's own identity here, at ``now`` (seconds).
        """
        who = identity(self._repo, "committer")
        return store_commit(
            self._repo,
            self._sink,
            root=root,
            parents=[parent],
            author=like.author,
            committer=ident_line(who, stamp(self._repo, "committer", now)),
            message=message,
            extra=like.extra,
        )
