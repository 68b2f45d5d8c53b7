"""``sensitive-word``: whole words, whatever their case or spelling."""

from __future__ import annotations

import pytest

from memrepo.protocol.policy import POLICY_PATH, Policy, Text
from memrepo.rules.text import scan_plain


def found(text: str, *words: str, path: str = "x.md") -> list[tuple[int, str]]:
    policy = Policy(text=Text(sensitive_words=words)) if words else Policy()
    hits = scan_plain(text, policy, path=path)
    return [(h.offset, h.message.split('"')[1]) for h in hits if h.code == "sensitive-word"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("the token", [(4, "token")]),
        ("Token: PASSWORD", [(0, "Token"), (7, "PASSWORD")]),
        ("a token-based ssn.", [(2, "token"), (14, "ssn")]),
        ("ｐａｓｓｗｏｒｄ", [(0, "ｐａｓｓｗｏｒｄ")]),
        ("é pass\u200bword", [(2, "pass<U+200B>word")]),
        ("“token”", [(1, "token")]),
        ("日本token", []),
        ("tokens", []),
        ("token_id", []),
        ("mytoken", []),
        ("token\u0301", []),
        ("assn", []),
    ],
)
def test_whole_words(text: str, places: list[tuple[int, str]]) -> None:
    assert found(text) == places


def test_the_list_is_the_policys() -> None:
    assert found("a token", "dog") == []
    assert found("Credit \n card", "credit card") == [(0, "Credit card")]
    assert found("in C++ and C+", "c++") == [(3, "C++")]
    assert found("STRASSE", "straße") == [(0, "STRASSE")]
    assert found("的密码是", "密码") == []  # letters on both sides: part of a longer word
    assert found("密码 123", "密码") == [(0, "密码")]
    assert found("mi contraseña", "contraseña") == [(3, "contraseña")]
    assert found("a ¡ b", "¡") == [(2, "¡")]
    assert found("a token", "", "  ") == []
    assert found("a token b", "b token", "tok") == []


def test_the_policy_file_may_name_the_words() -> None:
    assert found("sensitive_words: [token]", path=POLICY_PATH) == []
    assert found("sensitive_words: [token]", path="notes/policy.yml") != []


def test_places_in_one_string_are_bounded() -> None:
    assert len(found("token " * 100)) == 10
