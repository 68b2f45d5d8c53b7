"""Say what a change does to shared records, conclusion by conclusion, for reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from memrepo.gate.recordfile import record_hits
from memrepo.gate.withhold import WITHHELD
from memrepo.gitrepo.backing import Backing
from memrepo.protocol.policy import Policy
from memrepo.protocol.record import Record
from memrepo.protocol.recordplace import address_words
from memrepo.protocol.signers import parse_signer, signer_of
from memrepo.recordrules.chain import overwrite_problem
from memrepo.semdiff.records import RecordChange, RecordKind, RecordSide, side_of

#: The path of a record that changed, and the record before and after.
Triple = tuple[str, Record | None, Record | None]


class Shown:
    """Makes the values that reports are rendered from; a text with a secret is left out."""

    def __init__(self, backing: Backing, policy: Policy, known: Mapping[str, Record]) -> None:
        self._backing, self._policy, self._known = backing, policy, known
        lines = map(parse_signer, policy.records.signers)
        self._signers = [signer for signer in lines if signer is not None]

    def changes(self, touched: Iterable[Triple]) -> list[RecordChange]:
        """What happened, in order of address and key; a replacement is one change."""
        triples = list(touched)
        known = {**self._known, **{old.id: old for _, old, _ in triples if old is not None}}
        fresh = {new.id for _, old, new in triples if new is not None and old is None}
        # By the new record: the older one that it took the place of.
        replaced = {
            new.lifecycle.superseded_by: old
            for _, old, new in triples
            if old is not None and new is not None and _only_ended(old, new)
            if new.lifecycle.superseded_by in fresh
        }
        told = {old.id for old in replaced.values()}
        shown = []
        for path, old, new in triples:
            if old is None and new is not None:
                first = replaced.get(new.id) or known.get(new.lifecycle.supersedes or "")
                kind: RecordKind = "replaced" if first else "added"
                shown.append(self._change(path, kind, first, new, new))
            elif old is not None and old != new and old.id not in told:
                shown.append(self._moved(path, old, new))
        return sorted(shown, key=lambda one: (one.address, one.key, one.path))

    def _moved(self, path: str, old: Record, new: Record | None) -> RecordChange:
        if new is None:
            return self._change(path, "removed", old, None, old)
        status = new.lifecycle.status
        if not _only_ended(old, new):
            return self._change(path, "edited", old, new, new)
        if status == "archived":
            return self._change(path, "archived", old, None, new)
        by = self._known.get(new.lifecycle.superseded_by or "")
        return self._change(path, "superseded", old, by, new)

    def _change(
        self,
        path: str,
        kind: RecordKind,
        before: Record | None,
        after: Record | None,
        about: Record,
    ) -> RecordChange:
        hides = self._holds_secret(about)
        return RecordChange(
            path=path,
            key=about.key,
            address=address_words(about.address),
            change=kind,
            before=self._side(before) if before else None,
            after=self._side(after) if after else None,
            reason=WITHHELD if hides and about.lifecycle.reason else about.lifecycle.reason,
        )

    def _side(self, record: Record) -> RecordSide:
        trust = self._backing.trust_of(record)
        signer = signer_of(record.signature, self._signers) if record.signature else None
        backs = signer is not None and not self._backing.problem(record)
        side = side_of(record, trust, signer.name if signer and backs else "")
        return _without_texts(side) if self._holds_secret(record) else side

    def _holds_secret(self, record: Record) -> bool:
        return any(hit.code == "secret" for hit in record_hits(record, self._policy))


def _only_ended(old: Record, new: Record) -> bool:
    """Whether nothing but the end of its life was written into a record."""
    moved = old.lifecycle.status != new.lifecycle.status
    return moved and overwrite_problem(old, new) is None


def _without_texts(side: RecordSide) -> RecordSide:
    return replace(
        side,
        summary=WITHHELD,
        agent=WITHHELD,
        model=WITHHELD if side.model else "",
        evidence=WITHHELD if side.evidence else "",
        code_refs=(),
        attributes={},
        content={},
    )
