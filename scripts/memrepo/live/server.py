"""The server: the tools and resources over one clone, on standard input and output."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer

from memrepo import __version__
from memrepo.live.desk import Desk
from memrepo.live.exchange import Exchange, OpenStore
from memrepo.live.permit import Operator
from memrepo.live.resources import add_resources
from memrepo.live.schemas import CAUTION
from memrepo.live.tools import Tools
from memrepo.protocol.recordplace import address_words

#: For work on the clone that has begun, when the process is to end.
_LAST_SECONDS = 5.0


class Server:
    """The server and what works behind it. ``open_store`` is called for each store it needs."""

    def __init__(self, open_store: OpenStore, operator: Operator, seconds: float) -> None:
        self._desk = Desk(open_store)
        self._exchange = Exchange(open_store, seconds, publishes=not operator.read_only)
        self.protocol: MCPServer[Any] = MCPServer(
            "memrepo",
            title="Shared records",
            instructions=_instructions(operator),
            version=__version__,
            tools=Tools(self._desk, self._exchange, operator).all(),
            lifespan=self._life,
            log_level="WARNING",
            subscriptions=False,
        )
        add_resources(self.protocol, self._desk, self._exchange, operator)

    @asynccontextmanager
    async def _life(self, _: MCPServer[Any]) -> AsyncIterator[None]:
        self._exchange.start()
        try:
            yield
        finally:
            # No call runs any more, so what is closed here is nobody's.
            self._exchange.close()
            self._desk.close()

    def end(self, *_: Any) -> None:
        """End the process as soon as what it does to the clone is done."""
        self._desk.wait(_LAST_SECONDS)
        self._exchange.close()
        os._exit(0)


def serve(open_store: OpenStore, operator: Operator, seconds: float) -> None:
    """Serve one client until it closes standard input; nothing else may write to the output.

    A client that has lost its patience (SIGTERM) waits until the clone is in order.
    """
    server = Server(open_store, operator, seconds)
    # What a client calls wrongly is said to it; the log is for what is wrong here.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    signal.signal(signal.SIGTERM, server.end)
    server.protocol.run("stdio")


def _instructions(operator: Operator) -> str:
    place = address_words(operator.own)
    lines = [
        f"Experience that agents, people and CI jobs share about {place}, kept in Git.",
        "At the start read memory://brief or call memory_list; search before you conclude anew.",
        CAUTION,
        "Weigh a record by its trust and effective_confidence, and look at the code it cites.",
    ]
    if not operator.read_only:
        lines.append(
            "Write what the next agent should not have to find out again: one conclusion a key,"
            f" with its evidence as reason. You write as {operator.writer.agent} with the trust"
            f" {operator.trust}, which is the operator's setting."
        )
    return "\n".join(lines)
