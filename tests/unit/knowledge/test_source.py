"""What sources give: a tools.json, an OpenAPI document, an MCP answer; and what is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.errors import BadInput, UsageError
from memrepo.knowledge.document import read_document
from memrepo.knowledge.source import read_source
from memrepo.protocol.canonical import dump
from memrepo.protocol.check import check_file

TOOL = {"name": "find", "description": "Finds.", "parameters": {"q": "string"}}
MCP = {"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}

PETS = """\
openapi: 3.1.0
info: {title: Pets, version: "1"}
paths:
  /pets/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer}}
      - $ref: "#/components/parameters/Trace"
    get:
      operationId: show_pet
      summary: Shows a pet.
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}, description: Its number.}
        - {name: Authorization, in: header, schema: {type: string}}
    put:
      description: Changes a pet.
      requestBody:
        required: true
        content:
          text/plain: {schema: {type: string}}
          application/json: {schema: {$ref: "#/components/schemas/Pet"}}
components:
  parameters:
    Trace: {name: trace, in: query, schema: {type: boolean, nullable: true, example: true}}
  schemas:
    Pet:
      type: object
      properties:
        name: {type: string}
        mother: {$ref: "#/components/schemas/Pet"}
        $ref: {type: string, default: {$ref: not one}}
      xml: {name: pet}
"""
_YAML = "{}[]:,&*!-#'\"\n abopenit3.tl"


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_a_tools_json_is_taken_as_it_is() -> None:
    given_ = read_source(encoded([TOOL]))
    assert given_.format == "tools"
    assert [tool.name for tool in given_.tools] == ["find"]
    assert given_.revision.startswith("sha256:")


@pytest.mark.parametrize(
    "answer",
    [
        {"tools": [MCP]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
        [{"tools": [MCP], "nextCursor": "2"}, {"result": {"tools": []}}],
        [MCP],
    ],
)
def test_an_mcp_answer_in_each_of_its_wrappings(answer: Any) -> None:
    given_ = read_source(encoded(answer))
    assert (given_.format, [tool.name for tool in given_.tools]) == ("mcp", ["find"])


def test_what_the_protocol_has_no_place_for_is_said() -> None:
    more = MCP | {"annotations": {"readOnlyHint": True}, "title": "Find"}
    assert read_source(encoded({"tools": [more]})).notes == (
        "tools.json has no place for annotations of 1 tool",
        "tools.json has no place for title of 1 tool",
    )


def test_operations_become_tools() -> None:
    given_ = read_source(PETS.encode())
    show, put = given_.tools
    assert (show.name, show.description) == ("show_pet", "Shows a pet.")
    assert show.parameters == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Its number."},
            "trace": {"type": ["boolean", "null"], "example": True},
        },
        "required": ["id"],
    }
    assert (put.name, put.description) == ("put_pets_id", "Changes a pet.")
    assert put.parameters["required"] == ["id", "body"]
    body = put.parameters["properties"]["body"]
    assert body["properties"]["mother"] == {"$ref": "#/$defs/Pet"}
    assert body["properties"]["$ref"] == {"type": "string", "default": {"$ref": "not one"}}
    assert "xml" not in body
    assert put.parameters["$defs"]["Pet"]["properties"]["mother"] == {"$ref": "#/$defs/Pet"}
    assert check_file("tools", dump(list(given_.tools)), agent_id="a").faults == []


def test_json_and_yaml_of_one_api_are_one() -> None:
    value = read_document(PETS.encode(), "x")
    assert read_source(encoded(value)).tools == read_source(PETS.encode()).tools


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\xff", "not UTF-8"),
        (b'[{"name": "a", "name": "b"}]', "line 1, column 16"),
        (b'{"tools": [', "line 1"),
        (b"[1e999]", "too large"),
        (b"[" * 5000, "nested"),
        (b'{"tools": [], "nextCursor": "x"}', "goes on"),
        (b'{"jsonrpc": "2.0", "error": {"code": 1, "message": "no"}}', "error of the server"),
        (b'{"tools": [{"name": "a"}]}', "inputSchema"),
        (b'{"tools": [{"inputSchema": {}}]}', '"name"'),
        (b'{"result": 1}', 'no list "tools"'),
        (b'[{"name": "a", "description": "", "parameters": []}]', "line 1, column"),
        (b'[{"name": "a", "description": "", "parameters": {}, "x": 1}]', "x"),
        (b'{"a": 1}', "no tools.json"),
        (b"a: 1\nb: [", "line"),
        (b"a: !!python/object:os.system x", "tag"),
        (b"a: &x [*x]", "holds itself"),
        (b"a: 1\na: 2", "twice"),
        (b"a: {<<: {b: 1}}", "merge key"),
        (b"a: 1\n---\nb: 2", "second document"),
        (b'{"swagger": "2.0", "paths": {}}', "no OpenAPI 3"),
        (b'{"openapi": "3.0.0", "paths": {}}', "no operation"),
        (b'{"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/b"}}}', "nothing at"),
        (b'{"openapi": "3.0.0", "paths": {"/a": {"$ref": "http://x/y"}}}', "leads out"),
        (b'{"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/paths/~1a"}}}', "leads nowhere"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(data: bytes, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_source(data, name="given.json")
    assert words in caught.value.message
    assert "given.json" in caught.value.message


def test_tools_of_one_name_are_refused() -> None:
    with pytest.raises(BadInput, match="2 tools called 'find'"):
        read_source(encoded({"tools": [MCP, MCP]}))


def test_an_unknown_format() -> None:
    with pytest.raises(UsageError, match="--format"):
        read_source(b"[]", "swagger")


def test_aliases_that_multiply_are_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(BadInput, match="more than 500,000 values"):
        read_document("\n".join(lines).encode(), "x")


def test_references_that_multiply_are_bounded() -> None:
    schemas: dict[str, Any] = {"S0": {"type": "string"}}
    for n in range(1, 20):
        below = {"$ref": f"#/components/schemas/S{n - 1}"}
        schemas[f"S{n}"] = {"properties": {"a": below, "b": below, "c": below}}
    parameter = {"name": "x", "in": "query", "schema": {"$ref": "#/components/schemas/S19"}}
    api = {
        "openapi": "3.0.3",
        "paths": {"/a": {"get": {"parameters": [parameter]}}},
        "components": {"schemas": schemas},
    }
    with pytest.raises(BadInput, match="more than 20,000 values"):
        read_source(encoded(api))


@settings(max_examples=60)
@given(
    st.binary(max_size=200)
    | st.text(alphabet="{}[]:,&*!-#'\"\n abopenit3.tl", max_size=120).map(str.encode)
)
def test_no_bytes_break_it(data: bytes) -> None:
    for format_ in (None, "tools", "openapi", "mcp"):
        with suppress(BadInput):
            assert isinstance(read_source(data, format_).tools, tuple)


def test_real_lists_of_tools(data_folder: Path) -> None:
    versions = data_folder / "tool-versions"
    for file in [*data_folder.glob("*tools.json"), *versions.iterdir()]:
        tools = read_source(file.read_bytes()).tools
        answer = [
            {"name": t.name, "description": t.description, "inputSchema": t.parameters}
            for t in tools
        ]
        assert read_source(encoded({"tools": answer})).tools == tools
