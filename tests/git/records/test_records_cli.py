"""``memrepo records`` and ``memrepo brief``: options, answers, exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commandline import Ran, memrepo, memrepo_process
from recordstores import make_key, policy_of
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
WEB = ("--org", "acme", "--repo", "web")
KEY = ("--key", "pool-size", "--summary", "Twenty are enough.")


class AnswerShape(msgspec.Struct, forbid_unknown_fields=True):
    record: dict[str, Any]
    trust: str
    effective_confidence: float
    code_refs: list[dict[str, str]]
    expired: bool
    notes: list[str]


class FoundShape(AnswerShape):
    score: float


class WrittenShape(AnswerShape):
    changed: bool
    commit: str
    superseded: str | None
    pushed: bool
    push_failed: str
    findings: list[dict[str, Any]]


class SummaryShape(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    key: str
    kind: str
    summary: str
    address: dict[str, str]
    agent: str
    model: str
    trust: str
    confidence: float
    status: str
    created_at: str
    expires_at: str | None
    expired: bool


class SweptShape(msgspec.Struct, forbid_unknown_fields=True):
    archived: list[str]
    commit: str
    pushed: bool
    push_failed: str
    notes: list[str]


class BriefShape(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    tokens: int
    shown: int
    left_out: int
    records: list[AnswerShape]


@pytest.fixture
def repo(memory_repo: MakeRepo) -> GitRepo:
    return memory_repo("agent-1")


def records(repo: GitRepo, *words: str | Path) -> Ran:
    """``memrepo records WORDS`` on ``repo``."""
    return memrepo_process(repo.path, "records", *map(str, words))


def shaped(ran: Ran, shape: Any) -> Any:
    assert ran.code == 0, ran
    return msgspec.json.decode(ran.out, type=shape)


def test_every_answer_in_json_has_its_shape(repo: GitRepo) -> None:
    wrote = shaped(records(repo, "write", *WEB, *KEY, "--ttl", "12h", "--json"), WrittenShape)
    record_id = wrote.record["id"]
    assert wrote.record["lifecycle"]["ttl_seconds"] == 43_200
    assert wrote.record["written_by"]["agent"] == repo.git("log", "-1", "--format=%an")
    shaped(records(repo, "read", "pool-size", *WEB, "--json"), AnswerShape)
    assert len(shaped(records(repo, "list", *WEB, "--json"), list[SummaryShape])) == 1
    assert len(shaped(records(repo, "search", "enough", *WEB, "--json"), list[FoundShape])) == 1
    brief = shaped(memrepo(repo, "brief", *WEB, "--json"), BriefShape)
    assert (brief.shown, brief.left_out) == (1, 0)
    assert shaped(records(repo, "verify", "--json"), list[Any]) == []
    archived = records(repo, "archive", record_id, "--reason", "x", *WEB, "--json")
    assert shaped(archived, WrittenShape).record["lifecycle"]["status"] == "archived"
    assert shaped(records(repo, "sweep", "--json"), SweptShape).archived == []


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("write", *WEB, *KEY, "--kind", "constraint"), 1, "needs the trust human"),
        (("write", *WEB, *KEY, "--ttl", "soon"), 2, "no span of time"),
        (("write", *WEB, *KEY, "--confidence", "nan"), 1, "record-schema"),
        (("write", *KEY), 2, "no organisation is named"),
        (("write", *WEB, *KEY, "--scope", "branch"), 2, "needs a branch"),
        (("write", *WEB, *KEY, "--expect", "x"), 2, "no id"),
        (("write", *WEB, *KEY, "--signing-key", "none", "--trust", "human"), 2, "no signing key"),
        (("write", *WEB, *KEY, "--code", "/"), 2, "no checkout|repository"),
        (("write", *WEB, *KEY, "--push"), 4, "no remote called origin"),
        (("read", "pool-size", *WEB), 2, "no active record"),
        (("read", "Pool Size", *WEB), 2, "no key"),
        (("archive", "mem_x", "--reason", "x", *WEB), 2, "no id"),
        (("sweep", "--push"), 4, "no remote called origin"),
    ],
)
def test_what_cannot_be_done_says_why(
    repo: GitRepo, words: tuple[str, ...], code: int, says: str
) -> None:
    import re

    ran = records(repo, *words, *(("--code-ref", "a.py:1") if "--code" in words else ()))
    assert ran.code == code, ran
    assert re.search(says, ran.err), ran.err
    assert "Traceback" not in ran.err


def test_text_of_others_is_escaped_at_a_terminal(repo: GitRepo) -> None:
    repo.write(".memrepo/policy.yml", "version: 1\nseverity:\n  hidden-text: note\n")
    repo.commit("policy")
    hostile = "x\u202e\x1b[31m\n::error::y\nkey: forged"
    wrote = records(repo, "write", *WEB, "--key", "a", "--summary", hostile)
    assert wrote.code == 0, wrote
    for words in (("read", "a"), ("list",), ("search", "forged")):
        ran = records(repo, *words, *WEB)
        assert ran.code == 0
        assert not {"\x1b", "\u202e"} & set(ran.out)
        assert not [
            line for line in ran.out.splitlines() if line.startswith(("::error", "key: forged"))
        ]
    brief = memrepo(repo, "brief", *WEB)
    assert len(brief.out.splitlines()) == 2
    assert not {"\x1b", "\u202e"} & set(brief.out)


def test_the_address_may_come_from_the_code_that_was_cloned(
    repo: GitRepo, memory_repo: MakeRepo
) -> None:
    code = memory_repo(name="code")
    code.git("remote", "add", "origin", "git@github.com:Acme/Web.git")
    code.write("a.py", "LIMIT = 20\n")
    code.commit("code")
    wrote = records(
        repo, "write", *KEY, "--code", code.path, "--code-ref", "a.py:1", "--branch", "main"
    )
    assert wrote.code == 0, wrote
    answer = records(repo, "read", "pool-size", *WEB, "--branch", "main", "--code", code.path)
    assert "code: a.py:1 valid" in answer.out


def test_signed_from_the_command_line(repo: GitRepo, tmp_path: Path) -> None:
    key = make_key(tmp_path)
    line = policy_of(ann=(key, "human")).records.signers[0]
    repo.write(".memrepo/policy.yml", f"version: 1\nrecords:\n  signers:\n    - {line}\n")
    repo.commit("policy")
    signed = ("--trust", "human", "--signing-key", key, "--kind", "constraint")
    wrote = shaped(records(repo, "write", *WEB, *KEY, *signed, "--json"), WrittenShape)
    assert (wrote.trust, wrote.effective_confidence, wrote.notes) == ("human", 1.0, [])
    archive = ("archive", wrote.record["id"], "--reason", "x", *WEB)
    assert records(repo, *archive).code == 1
    assert records(repo, *archive, "--trust", "human", "--signing-key", key).code == 0


def test_pushes_and_what_a_dry_run_says(
    memory_repo: MakeRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(memory_repo("agent-1"))
    one, two = clone(remote, "one"), clone(remote, "two")
    dry = records(one, "write", *WEB, *KEY, "--push", "--dry-run")
    assert dry.out == "would write pool-size\n"
    first = records(one, "write", *WEB, *KEY, "--push")
    assert (first.code, remote.head()) == (0, one.head())
    other = ("--key", "pool-size", "--summary", "Thirty.")
    second = records(two, "write", *WEB, *other, "--agent", "cursor", "--push")
    assert second.code == 0
    assert f"{first.out.strip()} of another writer was first" in second.err
    assert remote.head() == two.head()
    assert records(two, "sweep", "--dry-run").out == "would be archived: 0\n"


def test_an_empty_store_has_no_records(repo: GitRepo) -> None:
    empty = records(repo, "list", *WEB)
    assert (empty.code, empty.out, empty.err) == (0, "", "no records\n")
    assert records(repo, "list", *WEB, "--by", "nobody").err == "no such record\n"
