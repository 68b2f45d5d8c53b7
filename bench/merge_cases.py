"""Random three-way merges of ``tools.json``, each with what must come of it.

No public corpus of merges has arrays whose elements are known by a key, so this one is made
to be used elsewhere too: it needs Python's standard library alone, the same seed gives the
same cases on every machine, and the expected outcome comes from the *edits* that made the
sides, not from comparing the sides. A merge that is tested with it shares nothing with it.

    for case in cases(600, seed=1):
        outcome = my_merge(case.base, case.ours, case.theirs)      # lists of tools
        verdict = judge(case, outcome)                             # see Verdict

A side makes one to three edits: add a tool, add one that the other side adds too (with the
same body or another), edit a description, edit a nested default, delete a tool, move a tool.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Tool = dict[str, Any]
Verdict = Literal["right clean", "right conflict", "false conflict", "silently wrong"]

_NAMES = "search fetch calc refund book cancel notify convert translate summarise".split()
_WORDS = """
a an any each first for from in last looks makes new of old on one or sends the then to two
under with account alarm answer bill city date flight hotel letter mail map note order page
parcel photo price room seat song street table ticket train user weather word year
""".split()


@dataclass
class Edits:
    """What a side did, as it stands at the end.

    ``written`` maps (tool, "description" or the name of a parameter) to the new text or
    default; ``added`` and ``deleted`` are tools; ``moved`` tells whether one was moved.
    """

    written: dict[tuple[str, str], Any] = field(default_factory=dict)
    added: dict[str, Tool] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    moved: bool = False


@dataclass
class Case:
    """One merge; ``conflicts`` are JSON pointers with a tool's name for its index.

    Without conflicts ``tools`` is what each name must stand for, and ``order`` what tools of
    the base come in which order.
    """

    number: int
    base: list[Tool]
    ours: list[Tool]
    theirs: list[Tool]
    conflicts: set[str]
    tools: dict[str, Tool]
    order: list[str]


def cases(count: int, seed: int) -> Iterator[Case]:
    """``count`` merges, always the same for a seed."""
    for number in range(count):
        yield _case(number, random.Random(f"{seed}/{number}"))


def _case(number: int, rng: random.Random) -> Case:
    names = rng.sample(_NAMES, rng.randint(1, 5))
    base = [_tool(rng, name) for name in names]
    shared = _tool(rng, rng.choice([name for name in _NAMES if name not in names]))
    ours, mine = _side(rng, base, shared, "left")
    theirs, other = _side(rng, base, shared, "right")
    conflicts, tools = _expected(base, mine, other)
    order = _expected_order(*([t["name"] for t in side] for side in (base, ours, theirs)))
    if order is None:
        conflicts.add("")
    return Case(number, base, ours, theirs, conflicts, tools, order or [])


def _text(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(4, 9))).capitalize() + "."


def _tool(rng: random.Random, name: str) -> Tool:
    properties = {
        "query": {"type": "string", "description": _text(rng), "default": rng.choice(_WORDS)},
        "limit": {"type": "integer", "default": rng.randint(1, 99)},
        "share": {"type": "number", "default": rng.randint(1, 99) / 4},
    }
    parameters = {"type": "object", "properties": properties, "required": ["query"]}
    return {"name": name, "description": _text(rng), "parameters": parameters}


def _side(
    rng: random.Random, base: list[Tool], shared: Tool, label: str
) -> tuple[list[Tool], Edits]:
    tools, edits = copy.deepcopy(base), Edits()
    for number in range(rng.randint(1, 3)):
        what = rng.choice(("add", "add the same", "describe", "default", "delete", "move"))
        old = [tool for tool in tools if tool["name"] not in edits.added]
        if what == "add":
            _add(rng, tools, edits, _tool(rng, f"{label}_{number}"))
        elif what == "add the same":
            if shared["name"] not in edits.added:
                _add(rng, tools, edits, _variant(rng, shared))
        elif not old:
            continue
        elif what == "describe":
            tool = rng.choice(old)
            # A few texts to choose from, so that two sides sometimes write the same.
            tool["description"] = f"{rng.choice(_WORDS[:4])} {tool['name']}"
            edits.written[tool["name"], "description"] = tool["description"]
        elif what == "default":
            tool, key = rng.choice(old), rng.choice(("query", "limit", "share"))
            value = {"query": rng.choice(_WORDS[:4]), "limit": rng.randint(100, 103), "share": 0.5}
            tool["parameters"]["properties"][key]["default"] = value[key]
            edits.written[tool["name"], key] = value[key]
        elif what == "delete":
            tool = rng.choice(old)
            tools.remove(tool)
            edits.deleted.add(tool["name"])
        elif not edits.moved:
            tool = rng.choice(old)
            tools.remove(tool)
            tools.insert(rng.randint(0, len(tools)), tool)
            edits.moved = True
    return tools, edits


def _add(rng: random.Random, tools: list[Tool], edits: Edits, tool: Tool) -> None:
    tools.insert(rng.randint(0, len(tools)), tool)
    edits.added[tool["name"]] = tool


def _variant(rng: random.Random, shared: Tool) -> Tool:
    """The tool that both may add: half the time as it is, else with another text or default."""
    tool = copy.deepcopy(shared)
    if rng.random() < 0.25:
        tool["description"] = _text(rng)
    if rng.random() < 0.25:
        tool["parameters"]["properties"]["limit"]["default"] = rng.randint(100, 103)
    return tool


def _expected(base: list[Tool], mine: Edits, other: Edits) -> tuple[set[str], dict[str, Tool]]:
    """What the two lists of edits come to when both are done to the base."""
    conflicts: set[str] = set()
    tools: dict[str, Tool] = {}
    for before in base:
        name = before["name"]
        writes = [_real(edits, before) for edits in (mine, other)]
        if name in mine.deleted or name in other.deleted:
            kept = [w for w, e in zip(writes, (mine, other), strict=True) if name not in e.deleted]
            if any(kept):
                conflicts.add(f"/{name}")
            continue
        tool = copy.deepcopy(before)
        for key in {**writes[0], **writes[1]}:
            values = [write[key] for write in writes if key in write]
            if len(values) == 2 and values[0] != values[1]:
                conflicts.add(_pointer(name, key))
            _write(tool, key, values[0])
        tools[name] = tool
    for name in {**mine.added, **other.added}:
        bodies = [edits.added[name] for edits in (mine, other) if name in edits.added]
        tools[name] = bodies[0]
        for key in ("description", "query", "limit", "share"):
            if _read(bodies[0], key) != _read(bodies[-1], key):
                conflicts.add(_pointer(name, key))
    return conflicts, tools


def _real(edits: Edits, before: Tool) -> dict[str, Any]:
    """A side's writes to one tool that say something else than the base did."""
    return {
        key: value
        for (name, key), value in edits.written.items()
        if name == before["name"] and _read(before, key) != value
    }


def _read(tool: Tool, key: str) -> Any:
    if key == "description":
        return tool["description"]
    return tool["parameters"]["properties"][key]["default"]


def _write(tool: Tool, key: str, value: Any) -> None:
    if key == "description":
        tool["description"] = value
    else:
        tool["parameters"]["properties"][key]["default"] = value


def _pointer(name: str, key: str) -> str:
    rest = "description" if key == "description" else f"parameters/properties/{key}/default"
    return f"/{name}/{rest}"


def _expected_order(base: list[str], ours: list[str], theirs: list[str]) -> list[str] | None:
    """The order of the tools that all three have, or None where both moved the same ones.

    A move shifts every tool between where it took one and where it put it. Two moves whose
    stretches have no tool in common do not meet.
    """
    common = [name for name in base if name in ours and name in theirs]
    left = [name for name in ours if name in common]
    right = [name for name in theirs if name in common]
    if left == right:
        return left
    changed = [[i for i, name in enumerate(common) if side[i] != name] for side in (left, right)]
    if changed[0] and changed[1]:
        spans = [set(range(places[0], places[-1] + 1)) for places in changed]
        if spans[0] & spans[1]:
            return None
    return [
        right[i] if changed[1] and changed[1][0] <= i <= changed[1][-1] else left[i]
        for i in range(len(common))
    ]


def judge(case: Case, outcome: list[Tool] | None, places: set[str] | None = None) -> Verdict:
    """What a merge's outcome is worth; None is a conflict, at ``places`` where it names them.

    A conflict that misses a place, or names a wrong one, is a false conflict.
    """
    if outcome is None:
        right = bool(case.conflicts) and places in (None, case.conflicts)
        return "right conflict" if right else "false conflict"
    if case.conflicts or problems(case, outcome):
        return "silently wrong"
    return "right clean"


def problems(case: Case, outcome: Sequence[Any]) -> list[str]:
    """What a clean outcome lost, doubled, invented or put in a wrong order."""
    if not all(isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in outcome):
        return ["an entry is no tool"]
    found = []
    names = [tool["name"] for tool in outcome]
    if len(set(names)) != len(names):
        found.append("two tools of one name")
    if {tool["name"]: tool for tool in outcome} != case.tools:
        found.append("a tool is not what it must be")
    if [name for name in names if name in case.order] != case.order:
        found.append("the tools of the base are out of order")
    return found


def neighbour_problems(case: Case, outcome: Sequence[Tool]) -> list[str]:
    """Tools that were added and do not stand behind the neighbour that their side gave them.

    Stricter than :func:`problems`: not every merge promises it. Between an added tool and
    its neighbour only other added ones may stand.
    """
    names = [tool["name"] for tool in outcome]
    before = {tool["name"] for tool in case.base}
    mine = {tool["name"] for tool in case.ours}
    found = []
    for side, others in ((case.ours, set[str]()), (case.theirs, mine)):
        anchor: str | None = None
        for name in (tool["name"] for tool in side):
            if name in case.order or name in others - before:
                anchor = name
            elif name not in before:
                start = names.index(anchor) + 1 if anchor else 0
                if any(n in before for n in names[start : names.index(name)]) or (
                    names.index(name) < start
                ):
                    found.append(f"{name} is not behind {anchor or 'the beginning'}")
    return found
