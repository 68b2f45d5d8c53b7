"""Who commits, and when: Git's own rules for names, and a named fallback where there is none."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Literal

import msgspec

from memrepo.errors import BadInput, GitFailed

from .process import caller_value, run_git

if TYPE_CHECKING:
    from .repository import Repository

_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
_INNER = re.compile(r"[\x00-\x1f<>\x7f]")
_LINE = re.compile(r"(?P<name>.*?) ?<(?P<email>[^<>]*)> (?P<time>\d+) (?P<zone>[+-]\d{4})$")


class Identity(msgspec.Struct, frozen=True):
    """A name and an address, as a commit carries them."""

    name: str
    email: str


class Stamp(msgspec.Struct, frozen=True):
    """A moment: seconds since 1970 (UTC), and the zone's offset as ``+HHMM``."""

    seconds: int
    zone: str


#: Used when Git knows no name: a commit in CI must not fail for that.
FALLBACK = Identity("memrepo", "memrepo@users.noreply.localhost")

Role = Literal["author", "committer"]


def identity(repo: Repository, role: Role) -> Identity:
    """The author or committer by Git's rules; FALLBACK, with a note, when Git has none."""
    known = repo.identities.get(role)
    if known is None:
        known = repo.identities[role] = _ask(repo, role)
    return known


def _ask(repo: Repository, role: Role) -> Identity:
    upper = f"GIT_{role.upper()}"
    name = caller_value(f"{upper}_NAME") or _configured(repo, role, "name")
    email = caller_value(f"{upper}_EMAIL") or _configured(repo, role, "email")
    if name and email:
        return Identity(name, email)
    done = run_git(["var", f"{upper}_IDENT"], cwd=repo.path, check=False)
    line = _LINE.match(done.out.decode("utf-8", "replace").strip())
    if done.code == 0 and line:
        return Identity(line["name"], line["email"])
    note = (
        f"Git knows no name here, so commits are by {FALLBACK.name} <{FALLBACK.email}>;"
        " set git config user.name and user.email to change that"
    )
    if note not in repo.notes:
        repo.notes.append(note)
    return FALLBACK


def _configured(repo: Repository, role: Role, what: str) -> str:
    return repo.config_value(f"{role}.{what}") or repo.config_value(f"user.{what}")


def stamp(repo: Repository, role: Role, when: int | None, offset: int | None = None) -> Stamp:
    """When a commit happened: ``when`` (seconds), else GIT_*_DATE, else now.

    ``offset`` is the zone in minutes east of UTC; None is the zone of this machine.
    """
    if when is None:
        if caller_value(f"GIT_{role.upper()}_DATE"):
            args = ["var", f"GIT_{role.upper()}_IDENT"]
            line = _LINE.match(run_git(args, cwd=repo.path).out.decode("utf-8", "replace").strip())
            if not line:
                raise GitFailed(f"git var gave no date for the {role}")
            return Stamp(int(line["time"]), line["zone"])
        when = int(time.time())
    if when < 0:
        raise BadInput("Git cannot store a time before 1970")
    if offset is None:
        offset = (time.localtime(when).tm_gmtoff or 0) // 60
    sign = "-" if offset < 0 else "+"
    hours, minutes = divmod(abs(offset), 60)
    return Stamp(when, f"{sign}{hours:02}{minutes:02}")


def ident_line(who: Identity, at: Stamp) -> bytes:
    """``name <email> seconds zone`` with what Git leaves out of names left out."""
    name, email = _clean(who.name), _clean(who.email)
    line = f"{name or 'unknown'} <{email}> {at.seconds} {at.zone}"
    return line.encode("utf-8", "replace")


def now_line(repo: Repository, line: bytes) -> bytes:
    """An ident line with the same name and address, and the time a committer has now."""
    who = line.rpartition(b"> ")[0]
    at = stamp(repo, "committer", None)
    return b"%s> %d %s" % (who, at.seconds, at.zone.encode())


def _clean(text: str) -> str:
    return _INNER.sub("", text).strip(_CRUD)
