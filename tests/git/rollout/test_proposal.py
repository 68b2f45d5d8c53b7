"""Promote by a pull request, and the review of pull requests that edit a rollout."""

from __future__ import annotations

import html
import json
from pathlib import Path

from commandline import memrepo
from memrepo.forge.local import LocalForge
from memrepo.memory import MemoryRepo
from memrepo.report.html import review_html
from memrepo.report.jsonform import review_as_json, review_from_json
from memrepo.report.markdown import review_markdown
from memrepo.report.text import diff_text
from repositories import GitRepo
from rolloutwork import (
    NAME,
    TREATMENT,
    history,
    on_branch,
    origin,
    rollout,
    run,
    start,
    tools,
    treat,
)

PATH = f".memrepo/rollouts/{NAME}.yml"
BRANCH = f"memory/rollout/{NAME}"


def propose(work: GitRepo, *more: str) -> dict[str, object]:
    forge = work.path.parent / "forge"
    ran = run(work, "promote", "--mode", "pr", "--forge", f"local:{forge}", "--json", *more)
    assert ran.code == 0, ran
    found: dict[str, object] = ran.json
    return found


def test_the_merge_of_the_pull_request_promotes(work: GitRepo) -> None:
    start(work, "--steps", "100")
    tip = origin(work).head("main")
    first = propose(work)
    assert (first["changed"], first["pull_request"], first["branch"]) == (True, 1, BRANCH)
    assert (origin(work).head("main"), rollout(work).state.phase) == (tip, "running")
    pulls = LocalForge(work.path.parent / "forge", login="memrepo")
    body = html.unescape(pulls.get_pull_request(1).body)
    assert "find_order" in body
    assert "promoted: every unit reads main, which holds the treatment" in body
    again = propose(work)
    assert (again["changed"], again["pull_request"]) == (False, 1)
    # The control branch moves on, and so does the treatment.
    on_branch(work, "main", {"notes.md": "Ours.\n"}, "notes")
    treat(work, "classify", "find_order", "refund", message="more")
    later = propose(work)
    assert (later["changed"], later["pull_request"]) == (True, 1)
    assert history(work, f"main..{BRANCH}") == [
        "a new classifier", "more", f"rollout {NAME}: promote {TREATMENT}",
    ]  # fmt: skip
    bare = origin(work)
    bare.git("update-ref", "refs/heads/main", bare.head(BRANCH))
    assert rollout(work).state.phase == "promoted"
    assert run(work, "promote").out == f"{NAME} is promoted\n"
    assert propose(work)["changed"] is False


def test_a_persons_commit_on_the_branch_is_not_dropped(work: GitRepo) -> None:
    start(work, "--steps", "100")
    propose(work)
    on_branch(work, BRANCH, {"notes.md": "By hand.\n"}, "by hand")
    on_branch(work, "main", {"other.md": "Ours.\n"}, "notes")
    tip = origin(work).head(BRANCH)
    forge = work.path.parent / "forge"
    ran = run(work, "promote", "--mode", "pr", "--forge", f"local:{forge}")
    assert (ran.code, "by hand" in ran.err) == (3, True)
    assert origin(work).head(BRANCH) == tip


def edited(work: GitRepo, old: str, new: str, branch: str = "edit") -> None:
    text = origin(work).read(PATH, "main").decode()
    assert old in text
    on_branch(work, branch, {PATH: text.replace(old, new)}, "edit")
    work.git("fetch", "--quiet", "origin")


def test_a_review_says_in_words_what_an_edit_does(work: GitRepo, tmp_path: Path) -> None:
    start(work, "--steps", "5,25,100")
    edited(work, "step: 1\n  weight: 5\n", "step: 2\n  weight: 25\n")
    words = f"5 % → 25 % of units of support_agent_v1 will read {TREATMENT}."
    with MemoryRepo(work.path) as memory:
        review = memory.review("origin/main", "origin/edit")
    assert review.verdict == "pass"
    (file,) = review.diff.other
    assert (file.kind, file.words) == ("rollout", (words,))
    assert f"    {words}" in diff_text(review.diff, colour=False)
    plain = review_markdown(review).replace("&#x2192;", "→")
    assert "5 % → 25 % of units of support" in plain
    assert words in review_html(review).replace("&#x27;", "'")
    found = json.loads(json.dumps(review_as_json(review)))
    assert found["diff"]["other"][0]["words"] == [words]
    assert review_from_json(found) == review


def test_words_of_a_hostile_branch_are_only_text(work: GitRepo) -> None:
    branch = "<img/src=x>`@acme`#1"
    treat(work, "classify", "x", branch=branch)
    assert run(work, "start", "--treatment", branch, "--steps", "5,100").code == 0
    work.git("fetch", "--quiet", "origin")
    with MemoryRepo(work.path) as memory:
        review = memory.review("origin/main~1", "origin/main")
    for text in (review_markdown(review), review_html(review)):
        assert "<img" not in text.replace("+treatment: '<img", "")
    words = review_markdown(review).partition("<details>")[0]
    assert "@acme" not in words
    assert "`" not in words


def test_an_edit_that_moves_units_or_meets_another_rollout_fails(work: GitRepo) -> None:
    start(work, "--steps", "5,25,100")
    edited(work, f"salt: '{NAME}:'", "salt: 'v2:'")
    ran = memrepo(work, "review", "--base", "origin/main", "--head", "origin/edit")
    assert (ran.code, "rollout-fixed" in ran.out) == (1, True)
    text = origin(work).read(PATH, "main").decode().replace(NAME, "second")
    on_branch(work, "two", {".memrepo/rollouts/second.yml": text}, "two")
    work.git("fetch", "--quiet", "origin")
    ran = memrepo(work, "review", "--base", "origin/main", "--head", "origin/two")
    assert (ran.code, "rollout-overlap" in ran.out) == (1, True)
    work.git("switch", "--quiet", "--detach", "origin/main")
    work.git("rm", "--quiet", PATH)
    ran = memrepo(work, "validate", "--staged")
    assert (ran.code, "removed while it is running" in ran.out + ran.err) == (1, True)


def test_what_a_merged_treatment_holds_besides_is_judged_again(work: GitRepo) -> None:
    start(work, "--steps", "100")
    key = "AKIA" + "QYLPMN5HHHFPZAM2"
    treat(work, "classify", "find_order", classify=f"Use {key}.", message="late")
    ran = run(work, "promote")
    assert (ran.code, "secret" in ran.err, key in ran.err) == (1, True, False)
    assert rollout(work).state.phase == "running"
    treat(work, *[tool["name"] for tool in tools("classify", "find_order")], message="out again")
    assert run(work, "promote").code == 0
