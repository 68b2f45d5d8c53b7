"""``personal-data``: numbers that can be a card or an SSN, and no other numbers."""

from __future__ import annotations

import pytest

from memrepo.protocol.policy import Policy, Text
from memrepo.rules.text import scan_document, scan_plain

CARDS = {
    "4111111111111111": "Visa",
    "4111 1111 1111 1111": "Visa",
    "4111-1111-1111-1111": "Visa",
    "4222222222222": "Visa",
    "5555555555554444": "Mastercard",
    "2221000000000009": "Mastercard",
    "3782 822463 10005": "American Express",
    "30569309025904": "Diners Club",
    "6011111111111117": "Discover",
    "3530111333300000": "JCB",
    "6250941006528599": "UnionPay",
    "４１１１１１１１１１１１１１１１": "Visa",
}


def found(text: str, policy: Policy | None = None) -> list[tuple[int, str]]:
    hits = scan_plain(text, policy or Policy(), path="x.md")
    return [(h.offset, h.message) for h in hits if h.code == "personal-data"]


@pytest.mark.parametrize("number", CARDS)
def test_a_card_number_is_found_and_not_printed(number: str) -> None:
    ((offset, message),) = found(f"pay with {number}, please")
    assert offset == 9
    assert CARDS[number] in message
    assert number not in message


@pytest.mark.parametrize(
    "text",
    [
        "4111111111111112",  # check digit
        "1111111111111117",  # no issuer
        "411111111111111",  # length
        "41 11 11 11 11 11 11 11",  # no card is written so
        "4111 1111-1111 1111",
        "94111111111111111",
        "4111111111111111.5",
        "id_4111111111111111",
        "x4111111111111111",
        "4111111111111111-2",
        "20240520153000 20240520",
        "+1 415 555 0132 and +1 415 555 0133",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_other_numbers_are_quiet(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("123-45-6789", 0),
        ("it is 536-90-4399.", 6),
        ("SSN 536904399", 4),
        ("social security number is 536 90 4399", 26),
    ],
)
def test_an_ssn_is_found(text: str, offset: int) -> None:
    assert found(text) == [(offset, "a US social security number")]


@pytest.mark.parametrize(
    "text",
    [
        "000-12-3456",
        "666-12-3456",
        "900-12-3456",
        "123-00-4567",
        "123-45-0000",
        "078-05-1120",
        "1123-45-6789",
        "123-45-67890",
        "123-45-6789-0",
        "536904399",
        "order 536 90 4399",
        "2024-05-20",
    ],
)
def test_what_cannot_be_an_ssn_is_quiet(text: str) -> None:
    assert found(text) == []


def test_the_policy_can_allow_a_number() -> None:
    for allowed in ("4111 1111 1111 1111", "4111111111111111"):
        policy = Policy(text=Text(allow=(allowed,)))
        assert found("4111 1111 1111 1111", policy) == []
    assert found("4111 1111 1111 1111", Policy(text=Text(allow=("4111",))))


def test_a_json_number_can_be_a_card() -> None:
    data = b'[{"default": 4111111111111111, "other": 4111111111111112}]'
    value = [{"default": 4111111111111111, "other": 4111111111111112}]
    hits = scan_document("tools", data, value, Policy())
    assert [(h.code, h.pointer, h.offset) for h in hits] == [("personal-data", "/0/default", -1)]
