"""Which trust of a record counts: its signature checked against the signers of the policy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from memrepo.protocol.record import Record, Trust
from memrepo.protocol.recorddump import signed_bytes
from memrepo.protocol.signers import Signer, parse_signer, signer_of
from memrepo.recordrules.trust import VERIFIED, effective_trust

from .sign import is_signed_by


class Backing:
    """The signers that count, and whom their signatures back.

    ``signers`` are the lines of the policy. A signature costs a process to check, so each
    answer is kept, by a digest of all that it rests on.
    """

    def __init__(self, signers: Iterable[str]) -> None:
        self._signers = [one for one in map(parse_signer, signers) if one]
        self._known: dict[bytes, bool] = {}

    def backed(self, record: Record) -> Trust | None:
        """The trust that a good signature gives ``record``; None without one."""
        signer = signer_of(record.signature, self._signers) if record.signature else None
        if signer is None or not self._is_good(record, signer):
            return None
        return signer.trust

    def trust_of(self, record: Record) -> Trust:
        """The trust that counts: what the record claims, or ``session`` where nothing backs it."""
        claimed = record.written_by.trust
        return effective_trust(claimed, self.backed(record) if claimed in VERIFIED else None)

    def problem(self, record: Record) -> str:
        """Why a claim of ``human`` or ``verified-ci`` does not count, in words; "" where it does.

        Also for a signature that is not good under a record that claims less.
        """
        claimed = record.written_by.trust
        if not record.signature:
            missing = f"it claims {claimed} and is not signed"
            return missing if claimed in VERIFIED else ""
        signer = signer_of(record.signature, self._signers)
        if signer is None:
            return "it is signed by a key that the policy does not list"
        if not self._is_good(record, signer):
            return f"its signature is not the one of {signer.name} over this record"
        if claimed == "human" and signer.trust != "human":
            return f"{signer.name} may give {signer.trust}, not {claimed}"
        return ""

    def _is_good(self, record: Record, signer: Signer) -> bool:
        data = signed_bytes(record)
        parts = (signer.allowed.encode(), record.signature.encode(), data)
        digest = hashlib.sha256(b"\0".join(parts)).digest()
        if digest not in self._known:
            self._known[digest] = is_signed_by(data, record.signature, signer)
        return self._known[digest]
