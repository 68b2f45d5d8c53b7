"""What a client can take in without a call: the active set of an address, and the brief."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources import ResourceSecurity

from memrepo.errors import MemrepoError, UsageError
from memrepo.live import calls, schemas
from memrepo.live.desk import Desk
from memrepo.live.exchange import Exchange
from memrepo.live.permit import Asked, Operator
from memrepo.live.wording import failure, json_line
from memrepo.protocol.record import Scope
from memrepo.protocol.recorddump import address_fields
from memrepo.records.store import Store

_JSON = "application/json"
_MOST = 200


def add_resources(
    server: MCPServer[Any], desk: Desk, exchange: Exchange, operator: Operator
) -> None:
    """Put the resources on ``server``."""

    async def told(work: Callable[[Store], Any]) -> Any:
        try:
            return await desk.run(work)
        except UsageError as error:
            raise ResourceNotFoundError(failure(error)) from error
        except MemrepoError as error:
            raise ResourceError(failure(error)) from error

    async def active(asked: Asked | None) -> str:
        wanted = calls.Wanted(asked, limit=_MOST)
        value = await told(lambda store: calls.listed(store, operator, wanted, whole=True))
        return json_line(
            {
                "caution": schemas.CAUTION,
                "address": address_fields(operator.to_read(asked)),
                **value,
                "remote": exchange.remote().as_json(),
            }
        )

    @server.resource(
        "memory://active",
        title="Active records",
        description="The active records of this server's address and of what it inherits.",
        mime_type=_JSON,
    )
    async def active_here() -> str:
        return await active(None)

    @server.resource(
        "memory://active/{scope}{?branch}",
        title="Active records of an address",
        description="The same for the scope project, branch (with ?branch=…), org or agent.",
        mime_type=_JSON,
        # Names of branches hold slashes; they are compared, never opened.
        security=ResourceSecurity(exempt_params={"scope", "branch"}),
    )
    async def active_at(scope: str, branch: str = "") -> str:
        if scope not in get_args(Scope):
            raise ResourceNotFoundError(f"there is no scope {scope[:40]!a}")
        return await active(Asked(scope=scope, branch=branch or None))  # type: ignore[arg-type]

    @server.resource(
        "memory://brief",
        title="Brief",
        description="What a session should be told at its start: one line a record.",
        mime_type="text/plain",
    )
    async def brief() -> str:
        said: str = await told(lambda store: store.brief().text)
        return said
