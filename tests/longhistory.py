"""Years of real conversations in a memory repo: their turns, at times up to the present."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from archiving import snapshot_name
from repositories import GitRepo

Turn = dict[str, str]

TESTS = Path(__file__).parent
SAMPLE = TESTS / "data"
_LARGE = Path(os.environ.get("MEMREPO_REAL_DATA") or TESTS.parent.parent / "shared" / "data")

#: No snapshot is so near to the age of 90 days that a slow test could pass by it.
AGE, MARGIN = timedelta(days=90), timedelta(days=1)
_TURNS = 6


class Snapshot(msgspec.Struct, frozen=True):
    """One snapshot that a cycle wrote."""

    agent_id: str
    when: datetime
    value: dict[str, object]

    @property
    def path(self) -> str:
        """Every second agent's lie in folders by day."""
        return snapshot_name(self.when, self.agent_id, daily=int(self.agent_id[-2:]) % 2 == 1)

    @property
    def data(self) -> bytes:
        """The protocol's bytes."""
        return _json(self.value)


def conversations() -> list[list[Turn]]:
    """What customers and agents said: the sample's, and the large set's where there is one."""
    files = [folder / "airline-conversations.jsonl" for folder in (SAMPLE, _LARGE)]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    lines = [line for text in texts for line in text.splitlines()]
    return [
        [
            {"role": message["role"], "content": message["content"]}
            for message in json.loads(line)["messages"]
            if message["role"] in ("user", "assistant") and message["content"]
        ]
        for line in lines
    ]


def long_history(
    snapshots: int, agents: int, *, now: datetime | None = None, days: int = 730
) -> list[Snapshot]:
    """Snapshots of the last ``days``, made from real conversations, in the order of time.

    Every eighth agent fell silent before the age at which snapshots are archived.
    """
    now = (now or datetime.now(UTC)).replace(microsecond=0)
    said = conversations()
    each = snapshots // agents
    made = []
    for number in range(agents):
        agent_id = f"airline-{number:02}"
        end = now - (2 * AGE if number % 8 == 7 else timedelta(hours=1))
        begin = now - timedelta(days=days)
        for place, when in enumerate(_times(begin, end, each, seed=number)):
            turns = said[(number + place) % len(said)]
            made.append(Snapshot(agent_id, when, _value(agent_id, turns, place, when)))
    return sorted(made, key=lambda one: (one.when, one.agent_id))


def _times(begin: datetime, end: datetime, many: int, *, seed: int) -> list[datetime]:
    chance = random.Random(seed)  # noqa: S311 - the same history each time
    length = int((end - begin).total_seconds())
    found: set[datetime] = set()
    while len(found) < many:
        when = begin + timedelta(seconds=chance.randrange(length))
        if abs(end + timedelta(hours=1) - when - AGE) > MARGIN:
            found.add(when)
    return sorted(found)


def _value(agent_id: str, said: list[Turn], place: int, when: datetime) -> dict[str, object]:
    start = place % max(1, len(said) - _TURNS)
    turns = said[start : start + _TURNS]
    first = when - timedelta(seconds=len(turns))
    timed = [
        {**turn, "timestamp": _stamp(first + timedelta(seconds=number))}
        for number, turn in enumerate(turns)
    ]
    metadata = {"agent_id": agent_id, "version": f"1.0.{place}", "last_updated": _stamp(when)}
    return {"context": timed, "tools": [], "metadata": metadata}


def import_history(repo: GitRepo, snapshots: Sequence[Snapshot]) -> None:
    """Put them on main of ``repo``, on top of what is there: a commit a week, states too."""
    repo.git("fast-import", "--quiet", text="".join(_stream(repo, snapshots)))


def _stream(repo: GitRepo, snapshots: Sequence[Snapshot]) -> Iterator[str]:
    weeks: dict[tuple[int, int], list[Snapshot]] = {}
    for one in snapshots:
        weeks.setdefault(one.when.isocalendar()[:2], []).append(one)
    parent = f"from {repo.head('main')}\n"
    for some in weeks.values():
        date = int(some[-1].when.timestamp())
        yield f"commit refs/heads/main\ncommitter Ada <ada@example.org> {date} +0000\n"
        yield f"data {len('cycles')}\ncycles\n{parent}"
        parent = ""
        for one in some:
            yield _file(one.path, one.data)
        for one in {one.agent_id: one for one in some}.values():
            for name in ("context", "tools", "metadata"):
                yield _file(f"state/{one.agent_id}/{name}.json", _json(one.value[name]))
        yield "\n"


def _file(path: str, data: bytes) -> str:
    return f"M 100644 inline {path}\ndata {len(data)}\n{data.decode('utf-8')}\n"


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _stamp(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"


def newest_of_each(snapshots: Sequence[Snapshot]) -> set[str]:
    """The path of every agent's newest snapshot."""
    newest = {one.agent_id: one.path for one in sorted(snapshots, key=lambda one: one.when)}
    return set(newest.values())


def old(snapshots: Sequence[Snapshot], now: datetime, age: timedelta = AGE) -> set[str]:
    """The paths of snapshots that are due: older than ``age``, not their agent's newest."""
    past = {one.path for one in snapshots if now - one.when > age}
    return past - newest_of_each(snapshots)
