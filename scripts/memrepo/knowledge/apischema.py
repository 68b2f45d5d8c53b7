"""Schemas of an OpenAPI document as JSON Schema that stands alone. Pure.

References are put in place of themselves. Where one leads into itself it stays a reference,
to a definition that goes with the tool (``$defs``), so that nothing grows without end.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from memrepo.errors import BadInput
from memrepo.protocol.strictjson import MAX_DEPTH

#: Values that the schemas of one tool may be made of.
_MOST_VALUES = 20_000
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = (
    "items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "not", "if",
    "then", "else", "contains", "propertyNames", "contentSchema",
)  # fmt: skip
# What OpenAPI adds to JSON Schema and no caller of a tool acts on.
_LEFT_OUT = ("xml", "externalDocs", "discriminator")


def at_pointer(document: Any, reference: str, name: str) -> Any:
    """What a reference inside the document names.  Raises :class:`BadInput`."""
    if not reference.startswith("#"):
        raise BadInput(
            f"{name}: the reference {reference[:100]!a} leads out of the document",
            "bundle the API into one file first; nothing is fetched here",
        )
    value = document
    for part in unquote(reference[1:]).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise BadInput(f"{name}: there is nothing at {reference[:100]!a}")
    return value


class Schemas:
    """The schemas of one tool, and the definitions that they need."""

    def __init__(self, document: Any, name: str) -> None:
        self._document, self._name = document, name
        self._round: dict[str, str] = {}
        self._values = 0

    def plain(self, schema: Any) -> dict[str, Any]:
        """``schema`` (an object, or true or false) without references out of itself."""
        made = self._schema(schema, (), 0)
        return made if isinstance(made, dict) else {} if made else {"not": {}}

    def definitions(self) -> dict[str, Any]:
        """What the references that stayed name, by its name under ``$defs``."""
        done: dict[str, Any] = {}
        while left := [ref for ref, label in self._round.items() if label not in done]:
            for reference in left:
                target = at_pointer(self._document, reference, self._name)
                done[self._round[reference]] = self._schema(target, (reference,), 2)
        return done

    def _schema(self, schema: Any, inside: tuple[str, ...], depth: int) -> Any:
        self._count(depth)
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise BadInput(f"{self._name}: a schema is {type(schema).__name__}, not an object")
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in inside:
                return {"$ref": f"#/$defs/{self._label(reference)}"}
            target = at_pointer(self._document, reference, self._name)
            made = self._schema(target, (*inside, reference), depth)
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            if not beside or not isinstance(made, dict):
                return made
            return {**made, **self._members(beside, inside, depth)}
        return self._members(schema, inside, depth)

    def _members(
        self, schema: dict[str, Any], inside: tuple[str, ...], depth: int
    ) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _LEFT_OUT or key.startswith("x-"):
                continue
            if key in _MAPS and isinstance(value, dict):
                made[key] = {k: self._schema(v, inside, depth + 2) for k, v in value.items()}
            elif key in _LISTS and isinstance(value, list):
                made[key] = [self._schema(one, inside, depth + 2) for one in value]
            elif key in _SINGLE and isinstance(value, dict | bool):
                made[key] = self._schema(value, inside, depth + 1)
            else:
                made[key] = self._data(value, depth + 1)
        # OpenAPI 3.0 writes "or null" as a word of its own.
        if made.pop("nullable", False) is True and isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
        return made

    def _data(self, value: Any, depth: int) -> Any:
        self._count(depth)
        if isinstance(value, dict):
            return {key: self._data(one, depth + 1) for key, one in value.items()}
        if isinstance(value, list):
            return [self._data(one, depth + 1) for one in value]
        return value

    def _label(self, reference: str) -> str:
        if reference not in self._round:
            words = re.sub(r"[^A-Za-z0-9._-]+", "_", reference.rpartition("/")[2]) or "schema"
            label, again = words, 1
            while label in self._round.values():
                again += 1
                label = f"{words}_{again}"
            self._round[reference] = label
        return self._round[reference]

    def _count(self, depth: int) -> None:
        self._values += 1
        if self._values > _MOST_VALUES or depth > MAX_DEPTH - 6:
            raise BadInput(
                f"{self._name}: the schemas of one operation come to more than"
                f" {_MOST_VALUES:,} values, or nest deeper than {MAX_DEPTH - 6}",
                "leave that operation out, or simplify it",
            )
