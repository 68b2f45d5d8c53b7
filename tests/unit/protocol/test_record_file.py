from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import BadInput
from memrepo.protocol.record import Address, Lifecycle, Record, Writer
from memrepo.protocol.recorddump import dump_record, signed_bytes
from memrepo.protocol.recordfile import parse_record, read_record
from memrepo.protocol.recordplace import (
    address_folder,
    address_problem,
    new_record_id,
    record_id_problem,
    record_path,
)
from memrepo.protocol.recordquick import read_canonical
from recordfiles import NOW, WEB, a_record

SIGNATURE = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
leaves = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | texts
values = st.recursive(
    leaves | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts.filter(bool), inner, max_size=3)
    ),
    max_leaves=6,
)
extras = st.dictionaries(
    texts.filter(lambda key: key not in ("", "kind", "summary")), values, max_size=3
)


def place(record: Record) -> str:
    return record_path(record.address, record.id)


def wrong(text: str, record: Record) -> tuple[str, str, int, int]:
    """Code, pointer, line and column of the only finding."""
    found, findings = parse_record(text.encode(), place(record))
    assert found is None
    (finding,) = findings
    return finding.code, finding.pointer, finding.line, finding.column


# --- what is written is what is read


def test_a_record_as_people_see_it() -> None:
    record = a_record(
        id="mem_01JDZ9A6S0QG3V6Z1XQ2N5H8KB", code_refs=["src/pool.py:20"], signature=SIGNATURE
    )
    assert (
        dump_record(record).decode()
        == """\
schema: agent-memory/0.1
id: mem_01JDZ9A6S0QG3V6Z1XQ2N5H8KB
key: pool-size
address:
  org: acme
  repo: web
  scope: project
written_by:
  agent: codex
  model: gpt
  trust: session
created_at: 2026-11-30T12:00:00Z
updated_at: 2026-11-30T12:00:00Z
lifecycle:
  status: active
  ttl_seconds: 3600
  supersedes: null
attributes:
  kind: fact
  confidence: 0.5
  code_refs: ["src/pool.py:20"]
content:
  summary: "Twenty connections are enough."
signature: |
  -----BEGIN SSH SIGNATURE-----
  U1NIU0lH
  -----END SSH SIGNATURE-----
"""
    )
    assert place(record) == "records/project/acme/web/01JD/mem_01JDZ9A6S0QG3V6Z1XQ2N5H8KB.yml"


@given(extras, extras, texts, st.sampled_from(["", SIGNATURE]))
def test_whatever_it_holds_comes_back(
    attributes: dict[str, Any], content: dict[str, Any], reason: str, signature: str
) -> None:
    record = a_record(
        attributes={"kind": "fact", **attributes, "confidence": 0.25, "code_refs": []},
        content={"summary": "x", **content},
        reason=reason,
        signature=signature,
    )
    data = dump_record(record)
    assert parse_record(data, place(record)) == (record, [])
    quick = read_canonical(data)
    assert quick is None or dump_record(quick) == data
    # The slow way reads the same out of the same bytes: a comment stops the quick one.
    slow = parse_record(b"# a comment\n" + data, place(record))
    assert slow == (record, [])
    assert slow[0] is not None
    assert dump_record(slow[0]) == data


@given(extras)
def test_another_yaml_reader_reads_the_same_texts(content: dict[str, Any]) -> None:
    only_texts = {key: value for key, value in content.items() if isinstance(value, str)}
    record = a_record(content={"summary": "no", **only_texts})
    assert yaml.safe_load(dump_record(record))["content"] == record.content


def test_the_usual_record_is_read_the_quick_way() -> None:
    record = a_record(code_refs=["a.py:1"], reason="x: y", signature=SIGNATURE)
    assert read_canonical(dump_record(record)) == record


@given(st.binary(max_size=200))
def test_no_bytes_are_a_traceback(noise: bytes) -> None:
    record = a_record()
    data = dump_record(record)
    for bytes_given in (noise, data + noise, data[: len(noise)] + noise + data[len(noise) :]):
        found, findings = parse_record(bytes_given, place(record))
        assert (found is None) == bool(findings)
        assert {finding.code for finding in findings} <= {"record-schema", "record-address"}


# --- what is refused, and where


@pytest.mark.parametrize(
    ("old", "new", "pointer", "line", "column"),
    [
        ("schema: agent-memory/0.1", "schema: agent-memory/0.2", "/schema", 1, 9),
        ("key: pool-size", "key: Pool_size", "/key", 3, 6),
        ("key: pool-size", f"key: {'a' * 101}", "/key", 3, 6),
        ("key: pool-size", "key: pool-size\nextra: 1", "/extra", 4, 1),
        ("  org: acme", "  org: Acme", "/address/org", 5, 8),
        ("  org: acme", "  org: a b", "/address/org", 5, 8),
        ("  org: acme", "  org: ..", "/address/org", 5, 8),
        ("  repo: web", "  branch: web", "/address/repo", 5, 3),
        ("  scope: project", "  scope: org", "/address/repo", 6, 9),
        ("  scope: project", "  scope: world", "/address/scope", 7, 10),
        ("  trust: session", "  trust: admin", "/written_by/trust", 11, 10),
        ("  trust: session", "  trust: session\n  role: x", "/written_by/role", 12, 3),
        ("  agent: codex", "  agent: ''", "/written_by/agent", 9, 10),
        ("created_at: 2026-11-30T12:00:00Z", "created_at: today", "/created_at", 12, 13),
        ("created_at: 2026-11-30T12:00:00Z", "created_at: 2026-11-30", "/created_at", 12, 13),
        ("  status: active", "  status: gone", "/lifecycle/status", 15, 11),
        ("  ttl_seconds: 3600", "  ttl_seconds: 0", "/lifecycle/ttl_seconds", 16, 16),
        ("  ttl_seconds: 3600", "  ttl_seconds: 4000000000", "/lifecycle/ttl_seconds", 16, 16),
        ("  ttl_seconds: 3600", "  ttl_seconds: 1.5", "/lifecycle/ttl_seconds", 16, 16),
        ("  supersedes: null", "  supersedes: mem_1", "/lifecycle/supersedes", 17, 15),
        ("  kind: fact", "  kind: A fact", "/attributes/kind", 19, 9),
        ("  confidence: 0.5", "  confidence: 1.01", "/attributes/confidence", 20, 15),
        ("  confidence: 0.5", "  confidence: true", "/attributes/confidence", 20, 15),
        ("  confidence: 0.5", "  confidence: '0.5'", "/attributes/confidence", 20, 15),
        ("  confidence: 0.5", "  code_refs: a.py", "/attributes/code_refs", 20, 14),
        (
            '  summary: "Twenty connections are enough."',
            '  summary: " "',
            "/content/summary",
            22,
            12,
        ),
        ('  summary: "Twenty connections are enough."', "  text: x", "/content/summary", 22, 3),
        ("content:\n", "signature: mine\ncontent:\n", "/signature", 21, 12),
        ("key: pool-size", "key: &a pool-size", "", 3, 6),
    ],
)
def test_each_mistake_has_its_place(
    old: str, new: str, pointer: str, line: int, column: int
) -> None:
    record = a_record()
    text = dump_record(record).decode()
    assert old in text
    found = wrong(text.replace(old, new, 1), record)
    assert found == ("record-schema", pointer, line, column)


@pytest.mark.parametrize("name", ["id", "key", "address", "written_by", "created_at", "content"])
def test_a_missing_field_is_named(name: str) -> None:
    record = a_record()
    fields = yaml.safe_load(dump_record(record))
    del fields[name]
    text = yaml.safe_dump(fields, sort_keys=False).replace("'", "")
    text = re.sub(r"(_at: \d{4}-\d\d-\d\d) (\S+)\+00:00", r"\1T\2Z", text)
    found, findings = parse_record(text.encode(), place(record))
    assert found is None
    assert [f"`{name}`" in finding.message for finding in findings] == [True]


def test_a_record_elsewhere_than_its_address_says() -> None:
    record = a_record()
    for path in (
        f"records/{record.id}.yml",
        place(record).replace("web", "shop"),
        place(record).replace(".yml", ".yaml"),
        place(a_record()),
    ):
        found, (finding,) = parse_record(dump_record(record), path)
        assert found is None
        assert finding.code == "record-address"
        assert place(record) in finding.hint


@pytest.mark.parametrize("levels", range(10, 20))
def test_both_ways_of_reading_have_one_limit_of_depth(levels: int) -> None:
    deep: Any = "x"
    for _ in range(levels):
        deep = [deep]
    record = a_record(content={"summary": "x", "deep": deep})
    quick = parse_record(dump_record(record), place(record))
    slow = parse_record(b"# a comment\n" + dump_record(record), place(record))
    assert quick[0] == slow[0]
    assert (levels > 14) == (quick[0] is None)


def test_both_ways_of_reading_have_one_limit_of_bytes() -> None:
    record = a_record(content={"summary": "x", "details": "y" * 70_000})
    for data in (dump_record(record), b"# a comment\n" + dump_record(record)):
        found, (finding,) = parse_record(data, place(record))
        assert found is None
        assert "65,536 is the most" in finding.message


def test_the_first_mistake_is_told_with_its_place() -> None:
    record = a_record()
    with pytest.raises(BadInput, match=r"\.yml:3:6: `key` must be kebab-case"):
        read_record(dump_record(record).replace(b"key: pool-size", b"key: X"), place(record))


# --- ids, paths, what a signature covers


@given(st.datetimes(datetime(1971, 1, 1), datetime(2400, 1, 1)))
def test_an_id_keeps_its_time_and_sorts_by_it(naive: datetime) -> None:
    when = naive.replace(tzinfo=UTC, microsecond=naive.microsecond // 1000 * 1000)
    one, later = new_record_id(when), new_record_id(when + timedelta(seconds=1))
    assert record_id_problem(one) is None
    assert one < later
    digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    number = 0
    for letter in one[4:14]:
        number = number * 32 + digits.index(letter)
    assert abs(number / 1000 - when.timestamp()) <= 0.001


names = st.text("aAbB/.%-_é", min_size=1, max_size=8)
addresses = st.builds(Address, org=names, repo=names, branch=names, scope=st.just("branch"))


@given(addresses, addresses)
def test_two_addresses_never_share_a_folder(one: Address, other: Address) -> None:
    if address_problem(one) or address_problem(other):
        return
    folders = [address_folder(address) for address in (one, other)]
    assert (folders[0].casefold() == folders[1].casefold()) == (one == other)
    for part in folders[0].split("/"):
        assert re.fullmatch(r"[a-z0-9_%-]([a-z0-9._%-]*[a-z0-9_%-])?", part)


@pytest.mark.parametrize(
    ("address", "folder"),
    [
        (Address("acme", scope="org"), "records/org/acme"),
        (Address("acme", "web"), "records/project/acme/web"),
        (Address("acme", "web", "feature/X", "branch"), "records/branch/acme/web/feature%2f%58"),
        (Address("acme", "web", scope="agent", agent="ci"), "records/agent/acme/web/ci"),
        (Address("group/team", ".web."), "records/project/group%2fteam/%2eweb%2e"),
    ],
)
def test_folders_of_addresses(address: Address, folder: str) -> None:
    assert address_folder(address) == folder


def test_a_signature_covers_all_that_must_not_change() -> None:
    record = a_record(signature=SIGNATURE)
    end = Lifecycle("superseded", 3600, superseded_by=record.id, reason="newer")
    ended = msgspec.structs.replace(
        record, lifecycle=end, updated_at=NOW + timedelta(days=1), signature=""
    )
    assert signed_bytes(ended) == signed_bytes(record)
    others = [
        {"key": "other"},
        {"address": Address("acme", "shop")},
        {"written_by": Writer("codex", "gpt", "human")},
        {"created_at": NOW + timedelta(seconds=1)},
        {"lifecycle": Lifecycle("active", None)},
        {"lifecycle": Lifecycle("active", 3600, supersedes=record.id)},
        {"attributes": {**record.attributes, "confidence": 0.6}},
        {"content": {"summary": "Thirty."}},
    ]
    for change in others:
        assert signed_bytes(msgspec.structs.replace(record, **change)) != signed_bytes(record)


def test_when_a_record_holds() -> None:
    record = a_record(ttl_seconds=60)
    assert record.expires_at == NOW + timedelta(seconds=60)
    assert record.is_active(NOW + timedelta(seconds=59))
    assert not record.is_active(NOW + timedelta(seconds=60))
    forever = a_record(ttl_seconds=None)
    assert forever.is_active(NOW + timedelta(days=36_500))
    assert not a_record(status="archived").is_active(NOW)
    assert math.isclose(record.confidence, 0.5)
    assert record.address == WEB
