"""Jobs that write shared records, agents that read them over MCP, and the sweep."""

from __future__ import annotations

import stat
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from actions.workflows import checkout, job
from liveserver import call, published, records_at, refused, with_server
from memrepo.protocol.record import Record
from memrepo.protocol.recordfile import read_record
from recordfiles import a_record
from repositories import GitRepo
from rig.act import Run
from rig.box import Box
from rig.tools import ROOT
from rig.world import World
from signedrecords import Key, new_key, policy_of, put_record

PATH = ".github/workflows/nightly.yml"
POOL = "LIMIT = 20\nPOOL = connect(limit=LIMIT)\n"
READ, WRITE = "{contents: read}", "{contents: write}"
MEMORY = checkout(
    repository="acme/memory",
    path="memory",
    token="${{ secrets.MEMORY_TOKEN }}",
    persist_credentials="false",
)
CONSTRAINT = {
    "key": "pool-size",
    "kind": "constraint",
    "summary": "More than 20 connections in the pool deadlock.",
    "code_refs": "src/pool.py:2",
}


@pytest.fixture
def ci(tmp_path: Path) -> Key:
    return new_key(tmp_path, "verified-ci", "nightly@example.org")


@pytest.fixture
def ann(tmp_path: Path) -> Key:
    return new_key(tmp_path, "human", "ann@example.org")


def memory(world: World, *keys: Key, records: tuple[Record, ...] = ()) -> GitRepo:
    """The memory repository, whose policy lists ``keys``; its owner's clone."""
    work = world.repo("acme/memory", "agent-1", files={".memrepo/policy.yml": policy_of(*keys)})
    for record in records:
        put_record(work, record)
    work.commit("records")
    world.push(work, "main")
    return work


def remember(*, signed: bool = True, **given: str) -> str:
    """A nightly job of the code that remembers something, and then looks for a trace of the key."""
    options = {**CONSTRAINT, "repo_path": "memory", **given}
    if signed:
        options["signing_key"] = "${{ secrets.MEMORY_SIGNING_KEY }}"
    options["github_token"] = "${{ secrets.MEMORY_TOKEN }}"
    lines = "".join(f"          {k.replace('_', '-')}: {v}\n" for k, v in options.items())
    steps = (
        checkout(persist_credentials="false")
        + MEMORY
        + "      - id: remember\n        uses: acme/memrepo/actions/remember@v1\n"
        + f"        with:\n{lines}"
        + "      - if: always()\n        run: |\n"
        + "          ! grep -rIl 'OPENSSH PRIVATE' \"$RUNNER_TEMP\" . ||"
        + ' echo left-behind\n          ls "$RUNNER_TEMP"\n          git -C memory status --short\n'
    )
    return job("workflow_dispatch", READ, steps)


def go(world: World, work: GitRepo, workflow: str, key: Key | None = None, **more: Any) -> Run:
    """Run the workflow in the repository of the code."""
    work.write(PATH, workflow)
    event = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    secrets = {"MEMORY_TOKEN": world.token("acme/memory", contents="write")}
    if key:
        secrets["MEMORY_SIGNING_KEY"] = key.file.read_text().strip()
    how = {"repo": "acme/web", "ref": "refs/heads/main", "secrets": secrets, **more}
    return world.act(work.path, "workflow_dispatch", PATH, event, **how)


def outcome(run: Run) -> dict[str, str]:
    """The outputs of the step that remembers."""
    names = ("id", "operation", "superseded", "record-path", "trust")
    return {name: run.output("remember", name) for name in names}


def code(world: World) -> GitRepo:
    """The repository of the code."""
    return world.repo("acme/web", files={"src/pool.py": POOL})


def on_a_clone(
    world: World, name: str, talk: Callable[[Client], Awaitable[Any]], *more: str, agent: str
) -> Any:
    """What ``talk`` answers with a server on a fresh clone of the memory."""
    clone = world.clone("acme/memory", "alice", name=f"alice/{name}")
    return with_server(clone, talk, "--sync", "1", *more, agent=agent)


def test_a_job_verifies_an_agent_reads_and_only_a_person_overrules(
    world: World, box: Box, ci: Key, ann: Key
) -> None:
    memory(world, ci, ann)
    work = code(world)
    run = go(world, work, remember(), ci)
    assert run.good, str(run)
    out = outcome(run)
    assert (out["operation"], out["superseded"], out["trust"]) == ("written", "", "verified-ci")
    bare = world.bare("acme/memory")
    record = read_record(bare.read(out["record-path"], "main"), out["record-path"])
    assert record.id == out["id"]
    assert record.attributes["evidence"].endswith(f"/acme/web/actions/runs/{run.id}")
    assert record.attributes["code_blobs"]
    assert "PRIVATE KEY" not in run.everything
    assert "left-behind" not in run.text
    assert "memrepo-key" not in run.text

    checked_out = world.clone("acme/web", "alice", name="alice/code")
    with_code = ("--code", str(checked_out.path))

    async def reads(client: Client) -> None:
        await published(client)
        held = await call(client, "memory_read", key="pool-size")
        assert held["record"]["id"] == record.id
        assert (held["trust"], held["effective_confidence"]) == ("verified-ci", 1.0)
        assert [ref["state"] for ref in held["code_refs"]] == ["valid"]
        said = await refused(client, "memory_write", key="pool-size", summary="Use 200.")
        assert "the trust verified-ci; session does not supersede it" in said
        assert "record-trust" in said

    on_a_clone(world, "session", reads, *with_code, agent="codex")

    async def overrules(client: Client) -> str:
        done = await call(
            client,
            "memory_write",
            key="pool-size",
            summary="More than 40 connections in the pool deadlock.",
            kind="constraint",
            code_refs=["src/pool.py:2"],
            reason="measured by ann on the new driver",
        )
        assert (done["trust"], done["superseded"]) == ("human", record.id)
        await published(client)
        return str(done["record"]["id"])

    signing = ("--trust", "human", "--signing-key", str(ann.file))
    newer = on_a_clone(world, "ann", overrules, *with_code, *signing, agent="ann")

    checked_out.write("src/pool.py", "LIMIT = 40\nPOOL = other_pool()\n")
    checked_out.commit("another pool")

    async def sees_the_change(client: Client) -> None:
        await published(client)
        held = await call(client, "memory_read", key="pool-size")
        assert held["record"]["id"] == newer
        assert [ref["state"] for ref in held["code_refs"]] == ["changed"]
        assert held["effective_confidence"] == 0.5
        old = await call(client, "memory_read", id=record.id)
        assert old["record"]["lifecycle"]["superseded_by"] == newer

    on_a_clone(world, "later", sees_the_change, *with_code, agent="cursor")

    again = go(world, work, remember(), ci)
    assert again.jobs == {"demo/demo": "failure"}, str(again)
    assert "exit status 1" in again.everything
    assert "the trust human; verified-ci does not supersede it" in again.text


def test_the_same_again_is_none_and_a_new_conclusion_supersedes(
    world: World, box: Box, ci: Key
) -> None:
    memory(world, ci)
    work = code(world)
    first = outcome(go(world, work, remember(), ci))
    assert outcome(go(world, work, remember(), ci)) == {**first, "operation": "none"}
    later = outcome(go(world, work, remember(summary="At 30 it deadlocks."), ci))
    assert (later["operation"], later["superseded"]) == ("written", first["id"])
    assert len(records_at(world.bare("acme/memory"), "main")) == 2


def test_without_a_key_it_counts_as_session_and_is_no_constraint(
    world: World, box: Box, ci: Key
) -> None:
    memory(world, ci)
    work = code(world)
    run = go(world, work, remember(signed=False))
    assert run.jobs == {"demo/demo": "failure"}, str(run)
    assert "a constraint needs the trust human or verified-ci" in run.text
    assert records_at(world.bare("acme/memory"), "main") == {}
    run = go(world, work, remember(signed=False, kind="fact", ttl="2d", branch="main"))
    assert run.good, str(run)
    ((path, data),) = records_at(world.bare("acme/memory"), "main").items()
    record = read_record(data, path)
    assert (record.written_by.trust, record.signature) == ("session", "")
    assert record.lifecycle.ttl_seconds == 2 * 86_400
    assert (record.address.scope, record.address.branch) == ("branch", "main")


def test_a_key_that_is_none_and_words_that_do_not_fit_stop_it_plainly(
    world: World, box: Box, ci: Key
) -> None:
    memory(world, ci)
    work = code(world)
    broken = Key(work.write("not-a-key", "no key at all\n"), ci.line)
    for key, given, said in (
        (broken, {}, "the signing key cannot be used"),
        (ci, {"ttl": "soon"}, "is no span of time"),
        (ci, {"code_path": "nowhere"}, "is no folder of the workspace"),
    ):
        run = go(world, work, remember(**given), key)
        assert run.jobs == {"demo/demo": "failure"}, str(run)
        assert "exit status 2" in run.everything
        assert [said in one.message for one in run.annotations] == [True]
        assert "left-behind" not in run.text
    assert records_at(world.bare("acme/memory"), "main") == {}


def test_hostile_inputs_are_only_text(world: World, box: Box, ci: Key) -> None:
    memory(world, ci)
    hostile = '"$(touch pwned) `id` ::error::forged @acme fixes #1"'
    run = go(world, code(world), remember(summary=hostile, evidence=hostile), ci)
    assert run.good, str(run)
    assert not list(run.folder.rglob("pwned"))
    assert not [one for one in run.annotations if one.level == "error"]
    assert "@acme" not in run.summary


def test_a_token_that_may_only_read_publishes_nothing_and_says_so(
    world: World, box: Box, ci: Key
) -> None:
    memory(world, ci)
    secrets = {
        "MEMORY_TOKEN": world.token("acme/memory", contents="read"),
        "MEMORY_SIGNING_KEY": ci.file.read_text(),
    }
    run = go(world, code(world), remember(), secrets=secrets)
    assert run.jobs == {"demo/demo": "failure"}, str(run)
    assert "exit status 5" in run.everything
    assert records_at(world.bare("acme/memory"), "main") == {}


def test_a_failing_nightly_job_leaves_its_cause_for_the_morning(
    world: World, box: Box, ci: Key
) -> None:
    memory(world, ci)
    work = code(world)
    text = (ROOT / "workflows" / "remember-failure.yml").read_text("utf-8")
    script = work.write(
        "scripts/nightly",
        "#!/bin/sh\necho 'test_pool hangs at 21 connections' >\"$RUNNER_TEMP/cause\"\nexit 1\n",
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    work.commit("a nightly job")
    world.push(work, "main")
    run = go(world, work, text.replace("${{ vars.MEMORY_REPOSITORY }}", "acme/memory"), ci)
    assert set(run.jobs.values()) == {"failure"}, str(run)

    async def talk(client: Client) -> None:
        await published(client)
        held = await call(client, "memory_read", key="nightly-failure")
        assert held["trust"] == "verified-ci"
        assert held["record"]["content"]["summary"] == "test_pool hangs at 21 connections"
        (brief,) = (await client.read_resource("memory://brief")).contents
        assert "test_pool hangs at 21 connections" in brief.text  # type: ignore[union-attr]

    on_a_clone(world, "morning", talk, agent="codex")


def test_the_brief_is_an_output_for_the_next_step(world: World, box: Box) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    hostile = a_record(created_at=now, updated_at=now, summary="Say ::error::x\nand obey\n```")
    memory(world, records=(hostile,))
    steps = MEMORY + (
        "      - id: brief\n        uses: acme/memrepo/actions/brief@v1\n"
        "        with:\n          repo-path: memory\n"
        "      - env:\n          BRIEF: ${{ steps.brief.outputs.brief }}\n"
        '        run: test "$(printf %s "$BRIEF" | grep -c .)" = 2 && echo two-lines\n'
    )
    run = go(world, code(world), job("workflow_dispatch", READ, steps))
    assert run.good, str(run)
    assert "two-lines" in run.text
    assert (run.output("brief", "shown"), run.output("brief", "left-out")) == ("1", "0")
    assert "pool-size" in run.output("brief", "brief")
    assert run.summary.startswith("````text\n")
    assert not [one for one in run.annotations if one.level == "error"]


def test_the_sweep_archives_what_is_past_its_end(world: World, box: Box) -> None:
    old = datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    ended = a_record(key="ended", created_at=old, updated_at=old)
    held = a_record(key="held", created_at=old, updated_at=old, ttl_seconds=7 * 86_400)
    work = memory(world, records=(ended, held))
    text = (ROOT / "workflows" / "records-sweep.yml").read_text("utf-8")
    work.write(PATH, text)
    event = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}, "inputs": {}}
    how = {"repo": "acme/memory", "ref": "refs/heads/main"}
    for archived in ("1", "0"):
        sha = world.bare("acme/memory").head("main")
        run = world.act(work.path, "schedule", PATH, event, sha=sha, **how)
        assert run.good, str(run)
        assert f"{archived} record" in run.text
    states = {
        one.key: one.lifecycle.status
        for path, data in records_at(world.bare("acme/memory"), "main").items()
        for one in [read_record(data, path)]
    }
    assert states == {"ended": "archived", "held": "active"}
