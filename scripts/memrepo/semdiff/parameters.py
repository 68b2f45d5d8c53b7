"""The parameters that an object's schema names, in either spelling."""

from __future__ import annotations

from typing import Any

from memrepo.semdiff.spelling import Side, parameters_side


def required_of(schema: dict[str, Any]) -> dict[str, int]:
    """Names in ``required``, with their last place in it; what is no name is passed over."""
    names = schema.get("required")
    if not isinstance(names, list):
        return {}
    return {name: index for index, name in enumerate(names) if isinstance(name, str)}


def parameters_of(side: Side, schema: dict[str, Any] | None = None) -> dict[str, Side]:
    """Every parameter, declared in ``properties`` or only named in ``required``.

    ``schema`` is ``side.schema()`` where the caller has it already. A parameter that is
    only named accepts anything, and lies where its name does.
    """
    if schema is None:
        schema = side.schema()
    if not isinstance(schema, dict):
        return {}
    found: dict[str, Side] = {}
    declared = schema.get("properties")
    if isinstance(declared, dict):
        for name, value in declared.items():
            found[name] = side.part(value, "properties", name)
    for name, index in required_of(schema).items():
        if name not in found:
            found[name] = side.part(True, "required", index)
    return found


def signature(parameters: Any) -> dict[str, str]:
    """Parameter names with their types in short, to compare the bodies of two tools by."""
    kinds: dict[str, str] = {}
    for name, part in parameters_of(parameters_side(parameters)).items():
        schema = part.schema()
        kinds[name] = repr(schema.get("type")) if isinstance(schema, dict) else ""
    return kinds
