"""Servers as processes: their output, their death, cancelled calls, and several at once."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
from mcp import Client

from commandline import memrepo, memrepo_process
from liveserver import Json, call, published, raw_server, records_at, refused, with_server
from memrepo.protocol.recordfile import read_record
from recordstores import a_store, codes
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
EACH = 50


@pytest.fixture
def repo(memory_repo: MakeRepo) -> GitRepo:
    return memory_repo("agent-1")


def check_sound(repo: GitRepo, rev: str = "HEAD") -> dict[str, bytes]:
    """Every record of a revision is whole, and Git has all of its objects."""
    records = records_at(repo, rev)
    for path, data in records.items():
        read_record(data, path)
    repo.git("fsck", "--strict", "--no-dangling")
    return records


def check_in_order(repo: GitRepo) -> None:
    """However a server ended, the next exchange leaves the clone as the remote has it."""
    with a_store(repo) as store:
        store.sync()
    assert repo.git("status", "--short", "--branch") == "## main...origin/main"


def test_list_call_and_bad_arguments_by_the_sdks_client_on_a_process(repo: GitRepo) -> None:
    async def talk(client: Client) -> None:
        assert len((await client.list_tools()).tools) == 5
        await call(client, "memory_write", key="pool-size", summary="Twenty.")
        assert "summary: it is missing" in await refused(client, "memory_write", key="a")
        held = await call(client, "memory_read", key="pool-size")
        assert held["record"]["written_by"] == {
            "agent": "codex",
            "model": "gpt-9",
            "trust": "session",
        }
        assert held["remote"] == {"state": "off", "waiting": 1, "seen": "", "problem": ""}

    with_server(repo, talk, "--model", "gpt-9", "--sync", "0")


def test_nothing_but_the_protocol_is_written_to_the_output(repo: GitRepo) -> None:
    chatty = {"GIT_TRACE": "1", "PYTHONDEVMODE": "1"}
    with raw_server(repo, "--trust", "human", "--sync", "1", env=chatty) as server:
        asked = [server.write("pool-size", f"Say {n}.") for n in range(3)]
        asked.append(server.ask("tools/call", name="memory_write", arguments={"key": "x"}))
        asked.append(server.ask("no/such/method"))
        got = [server.answer() for _ in asked]
        assert sorted(message["id"] for message in got) == asked
        assert server.process.stdin
        server.process.stdin.close()
        assert list(server.answers()) == []
        assert server.process.wait(30) == 0
        assert server.process.stderr
        said = server.process.stderr.read().decode()
    assert "without --signing-key" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25"])
def test_older_clients_are_answered(repo: GitRepo, version: str) -> None:
    with raw_server(repo, "--sync", "0", version=version) as server:
        number = server.ask("tools/list")
        answer = server.answer()
        assert answer["id"] == number
        assert len(answer["result"]["tools"]) == 5


def test_a_cancelled_call_leaves_a_whole_record_or_none(repo: GitRepo) -> None:
    with raw_server(repo, "--sync", "0") as server:
        asked = [server.write(f"key-{number}", "Said once.") for number in range(12)]
        for number in asked[1::2]:
            server.cut(number)
        last = server.write("last", "The server goes on.")
        answered = []
        while last not in answered:
            answered.append(server.answer()["id"])
    records = check_sound(repo)
    assert repo.git("status", "--short") == ""
    kept = {read_record(data, path).key for path, data in records.items()}
    assert {f"key-{number}" for number in range(0, 12, 2)} | {"last"} <= kept
    assert len(kept) == len(records) == int(repo.git("rev-list", "--count", "HEAD")) - 1


def test_a_caller_who_gives_up_does_not_stop_the_server(repo: GitRepo) -> None:
    async def talk(client: Client) -> None:
        with anyio.move_on_after(0.001):
            await call(client, "memory_write", key="given-up", summary="Nobody waits.")
        await call(client, "memory_write", key="after", summary="Goes on.")

    with_server(repo, talk, "--sync", "0")
    check_sound(repo)
    assert repo.git("status", "--short") == ""


@pytest.mark.parametrize("seconds", ["0", "1"])
def test_a_server_that_is_killed_leaves_no_half_record(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo, seconds: str
) -> None:
    remote = bare_remote(repo)
    one = clone(remote, "one")
    told = set()
    for round_ in range(3):
        with raw_server(one, "--sync", seconds) as server:
            for number in range(20):
                key = "same" if number % 3 else f"own-{round_}-{number}"
                server.write(key, f"{round_} {number}")
            for _ in range(1 + 4 * round_):
                answer = server.answer()
                told.add(answer["result"]["structuredContent"]["record"]["id"])
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        records = check_sound(one)
        assert told <= {Path(path).stem for path in records}
        with a_store(one) as store:
            assert codes(store.verify()) == []

    async def talk(client: Client) -> None:
        await call(client, "memory_write", key="after", summary="Goes on.")
        await published(client)

    with_server(one, talk, "--sync", "1")
    assert records.keys() < check_sound(one).keys()
    assert records_at(remote, "main") == records_at(one)
    assert [path.name for path in one.path.rglob("*.lock")] == ["records.sqlite.lock"]
    check_in_order(one)


def write_many(repo: GitRepo, agent: str, count: int) -> list[str]:
    """Half of them about the writer's own keys, half about ten that both write."""

    async def talk(client: Client) -> list[str]:
        ids = []
        for number in range(count):
            key = f"shared-{number % 10}" if number % 2 else f"{agent}-{number}"
            done = await call(client, "memory_write", key=key, summary=f"{agent} says {number}.")
            ids.append(done["record"]["id"])
        await published(client)
        return ids

    return with_server(repo, talk, "--sync", "1", agent=agent)


def check_hundred(remote: GitRepo, fresh: GitRepo, ids: list[str]) -> None:
    records = check_sound(remote, "main")
    assert len(ids) == len(set(ids)) == 2 * EACH
    assert {Path(path).stem for path in records} == set(ids)
    parsed = [read_record(data, path) for path, data in records.items()]
    active = Counter(one.key for one in parsed if one.lifecycle.status == "active")
    assert set(active) == {one.key for one in parsed}
    assert set(active.values()) == {1}
    by_id = {one.id: one for one in parsed}
    for one in parsed:
        if one.lifecycle.status == "superseded":
            assert one.lifecycle.superseded_by in by_id
        if one.lifecycle.supersedes:
            assert by_id[one.lifecycle.supersedes].lifecycle.superseded_by == one.id
    with a_store(fresh) as store:
        assert codes(store.verify()) == []


def test_two_servers_on_two_clones_write_fifty_records_each(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(repo)
    clones = {name: clone(remote, name) for name in ("codex", "cursor")}
    with ThreadPoolExecutor(2) as pool:
        ids = [
            i for part in pool.map(lambda n: write_many(clones[n], n, EACH), clones) for i in part
        ]
    check_hundred(remote, clone(remote, "fresh"), ids)
    for one in clones.values():
        check_in_order(one)


def test_two_servers_on_one_clone(repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo) -> None:
    remote = bare_remote(repo)
    one = clone(remote, "one")
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda name: write_many(one, name, 12), ("codex", "cursor"))
        ids = {record for part in parts for record in part}
    records = check_sound(remote, "main")
    assert {Path(path).stem for path in records} == ids
    assert len(ids) == 24
    check_in_order(one)


def test_a_remote_that_is_away_is_said_and_caught_up_with(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(repo)
    one = clone(remote, "one")
    away = remote.path.with_name("away.git")

    async def talk(client: Client) -> None:
        await published(client)
        remote.path.rename(away)
        await call(client, "memory_write", key="pool-size", summary="Twenty.")
        said: Json = {}
        while said.get("state") != "away":
            said = (await call(client, "memory_read", key="pool-size"))["remote"]
            await anyio.sleep(0.1)
        assert said["waiting"] == 1
        assert said["problem"]
        assert said["seen"]
        await call(client, "memory_write", key="other", summary="It goes on.")
        away.rename(remote.path)
        assert (await published(client))["problem"] == ""

    with_server(one, talk, "--sync", "1")
    assert len(records_at(remote, "main")) == 2


def test_what_was_written_is_published_when_the_client_leaves(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(repo)
    with raw_server(clone(remote, "one"), "--sync", "600") as server:
        server.write("pool-size", "Twenty.")
        server.answer()
        assert server.process.stdin
        server.process.stdin.close()
        assert server.process.wait(60) == 0
    assert len(records_at(remote, "main")) == 1


def test_a_server_that_is_told_to_end_publishes_first(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(repo)
    one = clone(remote, "one")
    with raw_server(one, "--sync", "600") as server:
        server.write("pool-size", "Twenty.")
        server.answer()
        server.process.terminate()
        assert server.process.wait(60) == 0
    assert len(records_at(remote, "main")) == 1
    assert one.git("status", "--short") == ""


def test_the_writer_who_comes_second_is_told(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(repo)
    one, other = clone(remote, "one"), clone(remote, "other")
    assert (
        memrepo(
            one,
            "records write",
            *("--org", "acme", "--repo", "web", "--agent", "cursor", "--push"),
            *("--key", "pool-size", "--summary", "Thirty."),
        ).code
        == 0
    )

    async def talk(client: Client) -> None:
        mine = await call(client, "memory_write", key="pool-size", summary="Twenty.")
        notices: list[str] = list(mine["notices"])
        while not notices:
            notices = (await call(client, "memory_list"))["notices"]
            await anyio.sleep(0.1)
        assert any(mine["record"]["id"] in note for note in notices)
        assert (await call(client, "memory_list"))["notices"] == []

    with_server(other, talk, "--sync", "1")
    assert len(records_at(remote, "main")) == 2


def test_a_server_that_may_only_read_fetches_and_pushes_nothing(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(repo)
    one, other = clone(remote, "one"), clone(remote, "other")
    write = ("--org", "acme", "--repo", "web", "--agent", "cursor", "--summary", "Said.")
    assert memrepo(one, "records write", *write, "--key", "held-back").code == 0
    assert memrepo(other, "records write", *write, "--key", "pool-size", "--push").code == 0

    async def talk(client: Client) -> None:
        keys: set[str] = set()
        while "pool-size" not in keys:
            listed = await call(client, "memory_list")
            keys = {record["key"] for record in listed["records"]}
            await anyio.sleep(0.1)
        assert keys == {"pool-size", "held-back"}
        assert "memory_write" in await refused(client, "memory_write", key="a", summary="b")

    with_server(one, talk, "--sync", "1", "--read-only")
    assert len(records_at(remote, "main")) == 1


def test_wrong_use_is_one_line_and_an_exit_code(repo: GitRepo, tmp_path: Path) -> None:
    for more, said in (
        ([], "no organisation is named"),
        (["--org", "acme", "--repo", "web", "--scope", "branch"], "the address cannot be"),
        (["--org", "acme", "--sync", "-1"], "--sync"),
        (["--org", "acme", "--trust", "god"], "--trust"),
    ):
        ran = memrepo_process(repo.path, "mcp", *more)
        assert ran.code == 2, ran
        assert said in ran.err
        assert ran.out == ""
    assert memrepo_process(tmp_path, "mcp", "--org", "acme").code == 2


def test_without_the_package_it_says_what_to_install(repo: GitRepo) -> None:
    program = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['memrepo', 'mcp', '--org', 'acme']\n"
        "from memrepo.cli.app import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=repo.path, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 2
    assert "scripts/install --with mcp" in done.stderr
    assert "Traceback" not in done.stderr
