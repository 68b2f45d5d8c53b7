"""The two spellings of a tool's ``parameters``, brought to one: JSON Schema.

Short map: ``{"query": "string", "limit": "integer?"}``. A parameter of a short map is
required unless its type ends with "?" or says "optional" (``"optional integer"``,
``"integer, optional"``, ``"integer (optional)"``). A type may be an alias ("str",
"int", "bool", "dict", "list"), a list (``"string[]"``, ``"list<string>"``), a choice
(``"string | null"``) or "any", and words behind it are its description
(``"string: the city"``). A parameter that is an object is a schema, or a short map
again; it is optional where it says ``"required": false``, ``"optional": true`` or has a
default. Text that names no type at all is a description of a parameter of any type.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from memrepo.semdiff.jsonvalue import step

#: How a value is to be read: a JSON Schema, a short map, the type word of a short map,
#: or an entry of a short map that is a schema itself.
Form = Literal["schema", "map", "word", "entry"]

_ALIASES = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "none": "null",
}
TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_ANY = frozenset({"any", "unknown"})

#: Keywords that only a schema has; names of parameters are hardly ever one of them.
_STRUCTURE = frozenset(
    {"$schema", "$ref", "$defs", "properties", "anyOf", "oneOf", "allOf", "additionalProperties"}
)
#: Keywords that may stand beside ``type`` and are likely names of parameters too.
_KEYWORDS = _STRUCTURE | frozenset(
    {
        "type", "title", "description", "required", "enum", "const", "default", "examples",
        "format", "pattern", "items", "minimum", "maximum", "minLength", "maxLength",
        "minItems", "maxItems", "minProperties", "maxProperties", "definitions", "$id",
        "$comment", "patternProperties", "propertyNames", "deprecated", "nullable", "not",
        "if", "then", "else",
    }
)  # fmt: skip

_WORD = re.compile(
    r"(optional\s+)?"
    r"([a-z][\w.]*(?:[<\[]\w[\w.]*[>\]])?(?:\[\])*"
    r"(?:\s*\|\s*[a-z][\w.]*(?:[<\[]\w[\w.]*[>\]])?(?:\[\])*)*)"
    r"(\s*\?)?(.*)",
    re.IGNORECASE | re.DOTALL,
)
_SAYS = re.compile(r"[\s,:;(\[-]*(optional|required)\b", re.IGNORECASE)
_PUNCTUATION = " \t\n,:;()[]-–—"
#: Lists in lists that are read as such; the protocol allows no deeper value than 64.
_MOST_NESTED = 8
_LIST_OF = re.compile(r"(?:list|array)[<\[](\w[\w.]*)[>\]]")


class Side(NamedTuple):
    """A schema of one side of the change, and where it stands in the tool."""

    value: Any
    pointer: str
    form: Form = "schema"

    def child(self, *keys: str | int) -> str:
        """The pointer of a part; a short map's word has no parts, and no ``properties``."""
        if self.form == "word":
            return self.pointer
        if self.form == "map" and keys[0] == "properties":
            keys = keys[1:]
        return self.pointer + "".join(map(step, keys))

    def part(self, value: Any, *keys: str | int) -> Side:
        """The side that a part of this one is."""
        if self.form == "word":
            return Side(value, self.pointer, "word")
        form: Form = "schema"
        if isinstance(value, str):
            form = "word"
        elif self.form == "map" and isinstance(value, dict):
            form = "entry" if _is_entry_schema(value) else "map"
        return Side(value, self.child(*keys), form)

    def schema(self) -> Any:
        """The value as JSON Schema: an object, False, or what is no schema as it is."""
        if self.value is True:
            return {}
        if isinstance(self.value, str):
            return from_word(self.value)[0]
        if isinstance(self.value, dict):
            if self.form == "map":
                return _from_map(self.value)
            if self.form == "entry":
                return {
                    key: value
                    for key, value in self.value.items()
                    if key not in ("required", "optional") or not isinstance(value, bool)
                }
        return self.value


def parameters_side(parameters: Any) -> Side:
    """The root: ``parameters`` of a tool, read in the spelling it has."""
    form: Form = "schema"
    if isinstance(parameters, dict) and parameters and not is_json_schema(parameters):
        form = "map"
    return Side(parameters, "/parameters", form)


def is_json_schema(parameters: dict[str, Any]) -> bool:
    """Whether ``parameters`` is a JSON Schema and not a short map."""
    if "$schema" in parameters or isinstance(parameters.get("properties"), dict):
        return True
    if any(isinstance(parameters.get(key), list) for key in ("anyOf", "oneOf", "allOf")):
        return True
    if isinstance(parameters.get("$defs"), dict) or "#" in str(parameters.get("$ref", "")):
        return True
    declared = parameters.get("type")
    if declared == "object" or (isinstance(declared, list) and "object" in declared):
        return parameters.keys() <= _KEYWORDS
    return isinstance(parameters.get("additionalProperties"), bool)


def _is_entry_schema(entry: dict[str, Any]) -> bool:
    declared = entry.get("type")
    if isinstance(declared, list) or (isinstance(declared, str) and declared in TYPES):
        return True
    if not entry.keys() <= _KEYWORDS:
        return not _STRUCTURE.isdisjoint(entry)
    return not all(isinstance(v, str) and _known_type(v) for v in entry.values())


def _known_type(word: str) -> bool:
    schema, _ = from_word(word)
    declared = schema.get("type")
    return "description" not in schema and (declared is None or declared in TYPES)


def _from_map(short: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": short,
        "required": [name for name, value in short.items() if not _is_optional(value)],
    }


def _is_optional(value: Any) -> bool:
    if isinstance(value, str):
        return from_word(value)[1]
    if not isinstance(value, dict) or not _is_entry_schema(value):
        return False
    if isinstance(value.get("required"), bool):
        return not value["required"]
    if isinstance(value.get("optional"), bool):
        return bool(value["optional"])
    return value.get("default") is not None


def from_word(text: str) -> tuple[dict[str, Any], bool]:
    """The schema that a short map's type word means, and whether it says "optional"."""
    match = _WORD.fullmatch(text.strip())
    if match is None:
        return ({"description": text.strip()} if text.strip() else {}, False)
    leading, head, mark, rest = match.groups()
    optional = bool(leading or mark)
    says = _SAYS.match(rest)
    if says:
        optional = optional or says[1].lower() == "optional"
        rest = rest[says.end() :]
    description = rest.strip(_PUNCTUATION)
    schemas = [_from_type(word.strip()) for word in head.split("|")]
    if description and not all(_is_known(schema) for schema in schemas):
        return {"description": text.strip()}, optional
    schema = schemas[0] if len(schemas) == 1 else _choice(schemas)
    if description:
        schema = {**schema, "description": description}
    return schema, optional


def _is_known(schema: dict[str, Any]) -> bool:
    return schema.get("type", "null") in TYPES


def _from_type(word: str) -> dict[str, Any]:
    name = word.lower()
    depth = 0
    while name.endswith("[]") and depth < _MOST_NESTED:
        name, depth = name[:-2], depth + 1
    inner = _LIST_OF.fullmatch(name)
    if inner:
        name, depth = inner[1], depth + 1
    name = _ALIASES.get(name, name)
    schema: dict[str, Any] = {} if name in _ANY else {"type": name}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def _choice(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    if any(not schema for schema in schemas):
        return {}
    if all(schema.keys() == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}
