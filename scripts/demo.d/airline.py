"""Agents as the demo needs them: real conversations, written turn by turn into agent state."""

from __future__ import annotations

import json
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

SAMPLE = Path(__file__).resolve().parents[2] / "tests" / "data"
_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_STOP = "###STOP###"  # how the simulated customers of the data say that they are done


class Cycle(msgspec.Struct, frozen=True):
    """What one customer said and what the agent answered, at one time."""

    agent_id: str
    at: datetime
    turns: list[dict[str, str]]

    @property
    def message(self) -> str:
        """What the customer wants, short enough for a commit's subject."""
        return textwrap.shorten(self.turns[0]["content"], width=50, placeholder=" …")


class Agent:
    """One agent, which keeps its memory the way any program would: by writing three files."""

    def __init__(self, agent_id: str, memory: Path, tools: list[dict[str, Any]]) -> None:
        self.agent_id = agent_id
        self.folder = memory / "state" / agent_id
        self.turns: list[dict[str, str]] = []
        self.tools = tools
        self.version = "1.0.0"

    def write(self, at: datetime) -> None:
        """Write context.json, tools.json and metadata.json."""
        self.folder.mkdir(parents=True, exist_ok=True)
        metadata = {
            "agent_id": self.agent_id,
            "version": self.version,
            "last_updated": stamp(at),
        }
        for name, value in (
            ("context", self.turns),
            ("tools", self.tools),
            ("metadata", metadata),
        ):
            text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
            (self.folder / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")


def stamp(at: datetime) -> str:
    """A time as the memory's files write it."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def load_tools(name: str) -> list[dict[str, Any]]:
    """The real tools of one of the sample's agents: ``airline`` or ``retail``."""
    tools: list[dict[str, Any]] = json.loads((SAMPLE / f"{name}-tools.json").read_bytes())
    return tools


def load_cycles() -> list[Cycle]:
    """Every exchange of every conversation, in the order of time: the agents work side by side."""
    cycles = []
    lines = (SAMPLE / "airline-conversations.jsonl").read_text(encoding="utf-8").splitlines()
    for place, line in enumerate(lines):
        conversation = json.loads(line)
        agent_id = f"airline-{conversation['task']:02}"
        start = _START + timedelta(seconds=7 * place)
        cycles.extend(_exchanges(agent_id, start, conversation["messages"]))
    return sorted(cycles, key=lambda cycle: cycle.at)


def _exchanges(agent_id: str, start: datetime, messages: list[dict[str, Any]]) -> list[Cycle]:
    exchanges: list[list[dict[str, str]]] = []
    for message in messages:
        content = (message["content"] or "").replace(_STOP, "").strip()
        if message["role"] == "user":
            exchanges.append([])
        if content and message["role"] in ("user", "assistant"):
            exchanges[-1].append({"role": message["role"], "content": content})
    cycles = []
    for number, turns in enumerate(exchanges):
        # A goodbye that nobody answered is no cycle.
        if len(turns) > 1:
            said = start + timedelta(minutes=number)
            at = said + timedelta(seconds=len(turns) - 1)
            timed = [
                {**turn, "timestamp": stamp(said + timedelta(seconds=i))}
                for i, turn in enumerate(turns)
            ]
            cycles.append(Cycle(agent_id, at, timed))
    return cycles
