"""What a change of one JSON Schema keyword means for whoever calls the tool.

Meanings are those of JSON Schema (drafts 4 to 2020-12, validation vocabulary). The
caller *gives* the arguments, so a schema that accepts less is breaking and one that
accepts more is compatible; where that cannot be told, it is breaking.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from memrepo.semdiff.change import Class, ToolKind
from memrepo.semdiff.jsonvalue import frozen, same
from memrepo.semdiff.spelling import TYPES

#: Bounds from below, with the value that says nothing, and bounds from above.
LOWER: dict[str, Any] = {
    "minimum": None,
    "exclusiveMinimum": False,
    "minLength": 0,
    "minItems": 0,
    "minProperties": 0,
    "minContains": 1,
}
UPPER: dict[str, Any] = {
    "maximum": None,
    "exclusiveMaximum": False,
    "maxLength": None,
    "maxItems": None,
    "maxProperties": None,
    "maxContains": None,
}
#: Rules that accept less once there, and of which two cannot be compared.
RULES = frozenset(
    {
        "pattern", "format", "multipleOf", "contains", "contentEncoding", "contentMediaType",
        "not", "dependentRequired", "dependencies", "uniqueItems",
    }
)  # fmt: skip
#: Rules of which not even coming or going tells whether more or less is accepted.
OPAQUE = frozenset({"if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef"})
#: Text about the value, written for the reader.
TEXT = frozenset({"title", "description"})
#: Keywords that say something about a value and nothing about which are accepted.
#: (So does every keyword that JSON Schema does not know.)
ANNOTATIONS = TEXT | {
    "$schema", "$id", "id", "$anchor", "$comment", "$vocabulary", "default", "example",
    "examples", "deprecated", "readOnly", "writeOnly", "$defs", "definitions",
}  # fmt: skip


def bound_class(keyword: str, before: Any, after: Any) -> Class | None:
    """Class of a bound's change (None in a value: not there); None where nothing changed."""
    lower = keyword in LOWER
    nothing = LOWER[keyword] if lower else UPPER[keyword]
    old = nothing if before is None else before
    new = nothing if after is None else after
    if same(old, new):
        return None
    if _is_number(old) and _is_number(new):
        return "compatible" if (new < old) == lower else "breaking"
    return "compatible" if same(new, nothing) else "breaking"


def rule_class(keyword: str, before: Any, after: Any) -> Class | None:
    """Class of a change of one of :data:`RULES` or :data:`OPAQUE`; None where nothing changed."""
    if same(before, after) or (keyword == "uniqueItems" and not before and not after):
        return None
    if keyword in OPAQUE:
        return "breaking"
    if after is None or (keyword == "uniqueItems" and after is False):
        return "compatible"
    if keyword == "multipleOf" and _divides(after, before):
        return "compatible"
    return "breaking"


def type_class(before: Any, after: Any) -> Class | None:
    """Class of a change of ``type`` (None: any type); None where both accept the same types."""
    if same(before, after):
        return None
    old, new = _types(before), _types(after)
    if old is None or new is None:
        return "breaking"
    if not _covers(new, old):
        return "breaking"
    return None if _covers(old, new) else "compatible"


def _types(declared: Any) -> frozenset[str] | None:
    """The names of the types accepted; None where ``declared`` is no type."""
    if declared is None:
        return TYPES
    names = [declared] if isinstance(declared, str) else declared
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    return frozenset(names)


def _covers(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    """Every number type accepts whole numbers."""
    return all(name in wide or (name == "integer" and "number" in wide) for name in narrow)


class Values(NamedTuple):
    """The only values accepted, and the keyword that says so."""

    keyword: str
    values: list[Any]


def values_of(schema: dict[str, Any]) -> Values | None:
    """The values of ``enum`` or ``const``; None where neither says which are accepted."""
    listed = schema.get("enum")
    if "const" in schema:
        only = schema["const"]
        apart = isinstance(listed, list) and not any(same(v, only) for v in listed)
        return Values("const", [] if apart else [only])
    return Values("enum", listed) if isinstance(listed, list) else None


def compare_values(before: list[Any], after: list[Any]) -> ToolKind | None:
    """Narrowed, widened, or changed otherwise; None for the same values in any order."""
    old, new = {frozen(v) for v in before}, {frozen(v) for v in after}
    if old == new:
        return None
    if new < old:
        return "enum-narrowed"
    return "enum-widened" if old < new else "enum-changed"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _divides(small: Any, large: Any) -> bool:
    """Whole numbers only: for fractions, binary rounding would decide."""
    return (
        isinstance(small, int)
        and isinstance(large, int)
        and not isinstance(small, bool)
        and small > 0
        and large % small == 0
    )
