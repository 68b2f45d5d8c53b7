"""The store behind the tools: one call at a time, on a thread beside the event loop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

import anyio
import anyio.to_thread

from memrepo.errors import MemrepoError
from memrepo.live.exchange import OpenStore
from memrepo.records.store import Store

_T = TypeVar("_T")


class Desk:
    """One store, which one piece of work at a time has.

    Work that has begun is always finished, also where its caller has gone: a call that was
    cancelled has written its record whole, or not at all.
    """

    def __init__(self, open_store: OpenStore) -> None:
        self._open = open_store
        self._opened = ExitStack()
        self._store: Store | None = None
        self._turn = anyio.Lock()
        self._busy = threading.Lock()

    async def run(self, work: Callable[[Store], _T]) -> _T:
        """What ``work`` answers; raises what it raises."""
        async with self._turn:
            return await anyio.to_thread.run_sync(self._work, work)

    def wait(self, seconds: float) -> None:
        """Let the work that has begun end, for some seconds at most, and begin no other."""
        self._busy.acquire(timeout=seconds)

    def close(self) -> None:
        """Close the store."""
        self._store = None
        self._opened.close()

    def _work(self, work: Callable[[Store], _T]) -> _T:
        with self._busy:
            if self._store is None:
                self._store = self._opened.enter_context(self._open())
            try:
                return work(self._store)
            except MemrepoError:
                raise
            except Exception:
                # Whatever it was, the next call begins with a fresh one.
                self.close()
                raise
