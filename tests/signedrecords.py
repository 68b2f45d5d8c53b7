"""Signing keys for tests, records signed with them, and records in a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

from memrepo.gitrepo.sign import sign
from memrepo.protocol.record import Record
from memrepo.protocol.recorddump import dump_record, signed_bytes
from memrepo.protocol.recordplace import record_path
from repositories import GitRepo


class Key(msgspec.Struct, frozen=True):
    """An SSH key on disk, and the line of a policy that lets it give a trust."""

    file: Path
    line: str

    def signs(self, record: Record) -> Record:
        """The record with a signature over it as it now is."""
        return msgspec.structs.replace(record, signature=sign(signed_bytes(record), self.file))


def new_key(folder: Path, trust: str, name: str) -> Key:
    """A new key of ``name``, who may give ``trust``."""
    file = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(file)]
    subprocess.run(command, check=True)
    public = " ".join(file.with_suffix(file.suffix + ".pub").read_text().split()[:2])
    return Key(file, f"{trust} {name} {public}")


def policy_of(*keys: Key) -> bytes:
    """A policy whose signers are ``keys``."""
    lines = "".join(f"    - {key.line}\n" for key in keys)
    return f"version: 1\nrecords:\n  signers:\n{lines}".encode() if keys else b"version: 1\n"


def put_record(repo: GitRepo, record: Record) -> str:
    """Write a record where it belongs and answer its path."""
    path = record_path(record.address, record.id)
    repo.write(path, dump_record(record))
    return path


def ended(record: Record, status: str, by: Record | None = None, reason: str = "") -> Record:
    """The record once it is superseded (``by`` another) or archived."""
    life = msgspec.structs.replace(
        record.lifecycle,
        status=status,
        superseded_by=by.id if by else record.lifecycle.superseded_by,
        reason=reason,
    )
    return msgspec.structs.replace(record, lifecycle=life)
