"""Reads ``.memrepo/rollouts/<name>.yml``: the rollout it holds, or a finding for each mistake."""

from __future__ import annotations

import re
from typing import Any, get_args

from memrepo.errors import BadInput
from memrepo.protocol.agentglobs import agent_glob_problem
from memrepo.protocol.findings import Finding
from memrepo.protocol.names import agent_id_problem
from memrepo.protocol.rollout import (
    MOST_HOLD,
    TOTAL_PARTS,
    Assignment,
    Direction,
    Kind,
    Measure,
    Phase,
    Rollout,
    State,
    Step,
    parse_hold,
    parse_weight,
    percent,
    rollout_name,
    salt_of,
)
from memrepo.protocol.suggest import shown
from memrepo.protocol.timestamps import parse_timestamp, timestamp_problem
from memrepo.protocol.treereader import TreeReader
from memrepo.protocol.yamltree import Node, Scalar, Sequence, YamlProblem, read_tree

MAX_STEPS = 100
MAX_AGENTS = 1_000
MAX_MEASURES = 50

#: The keys of each part, in the order they are written.
TOP_KEYS = (
    *("name", "control", "treatment", "agents", "unit", "salt", "assignment", "layered"),
    *("steps", "guardrails", "goals", "state"),
)
STEP_KEYS = ("weight", "hold")
GUARDRAIL_KEYS = ("metric", "kind", "direction", "margin")
GOAL_KEYS = ("metric", "kind", "direction")
STATE_KEYS = ("phase", "step", "weight", "since")
_OPTIONAL = {"layered", "guardrails", "goals", "unit", "hold", "kind"}

_UNIT = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_SALT = re.compile(r"[!-~]{1,199}:")
_COUNT = re.compile(r"0|[1-9][0-9]{0,2}")
_MARGIN = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")
_BRANCH = re.compile(r"[~^:?*\[\\]|\.\.|@\{|//|/\.|^\.|\.lock(?:/|$)|^/|/$|\.$|^-|^refs/")


def parse_rollout(data: bytes, path: str) -> tuple[Rollout | None, list[Finding]]:
    """The rollout in ``data``, or None and what is wrong with it. Never raises.

    Findings are at most ``treereader.MAX_FINDINGS``.
    """
    reader = _Reader(path, "rollout", _OPTIONAL)
    try:
        tree = read_tree(data)
    except YamlProblem as problem:
        place = Scalar("", True, problem.line, problem.column)
        message = f"The rollout cannot be read: {problem.message}."
        reader.add("rollout-syntax", place, "", message, "Repair it; nothing is assigned by it.")
        return None, reader.findings
    rollout = reader.rollout(tree)
    return (None if reader.findings else rollout), reader.findings


def read_rollout(data: bytes, path: str) -> Rollout:
    """The rollout in ``data``.  Raises BadInput with the first mistake and its place."""
    rollout, findings = parse_rollout(data, path)
    if rollout is None:
        first = findings[0]
        more = f" ({len(findings) - 1} more)" if len(findings) > 1 else ""
        place = f"{first.path}:{first.line}:{first.column}"
        raise BadInput(f"{place}: {first.message}{more}", first.hint)
    return rollout


def metric_problem(name: str) -> str | None:
    """Why ``name`` cannot be a metric's, in words, or None when it can."""
    if _METRIC.fullmatch(name):
        return None
    return "must be 1 to 64 of A-Z a-z 0-9 _ . - and begin with a letter"


def branch_problem(name: str) -> str | None:
    """Why ``name`` cannot be a branch, in words, or None when it can.

    Git's rule (git-check-ref-format), without ``refs/`` in front and of visible
    characters only.
    """
    if not name:
        return "is empty"
    if name == "HEAD" or _BRANCH.search(name) or not name.isprintable() or " " in name:
        return "is no name that Git takes for a branch"
    return "is longer than 200 characters" if len(name) > 200 else None


class _Reader(TreeReader):
    def missing_hint(self, key: str, found: dict[str, Node]) -> str:
        name = found.get("name")
        if key == "salt" and isinstance(name, Scalar) and not agent_id_problem(name.text):
            return f'Write `salt: "{salt_of(name.text)}"`, and never change it.'
        return ""

    def rollout(self, tree: Node | None) -> Rollout | None:
        found = self.keys(tree, "", "The rollout", TOP_KEYS)
        if not found:
            return None
        name = self.text(found.get("name"), "/name", "`name`", agent_id_problem)
        wanted = rollout_name(self.path)
        if name is not None and wanted is not None and name != wanted:
            message = f"`name` must be the file's own: {shown(wanted)}."
            self.bad(found["name"], "/name", message)
        branches = [
            self.text(found.get(key), f"/{key}", f"`{key}`", branch_problem)
            for key in ("control", "treatment")
        ]
        if branches[0] is not None and branches[0] == branches[1]:
            self.bad(found["treatment"], "/treatment", "`treatment` is the control branch.")
        measures = [
            *self.measures(found.get("guardrails"), "guardrails", GUARDRAIL_KEYS),
            *self.measures(found.get("goals"), "goals", GOAL_KEYS),
        ]
        self.unique(measures)
        unit = self.text(found.get("unit"), "/unit", "`unit`", _unit_problem)
        fields = {
            "name": name,
            "control": branches[0],
            "treatment": branches[1],
            "agents": self.agents(found.get("agents")),
            "unit": unit or "user",
            "salt": self.text(found.get("salt"), "/salt", "`salt`", _salt_problem),
            "assignment": self.word(
                found.get("assignment"), "/assignment", "`assignment`", get_args(Assignment)
            ),
            "layered": self.word(found.get("layered"), "/layered", "`layered`", ("true", "false"))
            == "true",
            "steps": self.steps(found.get("steps")),
        }
        state = self.state(found.get("state"), fields["steps"])
        if self.findings:
            return None
        return Rollout(
            **fields,
            guardrails=tuple(m for m, _ in measures if m.margin is not None),
            goals=tuple(m for m, _ in measures if m.margin is None),
            state=state,
        )

    def agents(self, node: Node | None) -> tuple[str, ...]:
        agents: dict[str, None] = {}
        items = self.items(node, "/agents", "`agents`", MAX_AGENTS)
        for index, item in enumerate(items):
            what = f"Entry {index + 1} of `agents`"
            text = self.text(item, f"/agents/{index}", what, agent_glob_problem)
            if text is not None:
                agents[text] = None
        if node is not None and not items and (isinstance(node, Sequence | Scalar)):
            hint = 'Write the ids or globs it covers; `["*"]` for every agent.'
            self.bad(node, "/agents", "`agents` names no agent.", hint)
        return tuple(agents)

    def steps(self, node: Node | None) -> tuple[Step, ...]:
        steps: list[Step] = []
        items = self.items(node, "/steps", "`steps`", MAX_STEPS)
        for index, item in enumerate(items):
            pointer = f"/steps/{index}"
            found = self.keys(item, pointer, f"Step {index + 1}", STEP_KEYS)
            weight = self.value(
                found.get("weight"),
                f"{pointer}/weight",
                "`weight` must be a percentage from 0.01 to 100, with two decimals at most.",
                lambda text: parse_weight(text) or None,
            )
            hold = self.value(
                found.get("hold"),
                f"{pointer}/hold",
                f"`hold` must be a time like 90s, 30m, 24h or 7d, {MOST_HOLD // 86_400}d at most.",
                parse_hold,
            )
            if weight is None:
                continue
            if steps and weight <= steps[-1].weight:
                message = f"Step {index + 1} must be above {percent(steps[-1].weight)}."
                self.bad(found["weight"], f"{pointer}/weight", message)
            steps.append(Step(weight, hold or 0))
        if node is not None and not items and isinstance(node, Sequence | Scalar):
            self.bad(node, "/steps", "`steps` is empty.", "Write `- weight: 5` for one of 5 %.")
        return tuple(steps)

    def measures(
        self, node: Node | None, part: str, keys: tuple[str, ...]
    ) -> list[tuple[Measure, Node]]:
        measures = []
        for index, item in enumerate(self.items(node, f"/{part}", f"`{part}`", MAX_MEASURES)):
            pointer = f"/{part}/{index}"
            found = self.keys(item, pointer, f"Entry {index + 1} of `{part}`", keys)
            metric = self.text(found.get("metric"), f"{pointer}/metric", "`metric`", metric_problem)
            kind = self.word(found.get("kind"), f"{pointer}/kind", "`kind`", get_args(Kind))
            direction = self.word(
                found.get("direction"), f"{pointer}/direction", "`direction`", get_args(Direction)
            )
            margin = self.value(
                found.get("margin"),
                f"{pointer}/margin",
                "`margin` must be a number of at least 0, with six decimals at most.",
                lambda text: float(text) if _MARGIN.fullmatch(text) else None,
                "It is the difference between the arms that is still accepted.",
            )
            if margin is not None and margin >= 1 and kind != "mean":
                hint = "Write 0.02 for two percentage points, or `kind: mean`."
                self.bad(
                    found["margin"], f"{pointer}/margin", "A rate's `margin` is below 1.", hint
                )
            if metric and direction:
                measures.append((Measure(metric, kind or "rate", direction, margin), item))
        return measures

    def unique(self, measures: list[tuple[Measure, Node]]) -> None:
        seen: set[str] = set()
        for measure, node in measures:
            if measure.metric in seen:
                self.bad(node, "", f"`{measure.metric}` is measured by an entry above already.")
            seen.add(measure.metric)

    def state(self, node: Node | None, steps: tuple[Step, ...]) -> Any:
        if node is None:
            return None
        found = self.keys(node, "/state", "`state`", STATE_KEYS)
        phase = self.word(found.get("phase"), "/state/phase", "`phase`", get_args(Phase))
        step = self.value(
            found.get("step"),
            "/state/step",
            f"`step` must be a whole number from 0 to {len(steps)}.",
            lambda text: int(text) if _COUNT.fullmatch(text) and int(text) <= len(steps) else None,
        )
        message = "`weight` must be a percentage, with two decimals at most."
        weight = self.value(found.get("weight"), "/state/weight", message, parse_weight)
        since = found.get("since")
        when = parse_timestamp(since.text) if isinstance(since, Scalar) else None
        if since is not None and (when is None or not 1970 <= when.year < 9000):
            why = "is out of range"
            if when is None:
                why = timestamp_problem(since.text) if isinstance(since, Scalar) else "is no text"
            self.bad(since, "/state/since", f"`since` {why}.", "Write it like 2026-03-01T12:00:00Z")
            when = None
        if phase is None or step is None or weight is None or when is None:
            return None
        fitting = _fitting(phase, step, steps)
        if fitting is None:
            message = f"`step` must be {'0' if phase == 'draft' else 'one of the steps'}."
            self.bad(found["step"], "/state/step", f"In phase {phase} {message}")
        elif weight != fitting:
            message = f"In phase {phase}, step {step}, the weight is {percent(fitting)}."
            hint = "Change the step's weight under `steps:` and the state's together."
            self.bad(found["weight"], "/state/weight", message, hint)
        return State(phase, step, weight, when)


def _fitting(phase: Phase, step: int, steps: tuple[Step, ...]) -> int | None:
    """The weight that belongs to a phase and step, or None where they do not go together."""
    if phase == "draft":
        return 0 if step == 0 else None
    if phase == "aborted":
        return 0
    if step == 0:
        return None
    return TOTAL_PARTS if phase == "promoted" else steps[step - 1].weight


def _unit_problem(text: str) -> str | None:
    return None if _UNIT.fullmatch(text) else "must be a word of a-z 0-9 _ -"


def _salt_problem(text: str) -> str | None:
    if _SALT.fullmatch(text):
        return None
    return "must be visible ASCII characters that end in a colon"
