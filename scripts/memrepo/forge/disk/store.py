"""A local forge's folder, and the pull requests in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from memrepo.errors import BadInput, UsageError
from memrepo.forge.forge import PullRequest, State
from memrepo.protocol.timestamps import iso

from .folder import Folder
from .formats import Fields, Value, read_fields, read_text, write_fields

_NUMBER = re.compile(r"0*([1-9][0-9]{0,8})")
_STATES: dict[str, State] = {"open": "open", "closed": "closed", "merged": "merged"}


class Store:
    """The forge in the folder ``root``, which is made when something is first written.

    ``login`` is whom its writes go by. ``tip`` gives the commit that a branch of the
    repository is at, None for no such branch: as on any forge, a pull request's head moves
    with its branch. Without one, ``head_sha`` is what the file says. ``tell`` is told of
    pull requests that cannot be read when all are looked through.
    """

    def __init__(
        self,
        root: Path,
        *,
        login: str,
        tip: Callable[[str], str | None] = lambda _branch: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._folder = Folder(root)
        self._login = login
        self._tip = tip
        self._now = now
        self._tell = tell

    @property
    def place(self) -> str:
        """The folder's path."""
        return self._folder.where("")

    def close(self) -> None:
        """Nothing is held open."""

    def me(self) -> str:
        """The login that was given."""
        return self._login

    def get_pull_request(self, number: int) -> PullRequest:
        """The pull request of that number."""
        return self._load(number, self._path(number))

    def _load(self, number: int, path: str) -> PullRequest:
        fields = self._fields(path)
        body = self._folder.read(f"{path}/body.md")
        state = _STATES.get(fields.text("state").lower())
        if state is None:
            raise fields.problem("state", "is none of open, closed, merged")
        head_ref = fields.text("head_ref")
        tip = self._tip(head_ref) if state == "open" else None
        written = self._folder.changed_at(f"{path}/pull.yml")
        created_at = fields.time("created_at", written)
        return PullRequest(
            number=number,
            title=fields.text("title"),
            body=read_text(body or b"", self._folder.where(f"{path}/body.md")),
            url=str(self._folder.root / path),
            head_ref=head_ref,
            head_sha=tip or fields.text("head_sha", ""),
            head_repo="",
            base_ref=fields.text("base_ref"),
            base_sha=fields.text("base_sha", ""),
            state=state,
            draft=fields.flag("draft"),
            author=fields.text("author", "unknown"),
            labels=tuple(sorted(set(fields.several("labels")))),
            created_at=created_at,
            updated_at=fields.time("updated_at", created_at),
        )

    def _paths(self) -> dict[int, str]:
        """Each pull request's number, and its folder."""
        found: dict[int, str] = {}
        for name in self._folder.names("pulls"):
            match = _NUMBER.fullmatch(name)
            if match is None:
                continue
            number, path = int(match[1]), f"pulls/{name}"
            if number in found:
                raise BadInput(
                    f"{self._folder.where(found[number])} and {name} are one number",
                    "give one of them a number of its own",
                )
            found[number] = path
        return found

    def _path(self, number: int) -> str:
        path = self._paths().get(number)
        if path is None:
            raise UsageError(f"{self.place} has no pull request {number}", "check the number")
        return path

    def _fields(self, path: str) -> Fields:
        file = f"{path}/pull.yml"
        data = self._folder.read(file)
        if data is None:
            raise BadInput(
                f"{self._folder.where(path)} has no pull.yml",
                "put it back, or move the folder away",
            )
        return read_fields(data, self._folder.where(file))

    def _edit(self, number: int, edits: dict[str, Value]) -> None:
        """Change keys of ``pull.yml``; every other one stays, also those that a person added."""
        path = self._path(number)
        fields = self._fields(path)
        tips: dict[str, Value] = {}
        for side in ("head", "base"):
            tip = self._tip(fields.text(f"{side}_ref"))
            if tip and fields.text("state").lower() == "open":
                tips[f"{side}_sha"] = tip
        values = {**fields.values, **tips, **edits, "updated_at": iso(self._now())}
        self._folder.write(f"{path}/pull.yml", write_fields(values))
