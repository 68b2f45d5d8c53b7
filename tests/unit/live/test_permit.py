"""Which addresses a model may name."""

from __future__ import annotations

import pytest

from memrepo.errors import UsageError
from memrepo.live.permit import Asked, Operator
from memrepo.protocol.record import Address, Writer

ORG = Address("acme", scope="org")
WEB = Address("acme", "web")
MAIN = Address("acme", "web", "main", "branch")
FIX = Address("acme", "web", "fix/a", "branch")
NOTES = Address("acme", "web", scope="agent", agent="codex")
THEIRS = Address("acme", "web", scope="agent", agent="cursor")
SHOP = Address("acme", "shop")


def operator(own: Address) -> Operator:
    return Operator(own, Writer("codex"))


def asked(address: Address) -> Asked:
    return Asked(
        address.scope,
        address.org,
        address.repo or None,
        address.branch or None,
        address.agent or None,
    )


@pytest.mark.parametrize(
    ("own", "writes", "reads"),
    [
        (WEB, (WEB, MAIN, FIX, NOTES), (ORG,)),
        (MAIN, (MAIN, NOTES), (WEB, ORG)),
        (NOTES, (NOTES,), (WEB, ORG)),
        (ORG, (ORG,), ()),
    ],
)
def test_what_lies_inside_is_written_and_what_is_inherited_only_read(
    own: Address, writes: tuple[Address, ...], reads: tuple[Address, ...]
) -> None:
    for address in (ORG, WEB, MAIN, FIX, NOTES, THEIRS, SHOP, Address("other", "web")):
        given = asked(address)
        if address in writes:
            assert operator(own).to_write(given) == address
        else:
            with pytest.raises(UsageError, match="is outside"):
                operator(own).to_write(given)
        if address in (*writes, *reads):
            assert operator(own).to_read(given) == address
        else:
            with pytest.raises(UsageError, match="is outside"):
                operator(own).to_read(given)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (None, MAIN),
        (Asked(), MAIN),
        (Asked(scope="agent"), NOTES),
        (Asked(agent="codex"), NOTES),
        (Asked(branch="main"), MAIN),
        (Asked(scope="project"), WEB),
        (Asked(scope="org"), ORG),
        (Asked(org="ACME", repo="Web", scope="project"), WEB),
    ],
)
def test_what_is_left_out_is_as_in_the_servers_own(given: Asked | None, address: Address) -> None:
    assert operator(MAIN).to_read(given) == address
