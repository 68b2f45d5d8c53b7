"""What a record is worth now: the trust that counts, and whether the code it cites still is so."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.protocol.record import Address, Record, Trust
from memrepo.protocol.recordfile import parse_record
from memrepo.protocol.recordplace import address_words
from memrepo.recordrules.coderefs import CodeState, blobs_seen, code_states, factor
from memrepo.recordrules.trust import UNVERIFIED_CONFIDENCE, VERIFIED, is_unverified, rank
from memrepo.records.catalog import Catalog
from memrepo.records.index import Row
from memrepo.records.values import Answer, Summary

if TYPE_CHECKING:
    from memrepo.gitrepo.backing import Backing
    from memrepo.gitrepo.codecheckout import CodeCheckout
    from memrepo.gitrepo.repository import Repository


class Worth:
    """Weighs records by the signers of the policy, and by a checkout of one project's code.

    ``project`` is the address whose organisation and repository ``code`` is a checkout of.
    """

    def __init__(
        self, repo: Repository, catalog: Catalog, project: Address, code: Path | None
    ) -> None:
        self._repo, self._catalog = repo, catalog
        self._project, self._code_path = project, code
        self._checkout: CodeCheckout | None = None
        self._signers: tuple[str, ...] = ()
        self._backing: Backing | None = None
        self._digest = ""
        self._trusted: dict[str, Trust] = {}

    def close(self) -> None:
        """End the Git processes that were kept."""
        if self._checkout:
            self._checkout.close()

    def under(self, signers: tuple[str, ...]) -> None:
        """Weigh by these signers (lines of the policy) from now on."""
        if self._backing is None or signers != self._signers:
            from memrepo.gitrepo.backing import Backing

            self._signers, self._backing = signers, Backing(signers)
            self._digest = hashlib.sha256("\n".join(signers).encode()).hexdigest()
            self._trusted = {}

    def trust_of(self, record: Record) -> Trust:
        """The trust of a record that counts."""
        return self._known_backing().trust_of(record)

    def trusts(self, rows: Sequence[Row]) -> list[Trust]:
        """The same for rows of the index; a signature is looked at once."""
        fresh: list[tuple[str, Trust]] = []
        for row in rows:
            if self._by_itself(row) or row.oid in self._trusted:
                continue
            record = self.read(row)
            self._trusted[row.oid] = self.trust_of(record)
            fresh.append((row.oid, self._trusted[row.oid]))
        if fresh:
            self._catalog.keep(lambda index: index.keep_trusted(self._digest, fresh))
        return [self._by_itself(row) or self._trusted[row.oid] for row in rows]

    def recall(self, oids: Callable[[str], Trust | None], rows: Sequence[Row]) -> None:
        """Take over what the index remembers of the trust of ``rows``."""
        for row in rows:
            if not self._by_itself(row) and row.oid not in self._trusted:
                known = oids(row.oid)
                if known:
                    self._trusted[row.oid] = known

    @property
    def digest(self) -> str:
        """Names the signers, for what the index remembers."""
        return self._digest

    def _by_itself(self, row: Row) -> Trust | None:
        """The trust of a row that no signature can change; None where one has to be seen."""
        if row.claimed not in VERIFIED:
            return row.claimed
        return None if row.signed and self._signers else "session"

    def read(self, row: Row) -> Record:
        """The whole record of a row of the index."""
        record = parse_record(self._repo.trees.blob(bytes.fromhex(row.oid)), row.path)[0]
        if record is None:
            raise AssertionError(f"{row.path} is in the index and cannot be read")
        return record

    def answer(
        self,
        record: Record,
        now: datetime,
        *,
        trust: Trust | None = None,
        notes: Sequence[str] = (),
    ) -> Answer:
        """The record with everything that bears on it now."""
        counts = trust or self.trust_of(record)
        code = self.code_of(record)
        sure = min(record.confidence, _most_confidence(record.kind, counts)) * factor(code)
        ends = record.expires_at
        expired = ends is not None and ends <= now
        said = [*self._about(record, counts), *_about_life(record, now), *_about_code(code), *notes]
        return Answer(record, counts, sure, code, expired, tuple(said))

    def code_of(self, record: Record) -> tuple[CodeState, ...]:
        """The state of each code reference of ``record``."""
        if not record.attributes.get("code_refs"):
            return ()
        if not self.is_about_code(record.address):
            why = f"it is about {address_words(record.address)}" if self._code_path else ""
            return code_states(record, None, why=why)
        return code_states(record, self._opened())

    def is_about_code(self, address: Address) -> bool:
        """Whether the checkout, if there is one, is of the code at ``address``."""
        own = (self._project.org, self._project.repo)
        return bool(self._code_path and address.repo) and (address.org, address.repo) == own

    def blobs_now(self, refs: Sequence[str], address: Address) -> dict[str, str]:
        """The blobs that references of a new record are about; {} without a checkout."""
        if not refs or not self.is_about_code(address):
            return {}
        return blobs_seen(refs, self._opened(), address.branch)

    def summary(self, row: Row, trust: Trust, now: datetime) -> Summary:
        """A row of the index as a list shows it."""
        created, ends = row.times
        return Summary(
            id=row.id,
            key=row.key,
            kind=row.kind,
            summary=row.summary,
            address=row.place,
            agent=row.agent,
            model=row.model,
            trust=trust,
            confidence=min(row.confidence, _most_confidence(row.kind, trust)),
            status=row.status,
            created_at=created,
            expires_at=ends,
            expired=row.has_ended(now),
        )

    def problem(self, record: Record) -> str:
        """Why a claim of a record does not count; "" where it does."""
        return self._known_backing().problem(record)

    def _about(self, record: Record, trust: Trust) -> list[str]:
        claimed = record.written_by.trust
        why = self.problem(record) if claimed in VERIFIED or record.signature else ""
        if why and trust != claimed:
            return [f"it counts as {trust}: {why}"]
        return [why] if why else []

    def _opened(self) -> CodeCheckout:
        if self._checkout is None:
            from memrepo.gitrepo.codecheckout import CodeCheckout

            if self._code_path is None:
                raise AssertionError("there is no checkout")
            self._checkout = CodeCheckout(self._code_path)
        return self._checkout

    def _known_backing(self) -> Backing:
        self.under(self._signers)
        if self._backing is None:
            raise AssertionError("no signers")
        return self._backing


def weight(trust: Trust) -> int:
    """What comes first among addresses: verified by whomever, then the rest by its trust."""
    return len(VERIFIED) + 9 if trust in VERIFIED else rank(trust)


def _most_confidence(kind: str, trust: Trust) -> float:
    """The most that a record can be worth, whatever it says of itself."""
    return UNVERIFIED_CONFIDENCE - 0.01 if is_unverified(kind, trust) else 1.0


def _about_life(record: Record, now: datetime) -> list[str]:
    life, ends = record.lifecycle, record.expires_at
    said = []
    if life.status == "superseded":
        said.append(f"superseded by {life.superseded_by}")
    if life.status == "archived":
        said.append(f"archived: {life.reason}" if life.reason else "archived")
    if life.status == "active" and ends is not None and ends <= now:
        said.append("past its end")
    return said


def _about_code(code: Sequence[CodeState]) -> list[str]:
    return [
        f"{one.ref}: {one.state}{f', now {one.now}' if one.now else ''}: {one.why}"
        for one in code
        if one.state in ("changed", "missing", "moved")
    ]
