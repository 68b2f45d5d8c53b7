"""Made-up agents in the protocol's bytes, and repositories of them.

The same seed gives the same bytes. A repository is one first commit with every agent's state
and the older snapshots, then one commit a cycle; all of it goes through one ``git fast-import``.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

import msgspec

from memrepo.cycle.given import state_files
from memrepo.cycle.plan import commit_message
from memrepo.protocol.canonical import snapshot_bytes
from memrepo.protocol.documents import STATE_FILES, AgentState, Metadata, Tool, Turn
from memrepo.protocol.layout import state_path
from memrepo.protocol.names import SnapshotName

from . import measure

#: 2025-01-01T00:00:00Z, and some thousand cycles a day.
BEGIN = 1_735_689_600
STEP = 86
DAILY = b"history:\n  layout: daily\n"
_WORDS = """
order refund ticket flight booking seat bag luggage change cancel card hotel room night date
time city airport customer account address delivery parcel invoice price total discount plan
upgrade support question answer detail policy request confirm check find offer option window
morning evening today tomorrow week month two three first second last next the a an is was will
can has have for from with about before after on in at by and or but so we you they it this that
please thanks sure yes no maybe also still already again only both each other more less than
""".split()


class Corpus:
    """Agents whose state can go on, cycle by cycle."""

    def __init__(self, agents: int, *, seed: int = 1, turns: int = 8, tools: int = 4) -> None:
        self._random = random.Random(seed)
        self.ids = [f"agent-{number:05d}" for number in range(agents)]
        self.states = [
            AgentState(
                [self.turn(k, BEGIN + k) for k in range(turns)],
                [self.tool(k) for k in range(tools)],
                Metadata(agent_id, "1.0.0", iso(BEGIN)),
            )
            for agent_id in self.ids
        ]

    def sentence(self, least: int = 8, most: int = 24) -> str:
        """Some words that mean nothing and break no rule."""
        words = self._random.choices(_WORDS, k=self._random.randint(least, most))
        return " ".join(words).capitalize() + "."

    def turn(self, number: int, when: int) -> Turn:
        """The user speaks first, and by turns."""
        return Turn("assistant" if number % 2 else "user", self.sentence(), iso(when))

    def tool(self, number: int) -> Tool:
        """A tool with one required and one optional parameter."""
        properties = {
            "query": {"type": "string", "description": self.sentence(3, 7)},
            "limit": {"type": "integer", "default": self._random.randint(1, 99)},
        }
        parameters = {"type": "object", "properties": properties, "required": ["query"]}
        return Tool(f"look_up_{number}", self.sentence(), parameters)

    def any_agent(self) -> int:
        """One of the agents, by chance."""
        return self._random.randrange(len(self.ids))

    def cycle(self, agent: int, when: int) -> AgentState:
        """The agent goes on: two turns come, the oldest two go, the version steps."""
        old = self.states[agent]
        step = int(old.metadata.version.rpartition(".")[2]) + 1
        self.states[agent] = AgentState(
            [*old.context[2:], self.turn(0, when), self.turn(1, when)],
            old.tools,
            Metadata(old.metadata.agent_id, f"1.0.{step}", iso(when)),
        )
        return self.states[agent]

    def rewrite(self, agent: int, when: int) -> AgentState:
        """A change worth a review: turns appended, one edited; a tool gains a parameter."""
        old = self.states[agent]
        edited = msgspec.structs.replace(old.context[2], content=self.sentence())
        first = old.tools[0]
        properties = first.parameters["properties"] | {"city": {"type": "string"}}
        wider = Tool(first.name, self.sentence(), first.parameters | {"properties": properties})
        self.states[agent] = AgentState(
            [*old.context[:2], edited, *old.context[3:], self.turn(0, when), self.turn(1, when)],
            [wider, *old.tools[1:]],
            Metadata(old.metadata.agent_id, "1.1.0", iso(when)),
        )
        return self.states[agent]


def iso(when: int) -> str:
    """Seconds since 1970 as the protocol writes a time."""
    return f"{datetime.fromtimestamp(when, UTC):%Y-%m-%dT%H:%M:%SZ}"


def named(state: AgentState) -> dict[str, bytes]:
    """The three files of a state by their paths in the repository."""
    agent_id = state.metadata.agent_id
    return {state_path(agent_id, name): data for name, data in state_files(state).items()}


def snapshot(state: AgentState, when: int, layout: str) -> tuple[str, bytes]:
    """The path and the bytes of a state's snapshot."""
    files = state_files(state)
    name = SnapshotName(datetime.fromtimestamp(when, UTC), state.metadata.agent_id)
    return name.path(layout), snapshot_bytes(*(files[file] for file in STATE_FILES))


def message_for(state: AgentState, path: str) -> str:
    """The commit message of a cycle."""
    agent_id = state.metadata.agent_id
    return commit_message(agent_id, "answered", [f"Agent-Id: {agent_id}", f"Snapshot: {path}"])


class Import:
    """A ``git fast-import`` that is fed commit after commit."""

    def __init__(self, repo: Path) -> None:
        command = ["git", "fast-import", "--quiet", "--force"]
        self._process = subprocess.Popen(command, cwd=repo, stdin=subprocess.PIPE, bufsize=1 << 20)

    def __enter__(self) -> Import:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()
        if kind is None and self._process.returncode:
            raise SystemExit("git fast-import failed")

    def commit(
        self,
        branch: str,
        when: int,
        message: str,
        files: Mapping[str, bytes] | Iterable[tuple[str, bytes]],
        *,
        start: str = "",
    ) -> None:
        """One commit on ``branch``, which begins at ``start`` when that is given."""
        text = message.encode()
        self._write(b"commit refs/heads/%s\n" % branch.encode())
        self._write(b"committer Bench <bench@example.org> %d +0000\n" % when)
        self._write(b"data %d\n%s\n" % (len(text), text))
        if start:
            self._write(b"from refs/heads/%s^0\n" % start.encode())
        for path, data in files.items() if isinstance(files, Mapping) else files:
            self._write(b"M 100644 inline %s\ndata %d\n" % (path.encode(), len(data)))
            self._write(data + b"\n")

    def _write(self, data: bytes) -> None:
        if self._process.stdin:
            self._process.stdin.write(data)


def fill(
    repo: Path, corpus: Corpus, *, snapshots: int = 0, commits: int = 0, layout: str = "flat"
) -> int:
    """Make a bare repository at ``repo``; the time (seconds since 1970) at which it ends.

    ``snapshots`` is their number in all; the last ``commits`` of them come as cycles.
    """
    measure.say(f"making {repo.name}: {len(corpus.ids):,} agents, {snapshots:,} snapshots")
    repo.mkdir()
    measure.git(repo, "init", "--quiet", "--bare")
    older = snapshots - commits
    with Import(repo) as stream:
        stream.commit("main", BEGIN - 1, "begin", _first(corpus, older, layout))
        for number in range(older, snapshots):
            when = BEGIN + number * STEP
            state = corpus.cycle(corpus.any_agent(), when)
            path, data = snapshot(state, when, layout)
            stream.commit("main", when, message_for(state, path), {**named(state), path: data})
    return BEGIN + snapshots * STEP


def _first(corpus: Corpus, older: int, layout: str) -> Iterable[tuple[str, bytes]]:
    if layout == "daily":
        yield ".memrepo/policy.yml", DAILY
    for state in corpus.states:
        yield from named(state).items()
    for number in range(older):
        when = BEGIN + number * STEP
        yield snapshot(corpus.cycle(corpus.any_agent(), when), when, layout)


def copy(source: Path, target: Path) -> Path:
    """A copy of a bare repository."""
    measure.call("cp", "-a", str(source), str(target))
    return target


def check_out(source: Path, target: Path) -> Path:
    """A clone with a worktree that shares the objects of ``source``."""
    measure.say(f"checking out {target.name}")
    measure.git(source, "clone", "--quiet", "--shared", str(source), str(target))
    return target
