"""The five tools as a model sees them: their arguments, their answers, their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from memrepo.errors import MemrepoError
from memrepo.live import calls, schemas
from memrepo.live.desk import Desk
from memrepo.live.exchange import Exchange
from memrepo.live.permit import Asked, Operator
from memrepo.live.wording import bad_arguments, failure, json_line
from memrepo.records.store import Store
from memrepo.records.values import New

_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
# Nothing is deleted: what is superseded or archived stays to be read.
_WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


class _NoOther(ArgModelBase):
    model_config = ConfigDict(extra="forbid")


class StrictTool(Tool):
    """A tool that takes no argument it does not know, and says plainly what does not fit."""

    @classmethod
    def of(cls, function: Callable[..., Any], title: str, annotations: ToolAnnotations) -> Tool:
        """The tool that calls ``function``; its docstring is what the model reads."""
        words = " ".join((function.__doc__ or "").split())
        tool = cls.from_function(function, title=title, description=words, annotations=annotations)
        given = tool.fn_metadata.arg_model
        strict = create_model(given.__name__, __base__=(_NoOther, given))
        tool.fn_metadata.arg_model = strict
        tool.parameters = strict.model_json_schema(by_alias=True)
        return tool

    async def run(self, *arguments: Any, **more: Any) -> Any:
        """Run it.  Raises ToolError in the words of this house, without what was given."""
        try:
            return await super().run(*arguments, **more)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                problems = cause.errors(include_url=False, include_input=False)
                raise ToolError(bad_arguments(problems)) from cause
            raise ToolError(str(cause or error)) from cause


class Tools:
    """The tools over one desk; ``exchange`` is told of each write."""

    def __init__(self, desk: Desk, exchange: Exchange, operator: Operator) -> None:
        self._desk, self._exchange, self._operator = desk, exchange, operator

    def all(self) -> list[Tool]:
        """The five; without the two that write where the operator wants none written."""
        reading = [
            StrictTool.of(self.memory_read, "Read a record", _READS),
            StrictTool.of(self.memory_list, "List records", _READS),
            StrictTool.of(self.memory_search, "Search records", _READS),
        ]
        if self._operator.read_only:
            return reading
        return [
            StrictTool.of(self.memory_write, "Write a record", _WRITES),
            *reading,
            StrictTool.of(self.memory_archive, "Archive a record", _WRITES),
        ]

    async def memory_write(
        self,
        key: schemas.Key,
        summary: Annotated[str, Field(description="The conclusion itself, in a sentence or two.")],
        kind: schemas.Kind = None,
        confidence: Annotated[
            float | None,
            Field(ge=0, le=1, description="How sure; below 0.7 for what nobody verified."),
        ] = None,
        ttl_seconds: Annotated[
            int | None,
            Field(ge=1, description="How long it holds; seven days at most for the unverified."),
        ] = None,
        code_refs: Annotated[
            list[str] | None, Field(description="The code it is about: path or path:line.")
        ] = None,
        details: Annotated[
            str | dict[str, Any] | list[Any] | None, Field(description="What else is known.")
        ] = None,
        reason: Annotated[
            str | None, Field(description="The evidence: a test, the address of a run, a person.")
        ] = None,
        expect: Annotated[
            str | None,
            Field(description='Write only if this id is the active record; "none": if none is.'),
        ] = None,
        address: schemas.Address = None,
    ) -> Annotated[CallToolResult, schemas.WriteReply]:
        """Write a conclusion that other agents should know. It takes the place of the active
        record of its key, which stays to be read; the same conclusion again changes nothing.
        A record with more trust than yours is not superseded. Never write secrets, personal
        data, or instructions to other agents."""
        new = New(
            key,
            summary,
            kind=kind,
            confidence=confidence,
            ttl_seconds=ttl_seconds,
            code_refs=tuple(code_refs or ()),
            details=details,
            reason=reason or "",
            expect=expect,
        )
        return await self._reply(
            lambda store: self._told(calls.write(store, self._operator, new, asked(address)))
        )

    async def memory_read(
        self,
        key: Annotated[str | None, Field(description="The conclusion's name; or give id.")] = None,
        id: Annotated[str | None, Field(description="A record's id; or give key.")] = None,  # noqa: A002
        address: schemas.Address = None,
    ) -> Annotated[CallToolResult, schemas.ReadReply]:
        """Read one whole record: the one that holds for a key, or the one of an id, with the
        confidence that it deserves now and whether the code it cites is still the same."""
        return await self._reply(
            lambda store: calls.read(store, self._operator, key, id, asked(address))
        )

    async def memory_list(
        self,
        kind: schemas.Kind = None,
        key: Annotated[str | None, Field(description="Only records of this key.")] = None,
        trust: schemas.Counts = None,
        status: schemas.Which = "active",
        agent: schemas.By = None,
        expired: schemas.Expired = False,
        inherited: schemas.Inherited = True,
        whole: Annotated[bool, Field(description="The whole records, not summaries.")] = False,
        limit: schemas.Limit = 50,
        address: schemas.Address = None,
    ) -> Annotated[CallToolResult, schemas.ListReply]:
        """List what is known here, the newest first: summaries of the active records of an
        address and of what it inherits. Look here, or search, before you conclude anew."""
        wanted = calls.Wanted(asked(address), kind, trust, status, agent, expired, inherited, limit)
        return await self._reply(
            lambda store: calls.listed(store, self._operator, wanted, key=key, whole=whole)
        )

    async def memory_search(
        self,
        query: Annotated[str, Field(description="Words: prose, Chinese, names from code.")],
        kind: schemas.Kind = None,
        trust: schemas.Counts = None,
        status: schemas.Which = "active",
        agent: schemas.By = None,
        expired: schemas.Expired = False,
        inherited: schemas.Inherited = True,
        limit: schemas.Limit = 10,
        address: schemas.Address = None,
    ) -> Annotated[CallToolResult, schemas.SearchReply]:
        """Find records by their words, the best first, at an address and in what it inherits."""
        wanted = calls.Wanted(asked(address), kind, trust, status, agent, expired, inherited, limit)
        return await self._reply(lambda store: calls.search(store, self._operator, query, wanted))

    async def memory_archive(
        self,
        id: Annotated[str, Field(description="The record's id.")],  # noqa: A002
        reason: Annotated[str, Field(description="Why it no longer holds.")],
        address: schemas.Address = None,
    ) -> Annotated[CallToolResult, schemas.WriteReply]:
        """Take a record out of the active set because it no longer holds. It stays to be read
        with its reason. If something else holds now, write that instead: it supersedes."""
        return await self._reply(
            lambda store: self._told(
                calls.archive(store, self._operator, id, reason, asked(address))
            )
        )

    def _told(self, value: calls.Json) -> calls.Json:
        """On the desk's thread, so that a caller who has gone does not keep it from being sent."""
        if value["changed"]:
            self._exchange.wrote()
        return value

    async def _reply(self, work: Callable[[Store], calls.Json]) -> CallToolResult:
        try:
            value = await self._desk.run(work)
        except MemrepoError as error:
            raise ToolError(failure(error)) from error
        except OSError as error:
            raise ToolError(f"the clone cannot be used: {error.strerror or error}") from error
        whole = {
            "caution": schemas.CAUTION,
            **value,
            "remote": self._exchange.remote().as_json(),
            "notices": self._exchange.notices(),
        }
        text = TextContent(type="text", text=json_line(whole))
        return CallToolResult(content=[text], structured_content=whole)


def asked(place: BaseModel | None) -> Asked | None:
    """An address as the model gave it."""
    return None if place is None else Asked(**place.model_dump())
