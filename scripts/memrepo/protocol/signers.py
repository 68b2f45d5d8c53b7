"""Who may back a record with a signature, and whose signature one is. Pure: nothing is verified.

A signer is a line of the policy: the trust it may give, a name, and an SSH public key.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Literal

import msgspec

#: Git's own word for what a signature is about; a signature of a commit is none of a record.
NAMESPACE = "memrepo"

_LINE = re.compile(
    r"(?P<trust>human|verified-ci) +(?P<name>[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}) +"
    r"(?P<kind>ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|"
    r"sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) +(?P<key>[A-Za-z0-9+/]{40,2000}={0,2})"
)
_ARMOUR = re.compile(
    r"\s*-----BEGIN SSH SIGNATURE-----\s([A-Za-z0-9+/=\s]+)-----END SSH SIGNATURE-----\s*"
)


class Signer(msgspec.Struct, frozen=True):
    """``key`` is the public key's base64, as in ``~/.ssh/id_ed25519.pub``."""

    trust: Literal["human", "verified-ci"]
    name: str
    kind: str
    key: str

    @property
    def allowed(self) -> str:
        """The signer as a line of ssh-keygen's file of allowed signers."""
        return f'{self.name} namespaces="{NAMESPACE}" {self.kind} {self.key}\n'


def parse_signer(line: str) -> Signer | None:
    """The signer in ``human ann@example.com ssh-ed25519 AAAA…``, or None when it is none."""
    found = _LINE.fullmatch(line.strip())
    if not found:
        return None
    try:
        blob = base64.b64decode(found["key"], validate=True)
    except binascii.Error:
        return None
    if _text_at(blob, 0) != found["kind"].encode():
        return None
    trust: Literal["human", "verified-ci"] = "human" if found["trust"] == "human" else "verified-ci"
    return Signer(trust, found["name"], found["kind"], found["key"])


def signer_of(signature: str, signers: Iterable[Signer]) -> Signer | None:
    """The signer whose key a signature names, the one of the highest trust; it is not checked.

    The key stands in the signature itself (openssh, PROTOCOL.sshsig): ``SSHSIG``, a version,
    then the public key, each length in four bytes.
    """
    found = _ARMOUR.fullmatch(signature)
    if not found:
        return None
    try:
        blob = base64.b64decode("".join(found[1].split()), validate=True)
    except binascii.Error:
        return None
    if blob[:6] != b"SSHSIG":
        return None
    key = _text_at(blob, 10)
    if key is None:
        return None
    named = base64.b64encode(key).decode().rstrip("=")
    matching = [signer for signer in signers if signer.key.rstrip("=") == named]
    return max(matching, key=lambda signer: signer.trust == "human", default=None)


def _text_at(blob: bytes, start: int) -> bytes | None:
    """The text of SSH's form at ``start``: its length in four bytes, then itself."""
    end = start + 4 + int.from_bytes(blob[start : start + 4], "big")
    return blob[start + 4 : end] if start + 4 < end <= len(blob) else None
