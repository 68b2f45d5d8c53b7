"""Which addresses a model may name: what the operator set, and what lies inside it. Pure."""

from __future__ import annotations

import msgspec

from memrepo.errors import UsageError
from memrepo.protocol.record import Address, Scope, Trust, Writer
from memrepo.protocol.recordplace import address_words
from memrepo.records.scope import chain


class Asked(msgspec.Struct, frozen=True):
    """An address as a model names it; what it leaves out is as in the server's own."""

    scope: Scope | None = None
    org: str | None = None
    repo: str | None = None
    branch: str | None = None
    agent: str | None = None


class Operator(msgspec.Struct, frozen=True):
    """What the person who started the server decided: address, writer, and whether to write."""

    own: Address
    writer: Writer
    read_only: bool = False

    @property
    def trust(self) -> Trust:
        """The trust that the server's records claim."""
        return self.writer.trust

    def to_write(self, asked: Asked | None) -> Address:
        """Where to write.  Raises UsageError for an address outside the server's own."""
        address = self._named(asked)
        if not self._is_inside(address):
            raise _outside(address, self.own, "writes")
        return address

    def to_read(self, asked: Asked | None) -> Address:
        """Where to read: also what the server's own address inherits.  Raises UsageError."""
        address = self._named(asked)
        if not self._is_inside(address) and address not in chain(self.own):
            raise _outside(address, self.own, "reads")
        return address

    def _is_inside(self, address: Address) -> bool:
        """Whether ``address`` is the own one, a branch of the own project, or the own notes."""
        own = self.own
        if address == own:
            return True
        if own.scope == "org" or (address.org, address.repo) != (own.org, own.repo):
            return False
        if address.scope == "agent":
            return address.agent == self.writer.agent
        return own.scope == "project" and address.scope == "branch"

    def _named(self, asked: Asked | None) -> Address:
        own = self.own
        if asked is None or asked == Asked():
            return own
        scope = asked.scope or _scope_of(asked) or own.scope
        return Address(
            org=(asked.org or own.org).lower(),
            repo="" if scope == "org" else (asked.repo or own.repo).lower(),
            branch=(asked.branch or own.branch) if scope == "branch" else "",
            scope=scope,
            agent=(asked.agent or self.writer.agent) if scope == "agent" else "",
        )


def _scope_of(asked: Asked) -> Scope | None:
    if asked.branch:
        return "branch"
    return "agent" if asked.agent else None


def _outside(address: Address, own: Address, verb: str) -> UsageError:
    inside = f"this server {verb} at {address_words(own)} and inside it"
    return UsageError(
        f"{address_words(address)} is outside: {inside}",
        "leave the address out, or ask whoever runs the server for another one",
    )
