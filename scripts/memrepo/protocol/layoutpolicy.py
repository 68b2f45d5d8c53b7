"""Edit ``history.layout`` in the text of a policy file, and nothing else in it."""

from __future__ import annotations

import msgspec

from memrepo.errors import BadInput
from memrepo.protocol.policy import POLICY_PATH
from memrepo.protocol.policyfile import parse_policy
from memrepo.protocol.yamltree import Mapping, Node, Scalar, YamlProblem, read_tree

_HINT = "set `history.layout: daily` there yourself, commit it, then run the command again"


def with_daily_layout(data: bytes | None) -> bytes:
    """The policy file ``data`` (None: there is none) with ``history.layout: daily``.

    Comments and every other line stay. Raises BadInput where the file cannot be read, or
    is written in a way that cannot be edited safely.
    """
    if data is None:
        return b"version: 1\n\nhistory:\n  layout: daily\n"
    policy, before = parse_policy(data)
    if policy.history.layout == "daily":
        return data
    try:
        tree = read_tree(data)
    except YamlProblem as problem:
        raise BadInput(
            f"{POLICY_PATH}, line {problem.line}, cannot be read: {problem.message}",
            "repair it (memrepo validate explains more), then run the command again",
        ) from None
    mark = data[:3] if data.startswith(b"\xef\xbb\xbf") else b""
    edited = mark + _edited(data.decode("utf-8-sig"), tree).encode("utf-8")
    wanted = msgspec.structs.replace(
        policy, history=msgspec.structs.replace(policy.history, layout="daily")
    )
    after, findings = parse_policy(edited)
    if after != wanted or len(findings) > len(before):
        raise BadInput(f"{POLICY_PATH} cannot be edited without changing more than it", _HINT)
    return edited


def _edited(text: str, tree: Node | None) -> str:
    lines = text.splitlines(keepends=True)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    key, section = _child(tree, "history")
    if key is None:
        gap = "" if not lines or lines[-1].endswith(("\n", "\r")) else end
        return f"{text}{gap}{end if lines else ''}history:{end}  layout: daily{end}"
    name, layout = _child(section, "layout")
    if name is not None and isinstance(layout, Scalar):
        place = layout if layout.text else name  # nothing has no place of its own
        line, at = lines[place.line - 1], place.column - 1
        tokens = _spellings(layout.text) if layout.text else ("layout:",)
        old = next((token for token in tokens if line.startswith(token, at)), "")
        new = "daily" if layout.text else f"{old} daily"
        lines[place.line - 1] = f"{line[:at]}{new}{line[at + len(old) :]}"
        return "".join(lines)
    children = section.items if isinstance(section, Mapping) else ()
    indent = " " * (children[0][0].column - 1) if children else "  "
    lines.insert(key.line, f"{indent}layout: daily{end}")
    return "".join(lines)


def _spellings(text: str) -> tuple[str, str, str]:
    return (text, f'"{text}"', f"'{text}'")


def _child(node: Node | None, name: str) -> tuple[Scalar | None, Node | None]:
    items = node.items if isinstance(node, Mapping) else ()
    return next(((key, value) for key, value in items if key.text == name), (None, None))
