"""Hold requests to GitHub's published OpenAPI description (``data/github-openapi.json``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from jsonschema import Draft4Validator  # type: ignore[import-untyped]

from rig.exchange import Exchange

Json = dict[str, Any]

DESCRIPTION = Path(__file__).parent / "data" / "github-openapi.json"
# These parameters of a path may hold slashes, though OpenAPI has no way to say so.
_MANY_PARTS = ("basehead", "branch", "path", "ref")
# Answers that any operation may give, so that the description names them only here and there.
_ALWAYS_POSSIBLE = range(400, 600)


def problems(exchanges: Iterable[Exchange]) -> list[str]:
    """What is wrong with each request, by GitHub's description; empty when all are valid.

    Looked at are the path and method, the names and values of query parameters, the body (its
    shape and any field that is not described), and whether the answered status is a documented
    one, which holds the emulator to account rather than the caller. Requests that never got an
    answer are looked at too. Git traffic and other pages are no REST and are passed over.
    """
    return [problem for exchange in exchanges if exchange.is_rest for problem in _look(exchange)]


@cache
def description() -> Json:
    """The description with each nullable type in the words of JSON Schema."""
    loaded = _nullable(json.loads(DESCRIPTION.read_text(encoding="utf-8")))
    assert isinstance(loaded, dict)
    return loaded


@cache
def _routes() -> tuple[tuple[re.Pattern[str], str], ...]:
    """A pattern for each path template, the most literal first."""
    routes = []
    for template in description()["paths"]:
        parts = re.split(r"\{(\w+)\}", template)
        pattern = "".join(
            re.escape(part) if i % 2 == 0 else ".+" if part in _MANY_PARTS else "[^/]+"
            for i, part in enumerate(parts)
        )
        literal = sum(len(part) for part in parts[::2])
        routes.append((len(parts), -literal, pattern, template))
    return tuple((re.compile(pattern), template) for *_, pattern, template in sorted(routes))


def _look(exchange: Exchange) -> Iterator[str]:
    method, path = exchange.method.lower(), exchange.path
    paths = description()["paths"]
    for pattern, template in _routes():
        if pattern.fullmatch(path) and method in paths[template]:
            operation, where = paths[template][method], f"{exchange.method} {template}"
            break
    else:
        yield f"{exchange.method} {path}: GitHub describes no such operation"
        return
    parameters = [_resolved(parameter) for parameter in operation.get("parameters", [])]
    yield from (f"{where}: {what}" for what in _query(exchange.query, parameters))
    yield from (f"{where}: {what}" for what in _body(exchange, operation.get("requestBody")))
    status = exchange.status
    is_expected = status in _ALWAYS_POSSIBLE or str(status) in operation["responses"]
    if status and exchange.fault == "" and not is_expected:
        yield f"{where}: was answered {status}, which GitHub does not document"


def _query(query: str, parameters: list[Json]) -> Iterator[str]:
    described = {p["name"]: p for p in parameters if p["in"] == "query"}
    sent = dict(parse_qsl(query, keep_blank_values=True))
    for name in described.keys() - sent.keys():
        if described[name].get("required"):
            yield f"the query lacks {name}"
    for name, text in sent.items():
        if name not in described:
            yield f"the query's {name} is not described"
            continue
        schema = _resolved(described[name]["schema"])
        value: object = text
        if schema.get("type") in ("integer", "number", "boolean"):
            try:
                value = json.loads(text)
            except ValueError:
                yield f"the query's {name} is {text!r}, no {schema['type']}"
                continue
        yield from (f"the query's {name}{what}" for what in _mismatches(schema, value))


def _body(exchange: Exchange, described: Json | None) -> Iterator[str]:
    content = _resolved(described or {}).get("content", {}).get("application/json")
    if not exchange.body or (described and not content):
        if content and described and described.get("required"):
            yield "the body is missing"
        return
    try:
        body = json.loads(exchange.body)
    except ValueError:
        yield "the body is no JSON"
        return
    if content is None:
        if body not in ({}, None):
            yield "no body is described"
        return
    schema = _resolved(content["schema"])
    yield from (f"the body{what}" for what in _mismatches(schema, body))
    fields = _fields(schema)
    if isinstance(body, dict) and fields:
        yield from (f"the body's {name} is not described" for name in body.keys() - fields)


def _fields(schema: Json) -> set[str]:
    """The names of the fields that an object may have by any of a schema's alternatives."""
    found = set(schema.get("properties", {}))
    for word in ("oneOf", "anyOf", "allOf"):
        for choice in schema.get(word, []):
            found |= _fields(_resolved(choice))
    return found


def _mismatches(schema: Json, value: object) -> Iterator[str]:
    whole = {**schema, "components": description()["components"]}
    for error in Draft4Validator(whole).iter_errors(value):
        place = "".join(f"/{part}" for part in error.absolute_path)
        yield f"{place}: {error.message[:200]}"


def _resolved(value: Json) -> Json:
    """What a reference points at, or the value itself."""
    while "$ref" in value:
        found = description()
        for part in value["$ref"].split("/")[1:]:
            found = found[unquote(part)]
        value = found
    return value


def _nullable(value: Any) -> Any:
    if isinstance(value, list):
        return [_nullable(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _nullable(item) for key, item in value.items()}
    if changed.pop("nullable", False) is not True:
        return changed
    if isinstance(changed.get("type"), str):
        changed["type"] = [changed["type"], "null"]
        if "enum" in changed and None not in changed["enum"]:
            changed["enum"].append(None)
        return changed
    return {"anyOf": [changed, {"type": "null"}]}
