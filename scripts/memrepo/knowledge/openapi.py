"""The operations of an OpenAPI 3 document as tools. Pure.

https://spec.openapis.org/oas/v3.1.0: an operation is one tool, its parameters and its body
are the properties of one JSON Schema. References are followed inside the document only.
"""

from __future__ import annotations

import re
from typing import Any

from memrepo.errors import BadInput
from memrepo.knowledge.apischema import Schemas, at_pointer
from memrepo.protocol.documents import Tool

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
# Section 4.8.12: a header parameter of one of these names is ignored.
_NO_HEADERS = ("accept", "content-type", "authorization")
_MOST_OPERATIONS = 5_000


def tools_of_api(document: Any, name: str) -> list[Tool]:
    """One tool an operation, in the document's order.  Raises :class:`BadInput`."""
    version = document.get("openapi") if isinstance(document, dict) else None
    if not isinstance(version, str) or not version.startswith("3."):
        raise BadInput(
            f"{name} is no OpenAPI 3 document",
            "Swagger 2.0 must be converted first; --format names another kind of source",
        )
    paths = document.get("paths") or {}
    if not isinstance(paths, dict):
        raise BadInput(f'{name}: "paths" is no object')
    tools: list[Tool] = []
    taken: set[str] = set()
    for path, item in paths.items():
        if path.startswith("x-"):
            continue
        item = _object(document, item, f"paths/{path}", name)
        for method in item:
            if method not in _METHODS:
                continue
            place = f"{method.upper()} {path}"
            tool = _Operation(document, item, place, name).tool(method, path, taken)
            taken.add(tool.name)
            tools.append(tool)
            if len(tools) > _MOST_OPERATIONS:
                raise BadInput(f"{name} has more than {_MOST_OPERATIONS:,} operations")
    if not tools:
        raise BadInput(f"{name} has no operation under paths", "check that it is the right file")
    return tools


def _object(document: Any, value: Any, place: str, name: str) -> dict[str, Any]:
    """An object, its reference followed (a path item, a parameter, a body)."""
    seen = set()
    while isinstance(value, dict) and "$ref" in value:
        pointer = value["$ref"]
        if not isinstance(pointer, str) or pointer in seen:
            raise BadInput(f"{name}: the reference at {place} leads nowhere")
        seen.add(pointer)
        value = at_pointer(document, pointer, name)
    if not isinstance(value, dict):
        raise BadInput(f"{name}: {place} is no object")
    return value


class _Operation:
    """One operation on its way to a tool."""

    def __init__(self, document: Any, item: dict[str, Any], place: str, name: str) -> None:
        self.document, self.item, self.place, self.name = document, item, place, name
        self.schemas = Schemas(document, name)

    def tool(self, method: str, path: str, taken: set[str]) -> Tool:
        operation = _object(self.document, self.item[method], self.place, self.name)
        words = operation.get("description") or operation.get("summary") or self.place
        if not isinstance(words, str):
            raise BadInput(f"{self.name}: the description of {self.place} is no text")
        return Tool(
            self._called(operation, method, path, taken),
            words.strip(),
            self._parameters(operation),
        )

    def _called(self, operation: dict[str, Any], method: str, path: str, taken: set[str]) -> str:
        given = operation.get("operationId")
        if isinstance(given, str) and given:
            return given
        made = re.sub(r"[^A-Za-z0-9]+", "_", f"{method} {path}").strip("_")
        numbered, again = made, 1
        while numbered in taken:
            again += 1
            numbered = f"{made}_{again}"
        return numbered

    def _parameters(self, operation: dict[str, Any]) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        required: list[str] = []
        for parameter in self._listed(operation):
            name, where = parameter["name"], parameter["in"]
            if where == "header" and name.lower() in _NO_HEADERS:
                continue
            key = name if name not in properties else f"{where}_{name}"
            properties[key] = self._schema_of(parameter)
            if where == "path" or parameter.get("required") is True:
                required.append(key)
        body = operation.get("requestBody")
        if body is not None:
            body = _object(self.document, body, f"{self.place}, requestBody", self.name)
            key = "body" if "body" not in properties else "request_body"
            properties[key] = self._content(body)
            if body.get("required") is True:
                required.append(key)
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        definitions = self.schemas.definitions()
        return schema | ({"$defs": definitions} if definitions else {})

    def _listed(self, operation: dict[str, Any]) -> list[dict[str, Any]]:
        """The path's parameters and the operation's, which take the place of equal ones."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for owner in (self.item, operation):
            given = owner.get("parameters") or []
            if not isinstance(given, list):
                raise BadInput(f'{self.name}: "parameters" of {self.place} is no list')
            for index, one in enumerate(given):
                place = f"{self.place}, parameter {index + 1}"
                parameter = _object(self.document, one, place, self.name)
                key = (parameter.get("name"), parameter.get("in"))
                if not all(isinstance(part, str) and part for part in key):
                    raise BadInput(f'{self.name}: {place} has no "name" and "in"')
                found[key] = parameter  # type: ignore[index]
        return list(found.values())

    def _schema_of(self, parameter: dict[str, Any]) -> dict[str, Any]:
        described = parameter.get("description")
        schema = (
            self._content(parameter)
            if "schema" not in parameter and "content" in parameter
            else self.schemas.plain(parameter.get("schema", {}))
        )
        if isinstance(described, str) and described.strip() and "description" not in schema:
            schema = {**schema, "description": described.strip()}
        return schema

    def _content(self, holder: dict[str, Any]) -> dict[str, Any]:
        """The schema of the media type that a model can write best: JSON, where there is one."""
        content = holder.get("content")
        if not isinstance(content, dict) or not content:
            return {}
        kinds = sorted(content, key=lambda kind: ("json" not in kind, kind != "application/json"))
        media = _object(self.document, content[kinds[0]], f"{self.place}, content", self.name)
        schema = self.schemas.plain(media.get("schema", {}))
        if "json" not in kinds[0] and "contentMediaType" not in schema:
            schema = {**schema, "contentMediaType": kinds[0]}
        described = holder.get("description")
        if isinstance(described, str) and described.strip() and "description" not in schema:
            schema = {**schema, "description": described.strip()}
        return schema
