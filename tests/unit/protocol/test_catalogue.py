from __future__ import annotations

import re
from pathlib import Path

import pytest

from memrepo.protocol.catalogue import CATALOGUE, severity_of
from memrepo.protocol.policy import Policy
from memrepo.report.catalogue_page import render_findings_page

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "scripts" / "memrepo"

DOCUMENTED = re.findall(r"^### (\S+)$", PAGE, re.MULTILINE)


def test_codes_are_kebab_case_words_under_their_own_name() -> None:
    for code, rule in CATALOGUE.items():
        assert rule.code == code
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)


def test_every_rule_says_all_it_must() -> None:
    for rule in CATALOGUE.values():
        assert rule.title[0].islower() or rule.title.startswith(("CR", "NaN")), rule.code
        assert not rule.title.endswith("."), rule.code
        assert rule.reason.endswith("."), rule.code
        assert rule.fix.endswith("."), rule.code
        assert rule.example, rule.code


def test_page_is_what_the_catalogue_says() -> None:
    assert render_findings_page() == PAGE


def test_page_has_one_section_a_code() -> None:
    assert sorted(DOCUMENTED) == sorted(CATALOGUE)


def test_links_of_the_page_lead_to_the_codes() -> None:
    # GitHub appends -1 to the anchor of a heading that occurs before.
    headings = [h.lower() for h in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)]
    assert len(set(headings)) == len(headings)
    assert set(re.findall(r"\(#([^)]+)\)", PAGE)) == set(CATALOGUE)


@pytest.mark.parametrize("code", [c for c, r in CATALOGUE.items() if r.switchable])
def test_policy_switches_what_teams_may_differ_about(code: str) -> None:
    assert severity_of(code, Policy()) == CATALOGUE[code].severity
    assert severity_of(code, Policy(severity={code: "note"})) == "note"
    assert severity_of(code, Policy(severity={code: "off"})) is None


@pytest.mark.parametrize("code", [c for c, r in CATALOGUE.items() if not r.switchable])
def test_policy_cannot_switch_the_rest(code: str) -> None:
    policy = Policy(severity={code: "off"})
    assert severity_of(code, policy) == CATALOGUE[code].severity


def test_nothing_that_makes_memory_unreadable_or_forgeable_is_switchable() -> None:
    fixed = {c for c, r in CATALOGUE.items() if not r.switchable}
    assert fixed >= {
        *("encoding", "json-syntax", "duplicate-key", "non-finite-number", "depth"),
        *("conflict-marker", "agent-id", "case-collision", "special-file", "missing-file"),
        *("snapshot-name", "snapshot-changed", "snapshot-mismatch", "schema", "unknown-field"),
        *("policy-changed", "policy-syntax", "policy-unknown-key", "policy-value"),
    }


def test_unknown_code_is_a_mistake_in_the_program() -> None:
    with pytest.raises(KeyError):
        severity_of("no-such-code", Policy())
