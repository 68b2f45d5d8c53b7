"""The history of one agent, read from the trailers that every cycle's commit carries.

Git finds the candidates by their text; what counts is the last paragraph of the message,
parsed here, so that a line inside a message can pretend nothing.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from .paths import path_bytes
from .process import failure, start_git

if TYPE_CHECKING:
    from .repository import Repository

AGENT_TRAILER = "Agent-Id"
SNAPSHOT_TRAILER = "Snapshot"
_TRAILER = re.compile(r"(?P<key>[A-Za-z0-9][A-Za-z0-9-]*):[ \t]*(?P<value>.*)")
_FORMAT = "%H%x00%an%x00%ae%x00%ad%x00%cd%x00%B"
_FIELDS = 6
_DAY = 24 * 60
_LAST_SECOND = 253_402_214_400  # 9999-12-31, with room for any zone


class LogEntry(msgspec.Struct, frozen=True):
    """One commit. ``time`` is the author's and ``committed`` the committer's, ISO 8601 with
    offset; ``author`` and ``email`` are as Git has them; ``snapshot`` is a path or ""."""

    commit: str
    time: str
    committed: str
    author: str
    email: str
    subject: str
    body: str
    agent_id: str
    snapshot: str

    @property
    def seconds(self) -> int:
        """The author's time in seconds since 1970."""
        return int(datetime.fromisoformat(self.time).timestamp())


def trailers(message: str) -> list[tuple[str, str]]:
    """The trailers of a message: its last paragraph, if every line of it is one.

    A line that starts with white space continues the value before it. The subject is never
    a trailer.
    """
    paragraphs = re.split(r"\n[ \t]*\n", message.strip("\n"))
    if len(paragraphs) < 2:
        return []
    found: list[tuple[str, str]] = []
    for line in paragraphs[-1].strip("\n").split("\n"):
        match = _TRAILER.fullmatch(line)
        if match:
            found.append((match["key"], match["value"].strip()))
        elif found and line[:1] in (" ", "\t"):
            key, value = found[-1]
            found[-1] = (key, f"{value} {line.strip()}")
        else:
            return []
    return found


def trailer(message: str, key: str) -> str:
    """The value of the last trailer called ``key`` (case folded), or "".

    The last one, since the writer appends its own behind whatever a message brings.
    """
    values = [value for name, value in trailers(message) if name.lower() == key.lower()]
    return values[-1] if values else ""


def agent_log(
    repo: Repository,
    agent_id: str,
    *,
    rev: str = "HEAD",
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
) -> list[LogEntry]:
    """The commits of one agent, newest first; the id is matched whole.

    ``since`` and ``until`` bound the author's time, both inclusive, whatever the order of
    the commits; a bound without an offset is in this machine's zone. A repository without
    a commit has no history. Raises UnknownRevision.
    """
    commit = repo.tip() if rev == "HEAD" else repo.resolve(rev)
    if commit is None:
        return []
    found = _entries(repo, ["--fixed-strings", f"--grep={AGENT_TRAILER}: {agent_id}", commit, "--"])
    matching = (
        entry
        for entry in found
        if entry.agent_id == agent_id
        and (since is None or entry.seconds >= since.timestamp())
        and (until is None or entry.seconds <= until.timestamp())
    )
    return list(islice(matching, limit))


def log_paths(
    repo: Repository, paths: Sequence[str], rev: str = "HEAD", *, limit: int | None = None
) -> list[LogEntry]:
    """The commits that changed any of ``paths``, newest first.  Raises UnknownRevision."""
    for path in paths:
        path_bytes(path)
    return list(islice(_entries(repo, [repo.resolve(rev), "--", *paths]), limit))


def messages_between(repo: Repository, base: str, head: str) -> list[tuple[str, str]]:
    """Id and whole message of each commit that ``head`` reaches and ``base`` does not (ids)."""
    found = _entries(repo, [head, f"^{base}", "--"])
    return [(entry.commit, f"{entry.subject}\n\n{entry.body}".rstrip("\n")) for entry in found]


def _entries(repo: Repository, args: list[str]) -> Iterator[LogEntry]:
    """What ``git log`` prints, as it prints it; ended early when nobody asks on."""
    options = ["-z", "--encoding=UTF-8", "--date=raw", f"--format={_FORMAT}"]
    command = ["-c", "log.showSignature=false", "log", *options, *args]
    process = start_git(command, cwd=repo.path, stderr=True)
    try:
        fields: deque[bytes] = deque()
        rest = b""
        while part := os.read(process.stdout.fileno(), 1 << 16):
            *more, rest = (rest + part).split(b"\0")
            fields.extend(more)
            while len(fields) >= _FIELDS:
                yield _entry([fields.popleft() for _ in range(_FIELDS)])
        done = process.finish()
        if done.code != 0:
            raise failure(command, done, repo.path)
    finally:
        process.stop()


def _entry(fields: list[bytes]) -> LogEntry:
    texts = [field.decode("utf-8", "replace") for field in fields]
    commit, author, email, authored, committed, message = texts
    subject, _, body = message.strip("\n").partition("\n")
    return LogEntry(
        commit=commit,
        time=iso_time(authored),
        committed=iso_time(committed),
        author=author,
        email=email,
        subject=subject,
        body=body.strip("\n"),
        agent_id=trailer(message, AGENT_TRAILER),
        snapshot=trailer(message, SNAPSHOT_TRAILER),
    )


def iso_time(raw: str) -> str:
    """Git's raw date (``seconds +HHMM``) as ISO 8601 with its offset.

    Whoever writes a commit can put any number there; one that no calendar has becomes the
    nearest that one has.
    """
    seconds, _, zone = raw.partition(" ")
    sign = -1 if zone.startswith("-") else 1
    minutes = sign * (int(zone[1:3] or 0) * 60 + int(zone[3:5] or 0))
    offset = timedelta(minutes=minutes if abs(minutes) < _DAY else 0)
    at = datetime.fromtimestamp(min(max(int(seconds or 0), 0), _LAST_SECOND), UTC)
    return at.astimezone(timezone(offset)).isoformat()
