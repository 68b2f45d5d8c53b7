"""What a source gives, as a list of tools: tools.json, OpenAPI, or an MCP answer. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, get_args

import msgspec

from memrepo.errors import BadInput, UsageError
from memrepo.knowledge.document import read_document
from memrepo.protocol.check import check_file
from memrepo.protocol.documents import Tool
from memrepo.protocol.schema import schema_faults
from memrepo.protocol.strictjson import read

Format = Literal["tools", "openapi", "mcp"]
FORMATS: tuple[Format, ...] = get_args(Format)


class Given(msgspec.Struct, frozen=True):
    """The tools that a source gives, in its order; ``revision`` is the SHA-256 of its bytes.

    ``notes`` say what the protocol has no place for and was left out, one line each.
    """

    format: Format
    tools: tuple[Tool, ...]
    revision: str
    notes: tuple[str, ...] = ()


def read_source(data: bytes, format_: str | None = None, name: str = "the source") -> Given:
    """The tools in ``data``. Without ``format_``, the shape says which it is.

    Raises :class:`BadInput` with the place for what cannot be read as that, and
    :class:`UsageError` for a format that is none.
    """
    if format_ is not None and format_ not in FORMATS:
        raise UsageError(f"--format {format_!a} is none of {', '.join(FORMATS)}")
    value = read_document(data, name)
    kind = format_ or _shape(value)
    if kind is None:
        raise BadInput(
            f"{name} is no tools.json, no OpenAPI document and no MCP tools/list answer",
            f"say which with --format {'|'.join(FORMATS)}; then the message names the place",
        )
    notes: tuple[str, ...] = ()
    if kind == "openapi":
        from memrepo.knowledge.openapi import tools_of_api

        tools = tools_of_api(value, name)
    elif kind == "mcp":
        tools, notes = _mcp(value, name)
    else:
        tools = _tools(data, value, name)
    _refuse_doubles(tools, name)
    revision = f"sha256:{hashlib.sha256(data).hexdigest()}"
    return Given(kind, tuple(tools), revision, notes)


def _shape(value: Any) -> Format | None:
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(value, dict) and ("openapi" in value or "swagger" in value):
        return "openapi"
    if isinstance(first, dict) and ("tools" in first or "jsonrpc" in first or "result" in first):
        return "mcp"
    if isinstance(value, list) and all(isinstance(one, dict) and "name" in one for one in value):
        return "mcp" if any("inputSchema" in one for one in value) else "tools"
    return None


def _tools(data: bytes, value: Any, name: str) -> list[Tool]:
    """A tools.json, held to the protocol with line and column of the first fault."""
    faults = schema_faults("tools", value)
    if not faults:
        try:
            tools: list[Tool] = msgspec.convert(value, list[Tool])
        except msgspec.ValidationError as error:
            raise BadInput(f"{name}: {error}") from None
        faults = check_file("tools", data, agent_id="").faults
        if not faults:
            return tools
    text = data.decode("utf-8-sig")
    where = faults[0].pointer
    if text.lstrip()[:1] in "{[":
        line, column = read(text).find(where, key=faults[0].at_key)
        where = f"line {line}, column {column}"
    raise BadInput(f"{name}, {where}: {faults[0].message}", faults[0].hint)


def _mcp(value: Any, name: str) -> tuple[list[Tool], tuple[str, ...]]:
    """An answer to ``tools/list`` (Model Context Protocol), or all of its pages as a list."""
    tools: list[Tool] = []
    left_out: Counter[str] = Counter()
    for tool, extra in _entries(value, name):
        tools.append(tool)
        left_out.update(extra)
    notes = tuple(
        f"tools.json has no place for {field} of {count} tool{'s' if count > 1 else ''}"
        for field, count in sorted(left_out.items())
    )
    return tools, notes


def _entries(value: Any, name: str) -> Iterator[tuple[Tool, list[str]]]:
    pages = value if isinstance(value, list) else [value]
    if pages and all(isinstance(page, dict) and "inputSchema" in page for page in pages):
        pages = [{"tools": pages}]
    for number, page in enumerate(pages):
        answer = _answer(page, name)
        if number == len(pages) - 1 and answer.get("nextCursor"):
            raise BadInput(
                f"{name} goes on after these tools (nextCursor): the rest would be removed",
                "ask for every page, and give them all as one JSON list",
            )
        for index, entry in enumerate(answer["tools"]):
            place = f"{name}, tool {index + 1}" + (f" of page {number + 1}" if number else "")
            yield _entry(entry, place)


def _answer(page: Any, name: str) -> dict[str, Any]:
    if isinstance(page, dict) and isinstance(page.get("error"), dict):
        words = str(page["error"].get("message", "no reason given"))
        raise BadInput(f"{name} is an error of the server: {words[:200]!a}", "ask it again")
    answer = page.get("result", page) if isinstance(page, dict) else None
    if not isinstance(answer, dict) or not isinstance(answer.get("tools"), list):
        raise BadInput(
            f'{name} has no list "tools", as an answer to tools/list has',
            'give {"tools": […]}, alone or as "result" of the JSON-RPC answer',
        )
    return answer


def _entry(entry: Any, place: str) -> tuple[Tool, list[str]]:
    if not isinstance(entry, dict):
        raise BadInput(f"{place} is no object")
    given, schema = entry.get("name"), entry.get("inputSchema")
    described = entry.get("description", "")
    if not isinstance(given, str) or not given:
        raise BadInput(f'{place} has no "name"')
    if not isinstance(schema, dict):
        raise BadInput(f'{place} ({given[:60]!a}) has no "inputSchema" that is an object')
    if not isinstance(described, str):
        raise BadInput(f'{place} ({given[:60]!a}): "description" is no text')
    known = ("name", "description", "inputSchema")
    return Tool(given, described, schema), [field for field in entry if field not in known]


def _refuse_doubles(tools: list[Tool], name: str) -> None:
    counts = Counter(tool.name for tool in tools)
    doubles = [tool for tool, count in counts.items() if count > 1]
    if doubles:
        raise BadInput(
            f"{name} has {counts[doubles[0]]} tools called {doubles[0][:60]!a}",
            "a tool is known by its name: give each its own",
        )
