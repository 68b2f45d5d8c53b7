"""Records exchanged with the remote beside the calls, by a thread and a store of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from memrepo.errors import MemrepoError, NeedsPerson, PermissionDenied
from memrepo.protocol.timestamps import iso
from memrepo.records.store import Store
from memrepo.records.values import Synced

State = Literal["off", "starting", "in-step", "away", "refused", "stuck"]
OpenStore = Callable[[], AbstractContextManager[Store]]

_log = logging.getLogger(__name__)

#: Between two exchanges, however many writes come in.
_SHORTEST_PAUSE = 1.0
#: For the last exchange, when the client has gone.
_LAST_SECONDS = 10.0
_MOST_NOTICES = 100


class Remote(msgspec.Struct, frozen=True):
    """How this server stands with the remote.

    ``waiting`` counts what was written here and is not published; ``seen`` is when the two
    were last in step, "" for never; ``problem`` says why they are not.
    """

    state: State
    waiting: int = 0
    seen: str = ""
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape."""
        return msgspec.structs.asdict(self)


class Exchange:
    """Fetches every ``seconds``, and publishes soon after each write; 0 seconds is never.

    A failure is kept for the answers and tried again: the calls go on with the clone.
    """

    def __init__(self, open_store: OpenStore, seconds: float, *, publishes: bool) -> None:
        self._open, self._seconds, self._publishes = open_store, seconds, publishes
        self._guard = threading.Lock()
        self._woken = threading.Event()
        self._closing = False
        self._written = self._published = 0
        self._remote = Remote("starting" if seconds else "off")
        self._notices: deque[str] = deque(maxlen=_MOST_NOTICES)
        # A remote that never answers must not keep the process.
        self._thread = threading.Thread(target=self._run, name="exchange", daemon=True)

    def start(self) -> None:
        """Begin, where there is anything to do."""
        if self._seconds:
            self._thread.start()

    def wrote(self) -> None:
        """Say that a record was committed here."""
        with self._guard:
            self._written += 1
        self._woken.set()

    def remote(self) -> Remote:
        """How it stands now."""
        with self._guard:
            return msgspec.structs.replace(self._remote, waiting=self._written - self._published)

    def notices(self) -> list[str]:
        """What became of records that met another writer's, each said once."""
        with self._guard:
            said = list(self._notices)
            self._notices.clear()
            return said

    def close(self) -> None:
        """Publish what waits, for some seconds at most; the rest goes out with the next start."""
        if not self._thread.is_alive():
            return
        self._closing = True
        self._woken.set()
        self._thread.join(_LAST_SECONDS)

    def _run(self) -> None:
        while not self._closing or self.remote().waiting:
            self._woken.clear()
            is_last = self._closing
            began = time.monotonic()
            self._once()
            if is_last:
                return
            self._woken.wait(self._seconds)
            if not self._closing:
                time.sleep(max(0.0, _SHORTEST_PAUSE - (time.monotonic() - began)))

    def _once(self) -> None:
        with self._guard:
            sent = self._written
        try:
            with self._open() as store:
                done = store.sync() if self._publishes else store.pull()
        except MemrepoError as failed:
            self._failed(_state_of(failed), _one_line(failed))
        except OSError as failed:
            self._failed("stuck", f"the clone cannot be used: {failed.strerror or failed}")
        except Exception:  # noqa: BLE001 (the thread lives on, and the answers say so)
            _log.exception("the exchange with the remote failed")
            self._failed("stuck", "the exchange failed; the server's log says how")
        else:
            self._worked(sent, done)

    def _worked(self, sent: int, done: Synced) -> None:
        with self._guard:
            self._published = max(self._published, sent)
            self._remote = Remote("in-step", seen=iso(datetime.now(UTC).replace(microsecond=0)))
            self._notices.extend(f"{one.record_id}: {one.note}" for one in done.outcomes)

    def _failed(self, state: State, problem: str) -> None:
        with self._guard:
            self._remote = msgspec.structs.replace(self._remote, state=state, problem=problem)


def _state_of(failed: MemrepoError) -> State:
    if isinstance(failed, PermissionDenied):
        return "refused"
    return "stuck" if isinstance(failed, NeedsPerson) else "away"


def _one_line(failed: MemrepoError) -> str:
    return f"{failed.message}; {failed.hint}" if failed.hint else failed.message
