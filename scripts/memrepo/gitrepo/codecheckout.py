"""A checkout of code that records cite: read as Git objects, at commits; no file is opened."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from memrepo.errors import BadInput, MemrepoError, UsageError

from .changes import list_tree
from .paths import path_bytes
from .refs import branch_ref
from .repository import Repository

_LARGEST = 2 << 20
_MOST_NAMED = 5


class CodeCheckout:
    """The code of one project, as the commits of its checkout have it.

    A branch is looked up here, then on ``origin``; one that neither has stands for what is
    checked out. Raises UsageError when ``path`` is in no Git repository.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._repo = Repository.open(path)
        except MemrepoError as error:
            raise UsageError(
                f"there is no checkout of code: {error.message}", "give the folder of a clone"
            ) from None
        self._listed: dict[str, tuple[dict[str, list[str]], dict[str, list[str]]]] = {}

    def close(self) -> None:
        """End the Git processes that were kept."""
        self._repo.close()

    def blob_of(self, branch: str, path: str) -> str | None:
        """The id of the blob at ``path`` of a branch; None when there is no such file."""
        commit = self._commit(branch)
        if commit is None:
            return None
        try:
            entry = self._repo.view(commit).entry_at(path_bytes(path))
        except BadInput:
            return None
        return entry.oid.hex() if entry and entry.mode.startswith(b"100") else None

    def text(self, blob: str) -> str | None:
        """The text of a blob; None when it is not there, over 2 MiB, or no text."""
        found = self._repo.reader.find(blob, _LARGEST) if blob else None
        if found is None or found.kind != "blob" or found.data is None or b"\0" in found.data:
            return None
        return found.data.decode("utf-8", "replace")

    def places_of(self, branch: str, blob: str) -> list[str]:
        """Paths of a branch at which exactly this blob lies."""
        return self._lists(branch)[0].get(blob, [])

    def named(self, branch: str, name: str) -> list[str]:
        """At most five paths of a branch whose last part is ``name``."""
        return self._lists(branch)[1].get(name, [])[:_MOST_NAMED]

    def _commit(self, branch: str) -> str | None:
        if branch:
            with suppress(BadInput):
                local = branch_ref(branch)
                remote = f"refs/remotes/origin/{branch}"
                found = self._repo.tip(local) or self._repo.tip(remote)
                if found:
                    return found
        return self._repo.tip()

    def _lists(self, branch: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The paths of a commit by blob and by name; kept, for there may be many files."""
        commit = self._commit(branch) or ""
        if commit not in self._listed:
            by_blob: dict[str, list[str]] = {}
            by_name: dict[str, list[str]] = {}
            for entry in list_tree(self._repo, commit) if commit else ():
                by_blob.setdefault(entry.oid, []).append(entry.path)
                by_name.setdefault(entry.path.rpartition("/")[2], []).append(entry.path)
            self._listed = {commit: (by_blob, by_name)}
        return self._listed[commit]
