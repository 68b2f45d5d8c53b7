"""Ids of records, and the path that follows from an address and an id alone."""

from __future__ import annotations

import re
from datetime import datetime

from memrepo.protocol.record import RECORDS_FOLDER, Address

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ID = re.compile(r"mem_[0-7][0-9A-HJKMNP-TV-Z]{25}")
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KEPT = re.compile(rb"[a-z0-9_-]")
_LONGEST_PART = 200


def new_record_id(when: datetime) -> str:
    """An id for a record made at ``when``: ``mem_`` and a ULID.

    The first ten characters are milliseconds since 1970, the rest 80 random bits
    (https://github.com/ulid/spec): ids sort by time, and two writers never get one id.
    """
    import secrets

    milliseconds = int(when.timestamp() * 1000)
    number = (milliseconds << 80) | secrets.randbits(80)
    letters = []
    for _ in range(26):
        number, digit = divmod(number, 32)
        letters.append(_DIGITS[digit])
    return "mem_" + "".join(reversed(letters))


def record_id_problem(text: str) -> str | None:
    """Why ``text`` is no id of a record, in words, or None when it is one."""
    return None if _ID.fullmatch(text) else "is no id of a record (mem_ and a ULID)"


def key_problem(text: str) -> str | None:
    """Why ``text`` is no key, in words, or None when it is one."""
    if not _KEY.fullmatch(text):
        return "must be kebab-case: small letters and digits in words joined by `-`"
    return "is longer than 100 characters" if len(text) > 100 else None


def address_problem(address: Address) -> tuple[str, str] | None:
    """The field of an address that cannot be, and why; None when all is well.

    Organisations and repositories are written small: forges do not tell them apart by case.
    """
    needed = {
        "org": True,
        "repo": address.scope != "org",
        "branch": address.scope == "branch",
        "agent": address.scope == "agent",
    }
    for field, wanted in needed.items():
        text = getattr(address, field)
        if bool(text) != wanted:
            verb = "needs a" if wanted else "has no"
            return field, f"the scope {address.scope} {verb} {field}"
        if not text:
            continue
        if not text.isprintable() or " " in text or "\\" in text:
            return field, "holds a space, a backslash or a character that is not printed"
        if field in ("org", "repo") and text != text.lower():
            return field, "must be written in small letters"
        if any(part in ("", ".", "..") for part in text.split("/")):
            return field, "has an empty part between slashes"
        if len(_component(text)) > _LONGEST_PART:
            return field, f"is too long ({_LONGEST_PART} characters when written as a folder)"
    return None


def address_folder(address: Address) -> str:
    """The folder that holds the records of exactly this address, without a slash at the end.

    Each part becomes one component of the path that is safe everywhere: what is not a small
    letter, a digit, ``.``, ``_`` or ``-`` is written ``%XX``, capitals too, so that no two
    addresses meet where a file system folds case.
    """
    own = {"org": (), "project": (), "branch": (address.branch,), "agent": (address.agent,)}
    parts = (address.org, *((address.repo,) if address.scope != "org" else ()), *own[address.scope])
    return "/".join((RECORDS_FOLDER, address.scope, *(_component(part) for part in parts)))


def record_path(address: Address, record_id: str) -> str:
    """Where the record lies: ``records/<scope>/<org>/…/<first four of the ULID>/<id>.yml``.

    The folder changes every twelve days or so: without it each write would write anew a
    list of all records of its address.
    """
    return f"{address_folder(address)}/{record_id[4:8]}/{record_id}.yml"


def address_words(address: Address) -> str:
    """An address for a line of text: ``acme/web``, ``acme/web branch main``, ``acme (org)``."""
    place = f"{address.org}/{address.repo}" if address.repo else f"{address.org} (org)"
    if address.scope == "branch":
        return f"{place} branch {address.branch}"
    return f"{place} agent {address.agent}" if address.scope == "agent" else place


def _component(text: str) -> str:
    written = "".join(
        chr(byte) if _KEPT.match(bytes([byte])) else f"%{byte:02x}" for byte in text.encode()
    )
    # A dot is safe inside; at the ends it hides a folder or is lost on some systems.
    inner = written.replace("%2e", ".")
    inner = f"%2e{inner[1:]}" if inner.startswith(".") else inner
    return f"{inner[:-1]}%2e" if inner.endswith(".") else inner
