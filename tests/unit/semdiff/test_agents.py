from __future__ import annotations

import pytest

from memrepo.protocol.documents import AgentState, Metadata, Tool, Turn
from memrepo.semdiff.agents import Parts, diff_agent
from memrepo.semdiff.change import ContextDiff, MetadataDiff, ToolsDiff

TURN = Turn("user", "Hello", "2026-03-01T10:00:00Z")
ANSWER = Turn("assistant", "Good morning", "2026-03-01T10:01:00Z")
SEARCH = Tool("search", "Search.", {"query": "string"})
FIRST = AgentState([TURN], [SEARCH], Metadata("user_1", "1.0.0", TURN.timestamp))
SECOND = AgentState([TURN, ANSWER], [], Metadata("user_1", "1.0.1", ANSWER.timestamp))


def test_a_changed_agent() -> None:
    found = diff_agent("user_1", FIRST, SECOND, limit=50)
    assert (found.agent_id, found.change, found.unreadable) == ("user_1", "changed", ())
    assert found.context.appended == 1
    assert [tool.name for tool in found.tools.removed] == ["search"]
    assert (found.metadata.version, found.metadata.fits) == (("1.0.0", "1.0.1"), False)


def test_the_limit_is_that_of_the_context() -> None:
    trimmed = AgentState([ANSWER], [SEARCH], FIRST.metadata)
    assert diff_agent("user_1", FIRST, trimmed, limit=1).context.trimmed == 1
    assert diff_agent("user_1", FIRST, trimmed, limit=2).context.trimmed == 0


def test_an_added_and_a_removed_agent() -> None:
    found = diff_agent("user_1", None, FIRST, limit=50)
    assert (found.change, found.context.appended, len(found.tools.added)) == ("added", 1, 1)
    assert found.metadata.version == (None, "1.0.0")
    found = diff_agent("user_1", FIRST, None, limit=50)
    assert (found.change, found.context.removed, len(found.tools.removed)) == ("removed", 1, 1)
    assert found.metadata.version == ("1.0.0", None)


def test_an_unreadable_file_is_not_compared() -> None:
    broken = Parts(context=SECOND.context, tools=None, metadata=SECOND.metadata)
    found = diff_agent("user_1", FIRST, broken, limit=50, unreadable=["tools.json"])
    assert (found.tools, found.unreadable) == (ToolsDiff(), ("tools.json",))
    assert found.context.appended == 1
    names = {"tools.json", "context.json", "metadata.json"}
    found = diff_agent("user_1", FIRST, Parts(), limit=50, unreadable=names)
    assert (found.context, found.metadata) == (ContextDiff(), MetadataDiff())
    assert found.unreadable == ("context.json", "metadata.json", "tools.json")


def test_a_missing_file_is_an_empty_one() -> None:
    found = diff_agent("user_1", FIRST, Parts(FIRST.context, None, FIRST.metadata), limit=50)
    assert (found.change, len(found.tools.removed)) == ("changed", 1)


def test_an_agent_on_neither_side() -> None:
    with pytest.raises(ValueError, match="neither side"):
        diff_agent("user_1", None, None, limit=50)
