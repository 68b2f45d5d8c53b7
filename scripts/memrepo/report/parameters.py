"""The parameters of a tool, and what happened to them, in words and in table form.

Like ``phrases``, everything here returns raw text; the caller escapes it.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from memrepo.report.escape import clipped
from memrepo.semdiff.change import ParameterChange, Word
from memrepo.semdiff.words import word_diff

_KIND_PHRASES: dict[str, str] = {
    "parameter-added": "added",
    "parameter-removed": "removed",
    "type-changed": "type changed",
    "became-required": "became required",
    "became-optional": "became optional",
    "enum-narrowed": "fewer values allowed",
    "enum-widened": "more values allowed",
    "enum-changed": "other values allowed",
    "default-changed": "default changed",
    "constraint-changed": "constraint changed",
    "description-changed": "reworded",
    "schema-changed": "schema changed",
}


def kind_phrase(change: ParameterChange) -> str:
    """What happened to a parameter, in words; an added one says when it is required."""
    phrase = _KIND_PHRASES.get(change.kind, change.kind)
    if change.kind == "parameter-added" and change.cls == "breaking":
        return "added, required"
    return phrase


def parameter_label(pointer: str) -> str:
    """The name a person knows: ``/parameters/properties/a/properties/b`` is ``a.b``.

    The short map's ``/parameters/query`` is ``query``; list items show as ``[]``.
    """
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    if steps[:1] != ["parameters"]:
        return "/".join(steps) or "tool"
    label = ""
    steps = steps[1:]
    for index, step in enumerate(steps):
        # A second "properties" in a row is a parameter of that name.
        follows = index > 0 and steps[index - 1] == "properties"
        if step == "properties" and index + 1 < len(steps) and not follows:
            continue
        if step == "items" and label:
            label += "[]"
        else:
            label += f".{step}" if label else step
    return label or "parameters"


def reworded(change: ParameterChange) -> tuple[Word, ...]:
    """A description that changed, word by word; () for every other change."""
    if not (isinstance(change.before, str) and isinstance(change.after, str)):
        return ()
    return word_diff(change.before, change.after) if change.kind == "description-changed" else ()


def change_values(change: ParameterChange, limit: int = 0) -> tuple[str, str]:
    """What stood before and what stands after, each at most ``limit`` characters; "" for none.

    A parameter that came or went is ``string: What it is for``, where that says all of it.
    """
    whole = change.kind in ("parameter-added", "parameter-removed")
    before, after = (
        _parameter_phrase(value) if whole else value_phrase(value)
        for value in (change.before, change.after)
    )
    return (clipped(before, limit), clipped(after, limit)) if limit else (before, after)


def _parameter_phrase(schema: Any) -> str:
    if not (isinstance(schema, dict) and schema and set(schema) <= {"type", "description"}):
        return value_phrase(schema)
    return ": ".join(value_phrase(schema[key]) for key in ("type", "description") if key in schema)


def value_phrase(value: Any, limit: int = 0) -> str:
    """A value as compact JSON, a string as it is, "" for None; at most ``limit`` characters."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clipped(text, limit) if limit else text


class Parameter(msgspec.Struct, frozen=True):
    """One parameter of a tool as a table shows it; ``required`` None where unknown."""

    name: str
    type: str
    required: bool | None
    description: str

    @property
    def phrase(self) -> str:
        """``string, optional. What it is for``."""
        needed = {True: ", required", False: ", optional", None: ""}[self.required]
        return f"{self.type}{needed}{f'. {self.description}' if self.description else ''}"


def parameters_of(parameters: dict[str, Any]) -> list[Parameter]:
    """A tool's parameters from either spelling: JSON Schema object or short map."""
    properties = parameters.get("properties")
    if isinstance(properties, dict) and parameters.get("type", "object") == "object":
        wanted = parameters.get("required")
        required = wanted if isinstance(wanted, list) else []
        return [_parameter(name, schema, name in required) for name, schema in properties.items()]
    if parameters.get("type") == "object":
        return []
    # In the short map every parameter is needed that does not say otherwise.
    return [
        _parameter(name, schema, not _says_optional(schema)) for name, schema in parameters.items()
    ]


def _says_optional(schema: Any) -> bool:
    if isinstance(schema, dict):
        return (
            bool(schema.get("optional")) or schema.get("required") is False or "default" in schema
        )
    return isinstance(schema, str) and (schema.rstrip().endswith("?") or "optional" in schema)


def rest_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """All of ``parameters`` where :func:`parameters_of` does not say everything, else {}.

    A default, an example or a nested description can hold text as well, so a reader must
    be able to see it.
    """
    schemas: list[Any] = list(parameters.values())
    if isinstance(properties := parameters.get("properties"), dict):
        schemas = list(properties.values())
        if set(parameters) - {"type", "properties", "required", "additionalProperties", "$schema"}:
            return parameters
    simple = all(
        set(schema) <= {"type", "description", "enum"} if isinstance(schema, dict) else True
        for schema in schemas
    )
    return {} if simple else parameters


def _parameter(name: str, schema: Any, required: bool | None) -> Parameter:
    if not isinstance(schema, dict):
        return Parameter(name, value_phrase(schema), required, "")
    kind = value_phrase(schema.get("type", ""))
    if kind == "array" and isinstance(items := schema.get("items"), dict):
        kind = f"array of {value_phrase(items.get('type', 'any'))}"
    if isinstance(allowed := schema.get("enum"), list):
        kind = " | ".join(value_phrase(choice) or "null" for choice in allowed)
    return Parameter(name, kind or "any", required, value_phrase(schema.get("description")))
