from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from jsonschema import Draft7Validator

from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.findings import Finding
from memrepo.report.sarif import findings_sarif
from unit.report.hostile import hostile_text
from unit.report.sample import review_of_text, sample_findings


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


_TEXT = {"type": "string", "minLength": 1}
_MESSAGE = _object(["text"], text=_TEXT, markdown=_TEXT)
_COUNT = {"type": "integer", "minimum": 1}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_URI = {"type": "string", "pattern": r"^(?!/)(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+$"}
_RULE = _object(
    ["id"],
    id=_TEXT,
    name=_TEXT,
    shortDescription=_MESSAGE,
    fullDescription=_MESSAGE,
    help=_MESSAGE,
    defaultConfiguration=_object(["level"], level=_LEVEL),
    properties=_object(["tags"], tags=_list(_TEXT, uniqueItems=True)),
)
_LOCATION = _object(
    ["physicalLocation"],
    physicalLocation=_object(
        ["artifactLocation"],
        artifactLocation=_object(["uri"], uri=_URI, uriBaseId=_TEXT),
        region=_object(["startLine"], startLine=_COUNT, startColumn=_COUNT),
    ),
    logicalLocations=_list(_object([], fullyQualifiedName=_TEXT, kind=_TEXT)),
)
_RESULT = _object(
    ["ruleId", "level", "message", "locations", "partialFingerprints"],
    ruleId=_TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=_LEVEL,
    message=_MESSAGE,
    locations=_list(_LOCATION, minItems=1, maxItems=1),
    partialFingerprints={"type": "object", "additionalProperties": _TEXT},
    properties=_object(["agentId"], agentId={"type": "string"}),
)
_DRIVER = _object(["name"], name=_TEXT, semanticVersion=_TEXT, rules=_list(_RULE))
_RUN = _object(
    ["tool", "results"],
    tool=_object(["driver"], driver=_DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=_list(_RESULT),
)
#: The part of the standard's schema that our logs use, and nothing beside it.
_LOG = _object(
    ["version", "runs"],
    version={"const": "2.1.0"},
    runs=_list(_RUN, minItems=1, maxItems=1),
    **{"$schema": _TEXT},
)


def _run(findings: list[Finding]) -> dict[str, Any]:
    log = findings_sarif(findings, catalogue=CATALOGUE)
    log = json.loads(json.dumps(log))
    Draft7Validator(_LOG).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def test_each_result_points_to_its_rule() -> None:
    run = _run(sample_findings())
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [
        finding.code for finding in sample_findings()
    ]
    assert len({rule["id"] for rule in rules}) == len(rules)


def test_levels_and_regions() -> None:
    hidden = _run(sample_findings())["results"][1]
    assert hidden["level"] == "error"
    assert hidden["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "state/support-eu/context.json", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 64, "startColumn": 98},
    }
    assert hidden["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "/12/content"


def test_a_rule_explains_itself() -> None:
    rule = _run(sample_findings())["tool"]["driver"]["rules"][1]
    source = CATALOGUE["hidden-text"]
    assert (rule["id"], rule["name"]) == ("hidden-text", "HiddenText")
    assert rule["defaultConfiguration"] == {"level": source.severity}
    assert source.fix in rule["help"]["text"]
    assert "severity: {hidden-text: …}" in rule["help"]["markdown"]


def test_every_rule_of_the_catalogue_fits() -> None:
    findings = [
        Finding(code=code, severity=rule.severity, path="p", message="m")
        for code, rule in CATALOGUE.items()
    ]
    assert len(_run(findings)["tool"]["driver"]["rules"]) == len(CATALOGUE)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("state/a b/context.json", "state/a%20b/context.json"),
        ("a:b", "a%3Ab"),
        ("100%#?", "100%25%23%3F"),
        ("é", "%C3%A9"),
        ("\udcff", "%FF"),
        ("\ud800", "%ED%A0%80"),
        ("//host/x", "host/x"),
        ("", "."),
    ],
)
def test_paths_are_relative_uris(path: str, uri: str) -> None:
    result = _run([Finding(code="c", severity="note", path=path, message="m")])["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def _prints(findings: list[Finding]) -> list[str]:
    return [result["partialFingerprints"]["memrepo/v1"] for result in _run(findings)["results"]]


def test_a_fingerprint_outlives_other_lines_and_other_words() -> None:
    finding = sample_findings()[1]
    moved = msgspec.structs.replace(finding, line=80, column=2, message="reworded", hint="")
    elsewhere = msgspec.structs.replace(finding, pointer="/3/content")
    assert _prints([finding]) == _prints([moved]) != _prints([elsewhere])


def test_two_findings_of_one_place_have_two_fingerprints() -> None:
    finding = sample_findings()[1]
    assert len(set(_prints([finding, msgspec.structs.replace(finding, column=99)]))) == 2


def test_text_is_no_embedded_link() -> None:
    finding = Finding(code="c", severity="note", path="p", message="[a](b) [c]")
    assert _run([finding])["results"][0]["message"]["text"] == "\\[a](b) [c]"


@given(hostile_text)
def test_any_text_gives_a_valid_log(text: str) -> None:
    finding = review_of_text(text).findings[0]
    odd = msgspec.structs.replace(finding, code=text or "c", line=0)
    log = findings_sarif([finding, odd], catalogue=CATALOGUE)
    Draft7Validator(_LOG).validate(log)
    json.dumps(log, ensure_ascii=False).encode()
