"""Writes rollout files: a new one whole, a changed state into the bytes that are there."""

from __future__ import annotations

import re

import msgspec

from memrepo.errors import BadInput
from memrepo.protocol.rollout import Measure, Rollout, State, hold_text, weight_text
from memrepo.protocol.rolloutfile import STATE_KEYS, read_rollout
from memrepo.protocol.timestamps import iso
from memrepo.protocol.yamltree import Mapping, Scalar, read_tree

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
# Words and numbers that some YAML reader takes for something other than text.
_NO_TEXT = re.compile(
    r"[-+.0-9][-+.0-9_:eExXoa-fA-F]*|null|true|false|yes|no|on|off|y|n|nan|inf", re.IGNORECASE
)
# YAML 1.1, section 5.4; the parser counts lines by these.
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_BOM = "\ufeff"


def dump_rollout(rollout: Rollout) -> bytes:
    """The whole file in its canonical form; reading it gives ``rollout`` back."""
    lines = [
        "# A rollout: `memrepo rollout` moves its state; every change is one commit.",
        f"name: {_text(rollout.name)}",
        f"control: {_text(rollout.control)}",
        f"treatment: {_text(rollout.treatment)}",
        f"agents: [{', '.join(_text(agent) for agent in rollout.agents)}]",
        f"unit: {_text(rollout.unit)}",
        "# Another salt or assignment would move every unit.",
        f"salt: {_text(rollout.salt)}",
        f"assignment: {rollout.assignment}",
        f"layered: {'true' if rollout.layered else 'false'}",
        "steps:",
    ]
    for step in rollout.steps:
        lines.append(f"  - weight: {weight_text(step.weight)}")
        if step.hold:
            lines.append(f"    hold: {hold_text(step.hold)}")
    lines += _measures("guardrails", rollout.guardrails) + _measures("goals", rollout.goals)
    lines.append("state:")
    lines += [f"  {key}: {text}" for key, text in _state(rollout.state).items()]
    return ("\n".join(lines) + "\n").encode()


def with_state(data: bytes, state: State, path: str) -> bytes:
    """``data`` with another state; every other byte, comments too, is as it was.

    Raises BadInput where ``data`` is no rollout, or writes its state in a way that
    cannot be replaced in place.
    """
    rollout = read_rollout(data, path)
    text = data.decode("utf-8")
    mark = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(mark)
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    wanted = _state(state)
    # From the end to the start, so that the places before stay where they are.
    for key, node in reversed(_state_nodes(data)):
        begin = starts[node.line - 1] + node.column - 1
        quote = "" if node.plain else text[begin : begin + 1]
        old = f"{quote}{node.text}{quote}"
        if not text.startswith(old, begin):
            raise _not_in_place(path, node)
        text = text[:begin] + quote + wanted[key] + quote + text[begin + len(old) :]
    result = (mark + text).encode()
    if read_rollout(result, path) != msgspec.structs.replace(rollout, state=state):
        raise _not_in_place(path, node)
    return result


def _state_nodes(data: bytes) -> list[tuple[str, Scalar]]:
    """The keys of the state and their values, in the order of the file."""
    tree = read_tree(data)
    top = tree.items if isinstance(tree, Mapping) else ()
    block = next((value for key, value in top if key.text == "state"), None)
    inner = block.items if isinstance(block, Mapping) else ()
    return [(key.text, value) for key, value in inner if isinstance(value, Scalar)]


def _not_in_place(path: str, node: Scalar) -> BadInput:
    place = f"{path}:{node.line}:{node.column}"
    return BadInput(
        f"{place}: the state cannot be replaced where it stands",
        f"write `state:` as plain lines: {', '.join(f'{key}: …' for key in STATE_KEYS)}",
    )


def _state(state: State) -> dict[str, str]:
    return {
        "phase": state.phase,
        "step": str(state.step),
        "weight": weight_text(state.weight),
        "since": iso(state.since),
    }


def _measures(title: str, measures: tuple[Measure, ...]) -> list[str]:
    lines = [f"{title}:"] if measures else []
    for measure in measures:
        lines.append(f"  - metric: {_text(measure.metric)}")
        lines += [f"    kind: {measure.kind}", f"    direction: {measure.direction}"]
        if measure.margin is not None:
            margin = f"{measure.margin:.6f}".rstrip("0").rstrip(".")
            lines.append(f"    margin: {margin}")
    return lines


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and not _NO_TEXT.fullmatch(text):
        return text
    return "'" + text.replace("'", "''") + "'"
