"""One piece of work at a time; what has begun is finished, what has not is never begun."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.to_thread
import pytest

from memrepo.errors import BadInput
from memrepo.live.desk import Desk


class Opened:
    """Counts how often something was opened and closed in place of a store."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    @contextmanager
    def __call__(self) -> Iterator[Any]:
        self.opened += 1
        try:
            yield self
        finally:
            self.closed += 1


def test_a_call_that_is_cancelled_is_done_whole_or_never_begun() -> None:
    begun, go_on, log = threading.Event(), threading.Event(), list[str]()

    def slow(_: Any) -> None:
        begun.set()
        go_on.wait(30)
        log.append("first")

    async def main() -> None:
        desk = Desk(Opened())
        async with anyio.create_task_group() as first:
            first.start_soon(desk.run, slow)
            await anyio.to_thread.run_sync(begun.wait)
            async with anyio.create_task_group() as second:
                second.start_soon(desk.run, lambda _: log.append("second"))
                await anyio.sleep(0.05)
                second.cancel_scope.cancel()
            first.cancel_scope.cancel()
            assert log == []
            go_on.set()
        await desk.run(lambda _: log.append("third"))
        desk.close()

    anyio.run(main)
    assert log == ["first", "third"]


def test_a_crash_gets_the_next_call_a_fresh_store_and_a_refusal_does_not() -> None:
    opened = Opened()

    def crash(_: Any) -> None:
        raise ValueError

    def refuse(_: Any) -> None:
        raise BadInput("no")

    async def main() -> None:
        desk = Desk(opened)
        with pytest.raises(BadInput):
            await desk.run(refuse)
        await desk.run(lambda _: None)
        assert (opened.opened, opened.closed) == (1, 0)
        with pytest.raises(ValueError):  # noqa: PT011 (whatever it says)
            await desk.run(crash)
        await desk.run(lambda _: None)
        desk.close()

    anyio.run(main)
    assert (opened.opened, opened.closed) == (2, 2)
