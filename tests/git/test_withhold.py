"""No report repeats a secret that the change brings, takes away, or leaves beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memrepo import MemoryRepo
from memrepo.gate.withhold import WITHHELD
from memrepo.report.html import review_html
from memrepo.report.jsonform import json_text, review_as_json
from memrepo.report.markdown import review_markdown
from memrepo.report.text import diff_text, findings_text
from repositories import GitRepo, new_memory_repo

SECRET = "AKIA" + "QYLPMN5HHHFPZAM2"
HARMLESS = "The parcel arrived on Tuesday."
NOTES = "# Notes\n\nA harmless line.\n"


def turn(content: str, minute: int) -> dict[str, str]:
    return {"role": "user", "content": content, "timestamp": f"2026-03-01T12:{minute:02d}:00Z"}


def tool(name: str, text: str, **parameters: object) -> dict[str, object]:
    return {"name": name, "description": text, "parameters": {"query": "string", **parameters}}


def write(repo: GitRepo, side: str, where: str) -> None:
    """One side of a change; ``where`` says which part of it holds the secret."""
    said = f"The key is {SECRET}." if where == "turn" else "There is no key."
    turns = [turn(said, 1)] if side == "with" or where != "turn" else []
    tools = [tool("search", "Find an order."), tool("extra", f"Uses {SECRET} to log in.")]
    if where == "default":
        tools[1] = tool("extra", "Logs in.", key={"type": "string", "default": SECRET})
    repo.write_agent(
        "bot",
        turns=[*turns, turn(HARMLESS, 2), *([turn("new", 3)] if side == "without" else [])],
        tools=tools if where in ("tool", "default") and side == "with" else tools[:1],
    )
    secret_line = f"\nkey: {SECRET}\n" if where == "notes" and side == "with" else ""
    repo.write("MEMORY.md", NOTES + secret_line)


@pytest.mark.parametrize("where", ["turn", "tool", "default", "notes"])
@pytest.mark.parametrize(("first", "then"), [("with", "without"), ("without", "with")])
def test_no_report_repeats_a_secret(where: str, first: str, then: str, tmp_path: Path) -> None:
    repo = new_memory_repo(tmp_path / "memory")
    write(repo, first, where)
    base = repo.commit("first")
    write(repo, then, where)
    repo.commit("then")
    with MemoryRepo(repo.path) as memory:
        review = memory.review(base)
        plain = diff_text(memory.diff(base, "HEAD").diff, colour=False)
    reports = [
        review_html(review),
        review_markdown(review),
        json_text(review_as_json(review)),
        findings_text(list(review.findings), colour=False),
        plain,
    ]
    for report in reports:
        assert SECRET not in report
    assert WITHHELD in reports[2]
    found = {finding.code for finding in review.findings}
    assert ("secret" in found) is (then == "with")


def test_what_holds_no_secret_is_shown(tmp_path: Path) -> None:
    repo = new_memory_repo(tmp_path / "memory")
    base = repo.head()
    repo.write_agent("bot", turns=[turn(f"The key is {SECRET}.", 1), turn(HARMLESS, 2)])
    repo.commit("bot")
    with MemoryRepo(repo.path) as memory:
        text = json_text(review_as_json(memory.review(base)))
    assert HARMLESS in text
    assert SECRET not in text


def test_a_policy_that_switches_the_rule_off_shows_the_text(tmp_path: Path) -> None:
    repo = new_memory_repo(tmp_path / "memory")
    repo.write(".memrepo/policy.yml", "version: 1\nseverity: {secret: off}\n")
    base = repo.commit("policy")
    repo.write_agent("bot", turns=[turn(f"The key is {SECRET}.", 1)])
    repo.commit("bot")
    with MemoryRepo(repo.path) as memory:
        text = json_text(review_as_json(memory.review(base)))
    assert SECRET in text
