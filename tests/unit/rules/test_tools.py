"""``tool-capability`` and ``tool-denied``, and ``skip-marker`` of commits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memrepo.protocol.documents import AgentState, Metadata, Tool
from memrepo.protocol.policy import Policy, Tools
from memrepo.rules.capability import capabilities
from memrepo.rules.commits import skip_marker
from memrepo.rules.denied import denied_by
from memrepo.rules.text import scan_document


def able(name: str, description: str = "", **parameters: Any) -> dict[str, str]:
    return dict(capabilities(Tool(name, description, parameters)))


@pytest.mark.parametrize(
    ("name", "description", "what", "words"),
    [
        ("run_command", "", "run code", "run command"),
        ("bash", "", "run code", "bash"),
        ("executeSql", "", "run code", "execute sql"),
        ("helper", "Executes arbitrary Python code.", "run code", "executes arbitrary python"),
        ("fetch_url", "", "reach any URL", "url"),
        ("reader", "Fetch a web page as Markdown", "reach any URL", "fetch a web"),
        ("write_file", "", "touch files", "write file"),
        ("list", "Lists all files of a folder", "touch files", "lists all files"),
        ("refund_order", "", "move money", "refund"),
        ("helper", "Transfers the funds to an account", "move money", "transfers the funds"),
    ],
)
def test_the_words_that_say_so(name: str, description: str, what: str, words: str) -> None:
    assert able(name, description) == {what: words}


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("think", "Use the tool to think about something."),
        ("get_user_details", "Get the details of a user, with their profile."),
        ("cancel_reservation", "Cancel the whole reservation."),
        ("calculate", "Calculate the result of a mathematical expression."),
        ("transfer_to_human_agents", "Transfer the user to a human agent."),
        ("search_code", "Search for code across repositories"),
        ("execute_order", "Place an order for the customer"),
        ("list_airports", "List all airports and their cities."),
    ],
)
def test_other_tools_are_quiet(name: str, description: str) -> None:
    assert able(name, description) == {}


def test_parameters_of_both_spellings_count() -> None:
    assert able("get", "", url="string") == {"reach any URL": "url"}
    properties = {"body": {"type": "object", "properties": {"callbackUrl": {"type": "string"}}}}
    assert able("get", "", type="object", properties=properties) == {"reach any URL": "url"}
    described = {"x": {"type": "string", "description": "Shell command to run"}}
    assert able("get", "", type="object", properties=described) == {"run code": "shell command"}
    assert able("get", "", type="object", properties={"city": {"type": "string"}}) == {}


def test_a_tool_is_denied_by_name_or_glob() -> None:
    policy = Policy(tools=Tools(deny=("think", "Shell_*")))
    assert denied_by("think", policy) == "think"
    assert denied_by("shell_exec", policy) == "Shell_*"
    assert denied_by("ＳＨＥＬＬ_exec", policy) == "Shell_*"
    assert denied_by("rethink", policy) is None
    assert denied_by("think", Policy()) is None


def test_denied_tools_are_hits_of_the_file_and_of_the_snapshot() -> None:
    policy = Policy(tools=Tools(deny=("b",)))
    tools = [Tool("a", "", {}), Tool("b", "", {})]
    plain = [{"name": t.name, "description": "", "parameters": {}} for t in tools]
    data = json.dumps(plain).encode()
    state = AgentState([], tools, Metadata("x", "1.0.0", "2026-03-01T12:00:00Z"))
    for kind, value, pointer in [
        ("tools", tools, "/1/name"),
        ("tools", plain, "/1/name"),
        ("snapshot", state, "/tools/1/name"),
        ("snapshot", {"tools": plain}, "/tools/1/name"),
    ]:
        hits = scan_document(kind, data, value, policy)
        assert [(h.code, h.pointer) for h in hits] == [("tool-denied", pointer)]
    assert scan_document("tools", data, tools, Policy()) == []
    assert scan_document("tools", b"[3]", [3, {"name": 4}], policy) == []


@pytest.mark.parametrize(
    "marker",
    [
        *("[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]", "[Skip CI]"),
        "***NO_CI***",
    ],
)
def test_a_skip_marker_is_found_anywhere(marker: str) -> None:
    assert skip_marker(f"user_1: a cycle {marker}") == marker
    assert skip_marker(f"user_1: a cycle\n\nbody {marker}\n") == marker


def test_a_skip_trailer_is_found() -> None:
    assert skip_marker("user_1: x\n\n\nskip-checks: true\n") == "skip-checks: true"
    assert skip_marker("user_1: x\n\nskip-checks:true\nAgent-Id: a") == "skip-checks:true"


@pytest.mark.parametrize(
    "message",
    [
        "",
        "skip ci",
        "[skip]",
        "[ci]",
        "skip-checks: true",
        "x\n\nskip-checks: false",
        "x\n a skip-checks: true",
    ],
)
def test_other_messages_are_quiet(message: str) -> None:
    assert skip_marker(message) is None
