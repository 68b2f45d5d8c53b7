"""The policy that counts for records: a given one, or that of the commit at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.protocol.policy import POLICY_PATH, Policy

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import TipView


class TipPolicy:
    """``given`` for all commits, or what each holds; read again only when the file changed."""

    def __init__(self, given: Policy | None) -> None:
        self._given = given
        self._read: tuple[bytes, Policy] = (b"", Policy())

    def of(self, view: TipView) -> Policy:
        """The policy for ``view``."""
        if self._given is not None:
            return self._given
        entry = view.entry(POLICY_PATH)
        oid = entry.oid if entry else b""
        if oid != self._read[0]:
            from memrepo.protocol.policyfile import parse_policy

            data = view.read(POLICY_PATH)
            self._read = (oid, parse_policy(data)[0] if data is not None else Policy())
        return self._read[1]
