from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archived import COMMIT, FAR, archived, contents, plan_of, times
from memrepo.errors import BadInput, UsageError
from memrepo.protocol.layout import place_of
from memrepo.protocol.names import SnapshotName
from memrepo.shards.plan import (
    asset_name,
    plan_as_json,
    plan_from_json,
    plan_key,
    plan_shards,
    release_tag,
    shard_order,
)
from memrepo.shards.table import Snapshots
from memrepo.shards.tar import MOST_SNAPSHOT_BYTES, tar_size
from memrepo.shards.values import Archived, Left, Plan, Shard

BLOB = "b" * 40


def plan(*found: Archived, before: datetime = FAR, **options: Any) -> Plan:
    return plan_shards(found, commit=COMMIT, before=before, **options)


def one(path: str, size: int = 10) -> Archived:
    return Archived(path, BLOB, size)


def when_of(path: str) -> datetime:
    snapshot = place_of(path).snapshot
    assert snapshot
    return snapshot.when


@given(contents, times, st.randoms(use_true_random=False))
def test_a_plan_parts_what_is_due_from_what_stays_in_any_order_of_input(
    given_contents: dict[str, bytes], before: datetime, chance: random.Random
) -> None:
    files = [archived(path, data) for path, data in given_contents.items()]
    others = [one("history/notes.json"), one("state/a/context.json"), one("README.md")]
    found = plan(*files, *others, before=before)
    shuffled = [*others, *files]
    chance.shuffle(shuffled)
    again = plan(*shuffled, before=before)
    assert again == found
    assert plan_as_json(again) == plan_as_json(found)

    chosen = [snapshot for shard in found.shards for snapshot in shard.snapshots]
    due = {file for file in files if when_of(file.path) < before}
    newest: dict[str, datetime] = {}
    for file in files:
        agent = place_of(file.path).agent_id
        newest[agent] = max(newest.get(agent, when_of(file.path)), when_of(file.path))
    stay = {file for file in due if when_of(file.path) == newest[place_of(file.path).agent_id]}
    assert set(found.kept) == stay
    assert len(chosen) == len(set(chosen))
    assert set(chosen) == due - stay
    for shard in found.shards:
        assert list(shard.snapshots) == sorted(shard.snapshots)
        for snapshot in shard.snapshots:
            year, week, _ = when_of(snapshot.path).isocalendar()
            assert shard.name == f"{year}-W{week:02}"


@given(contents, st.integers(2100, 9000))
def test_parts_stay_below_the_limit_and_hold_all(
    given_contents: dict[str, bytes], most: int
) -> None:
    whole, split = plan_of(given_contents), plan_of(given_contents, most_bytes=most)
    weeks: dict[str, list[Archived]] = {}
    numbers: dict[str, list[int]] = {}
    for shard in split.shards:
        order = shard_order(shard.name)
        assert order
        weeks.setdefault(order[0], []).extend(shard.snapshots)
        numbers.setdefault(order[0], []).append(order[1])
        if len(shard.snapshots) > 1:
            assert tar_size(snapshot.size for snapshot in shard.snapshots) < most
    assert weeks == {shard.name: list(shard.snapshots) for shard in whole.shards}
    assert all(part == list(range(1, len(part) + 1)) for part in numbers.values())
    assert split.key == whole.key


def test_the_name_decides_and_nothing_else() -> None:
    before = datetime(2026, 1, 10, tzinfo=UTC)
    first, border = one("history/20260109-235959-a.json"), one("history/20260110-000000-a.json")
    found = plan(first, border, before=before)
    assert [shard.snapshots for shard in found.shards] == [(first,)]
    assert found.kept == ()


def test_the_border_is_an_instant_in_any_zone() -> None:
    first, border = one("history/20260109-235959-a.json"), one("history/20260110-000000-a.json")
    zone = FAR.astimezone().tzinfo
    half = datetime(2026, 1, 10, 0, 0, 0, 500_000, tzinfo=UTC).astimezone(zone)
    found = plan(first, border, one("history/20270101-000000-a.json"), before=half)
    assert found.before == datetime(2026, 1, 10, tzinfo=UTC)
    assert [shard.snapshots for shard in found.shards] == [(first,)]


def test_the_newest_of_every_agent_stays_and_another_agents_does_not_count() -> None:
    old = [one(f"history/2020010{day}-000000-{agent}.json") for agent in "ab" for day in (1, 2)]
    found = plan(*old)
    assert found.kept == (old[1], old[3])
    assert [list(shard.snapshots) for shard in found.shards] == [[old[0], old[2]]]


def test_one_time_in_both_layouts_is_two_newest() -> None:
    both = [SnapshotName(datetime(2020, 1, 2), "a").path(layout) for layout in ("daily", "flat")]
    found = plan(*map(one, both), one("history/20200101-000000-a.json"))
    assert [kept.path for kept in found.kept] == both


def test_only_the_agents_that_are_asked_for_go() -> None:
    files = [one(f"history/2020010{day}-000000-{agent}.json") for agent in "ab" for day in (1, 2)]
    found = plan(*files, agents=["b"])
    assert [list(shard.snapshots) for shard in found.shards] == [[files[2]]]
    assert found.kept == (files[3],)


def test_ten_missed_weeks_are_ten_shards() -> None:
    begin = datetime(2024, 12, 2, tzinfo=UTC)
    names = [SnapshotName(begin + timedelta(weeks=week), "a") for week in range(11)]
    found = plan(*(one(name.path("flat")) for name in names))
    assert [shard.name for shard in found.shards] == [
        *("2024-W49", "2024-W50", "2024-W51", "2024-W52"),
        *("2025-W01", "2025-W02", "2025-W03", "2025-W04", "2025-W05", "2025-W06"),
    ]


@pytest.mark.parametrize(
    ("path", "size", "why"),
    [
        (f"history/20200101-000000-{'x' * 80}.json", 1, "a name of 101 characters"),
        (f"history/2020/01/01/20200101-000000-{'x' * 80}.json", 1, "a name of 101 characters"),
        ("history/19691231-235959-a.json", 1, "before 1970"),
        ("history/22420316-125632-a.json", 1, "after 2242"),
        ("history/20200101-000000-a.json", MOST_SNAPSHOT_BYTES + 1, "at most"),
    ],
)
def test_what_no_tar_can_hold_is_left_and_named(path: str, size: int, why: str) -> None:
    fine = one("history/20200101-000000-b.json")
    newer = [one(f"history/23000101-000000-{agent}.json") for agent in ("a", "b", "x" * 80)]
    found = plan(one(path, size), fine, *newer, before=datetime(2299, 1, 1, tzinfo=UTC))
    assert [left.path for left in found.left] == [path]
    assert why in found.left[0].why
    assert [list(shard.snapshots) for shard in found.shards] == [[fine]]


@pytest.mark.parametrize("size", [10, MOST_SNAPSHOT_BYTES])
def test_the_longest_that_a_tar_can_hold_goes(size: int) -> None:
    name = SnapshotName(datetime(2020, 1, 1), "x" * 79)
    assert len(name.file_name) == 100
    paths = [name.path("daily"), name.path("flat")]
    found = plan(
        *(one(path, size) for path in paths), one(f"history/20210101-000000-{'x' * 79}.json")
    )
    assert [snapshot.path for shard in found.shards for snapshot in shard.snapshots] == paths


@pytest.mark.parametrize(
    "wrong",
    [
        [one("history/20200101-000000-a.json")] * 2,
        [Archived("history/20200101-000000-a.json", "B" * 40, 1)],
        [Archived("history/20200101-000000-a.json", "b" * 39, 1)],
        [Archived("history/20200101-000000-a.json", BLOB, 1 << 53)],
        [
            one("history/20200101-000000-a.json"),
            Archived("history/20200102-000000-a.json", "b" * 64, 1),
        ],
    ],
)
def test_snapshots_that_cannot_be_are_refused(wrong: list[Archived]) -> None:
    with pytest.raises(BadInput):
        Snapshots(wrong)


def test_the_key_is_of_blobs_and_paths_alone() -> None:
    a, b = one("history/20200101-000000-a.json", 1), one("history/20200109-000000-a.json", 2)
    shards = [Shard("2020-W01", (a,)), Shard("2020-W02", (b,))]
    sizes = [Shard("x", (Archived(a.path, a.blob, 7), b))]
    assert plan_key(shards) == plan_key(sizes)
    assert plan_key(shards) != plan_key(shards[:1])


@given(contents, times)
def test_a_plan_comes_back_from_json(given_contents: dict[str, bytes], before: datetime) -> None:
    files = [archived(path, data) for path, data in given_contents.items()]
    for found in (plan(*files, before=before), plan_of(given_contents, most_bytes=3000)):
        data = plan_as_json(found)
        assert plan_from_json(data) == found
        assert plan_from_json(json.dumps(json.loads(data), indent=4).encode()) == found


def test_what_was_left_comes_back_too() -> None:
    found = plan(one("history/19690101-000000-a.json"), one("history/20200101-000000-a.json"))
    assert plan_from_json(plan_as_json(found)).left == found.left
    assert isinstance(found.left[0], Left)


def _swap(plan: dict[str, Any]) -> None:
    plan["shards"].reverse()


def _drop_a_part(plan: dict[str, Any]) -> None:
    del plan["shards"][0]


def _rename(plan: dict[str, Any]) -> None:
    plan["shards"][0]["name"] = "2020-W02"


def _first(plan: dict[str, Any]) -> dict[str, Any]:
    first: dict[str, Any] = plan["shards"][0]["snapshots"][0]
    return first


SPOIL: Mapping[str, Callable[[dict[str, Any]], object]] = {
    "order": _swap,
    "part": _drop_a_part,
    "week": _rename,
    "format": lambda plan: plan.update(format="another"),
    "field": lambda plan: plan.update({"\x1b[2J": 1}),
    "commit": lambda plan: plan.update(commit="HEAD"),
    "commit's line": lambda plan: plan.update(commit=COMMIT + "\n"),
    "key": lambda plan: plan.update(key="0" * 64),
    "time": lambda plan: plan.update(before="2026-01-01"),
    "zone": lambda plan: plan.update(before="2200-01-01T01:00:00+01:00"),
    "age": lambda plan: plan.update(before="2020-01-01T00:00:00Z"),
    "climb": lambda plan: _first(plan).update(path="history/../.git/config"),
    "path": lambda plan: _first(plan).update(path="state/a/context.json"),
    "blob": lambda plan: _first(plan).update(blob="0" * 40),
    "no blob": lambda plan: _first(plan).update(blob="--exec=x"),
    "size": lambda plan: _first(plan).update(size=-1),
    "huge": lambda plan: _first(plan).update(size=1 << 40),
    "name": lambda plan: plan["shards"][0].update(name="../2020-W01"),
    "empty": lambda plan: plan["shards"][0].update(snapshots=[]),
    "twice": lambda plan: plan["shards"][0]["snapshots"].append(_first(plan)),
    "kept": lambda plan: plan["kept"].append({"path": "/etc/passwd", "blob": BLOB, "size": 1}),
    "left": lambda plan: plan["left"].append({"path": "/etc/passwd", "why": ""}),
}


@pytest.mark.parametrize("spoil", SPOIL.values(), ids=SPOIL)
def test_a_plan_that_no_run_made_is_refused(spoil: Callable[[dict[str, Any]], object]) -> None:
    files = {f"history/2020010{day}-000000-a.json": bytes(800) for day in (1, 2, 3, 7, 8)}
    value = json.loads(plan_as_json(plan_of(files, most_bytes=4300)))
    assert [shard["name"] for shard in value["shards"]] == ["2020-W01", "2020-W01.2", "2020-W02"]
    plan_from_json(json.dumps(value).encode())
    spoil(value)
    with pytest.raises(BadInput, match="no plan of an archive") as refused:
        plan_from_json(json.dumps(value).encode())
    assert refused.value.message.isprintable()


@given(st.binary(max_size=200))
def test_bytes_that_are_no_plan_are_refused(data: bytes) -> None:
    with pytest.raises(BadInput, match="no plan of an archive"):
        plan_from_json(data)


def test_tags_are_free_and_say_the_week() -> None:
    when = datetime(2026, 1, 4, 2, tzinfo=UTC)
    assert release_tag("history", when, []) == "history-2026-W01"
    assert release_tag("history", when, ["history-2026-W01", "v1"]) == "history-2026-W01.2"
    taken = ["History-2026-W01", "history-2026-W01.2", "history-2026-W01.3"]
    assert release_tag("history", when, taken) == "history-2026-W01.4"
    assert asset_name("2026-W05.2", "old") == "old-2026-W05.2.tar.gz"


@pytest.mark.parametrize(
    "prefix", ["", "-x", "a b", "a/b", "a..b", "a.", ".a", "x" * 51, "é", "a\n"]
)
def test_a_prefix_that_no_tag_can_have_is_refused(prefix: str) -> None:
    with pytest.raises(UsageError):
        release_tag(prefix, FAR, [])
    with pytest.raises(UsageError):
        asset_name("2026-W05", prefix)


@pytest.mark.parametrize("name", ["2026-W5", "2026-W05.1", "2026-W05.0", "2026-W05.02", "x", ""])
def test_names_that_no_shard_has(name: str) -> None:
    assert shard_order(name) is None
