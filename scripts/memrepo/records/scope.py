"""Which addresses speak to one address: its own, and those it inherits from. Pure."""

from __future__ import annotations

from memrepo.protocol.record import Address
from memrepo.protocol.recordplace import address_folder


def chain(address: Address) -> list[Address]:
    """``address`` and what it inherits, the nearest first: branch or agent, project, org."""
    found = [address]
    if address.scope in ("branch", "agent"):
        found.append(Address(address.org, address.repo))
    if address.scope != "org":
        found.append(Address(address.org, scope="org"))
    return found


def folders(address: Address, *, inherited: bool = True) -> list[str]:
    """The folders of :func:`chain`, the nearest first; the address's own alone on demand."""
    addresses = chain(address) if inherited else [address]
    return [address_folder(one) for one in addresses]
