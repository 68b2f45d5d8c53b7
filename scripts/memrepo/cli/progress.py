"""How far long work is: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memrepo.cli.options import log

#: Work that ends sooner says nothing of how far it is.
_PATIENCE = 1.0
_SECONDS_BETWEEN_LINES = 5.0

Tell = Callable[[str, int, int], None]


@contextmanager
def progress() -> Iterator[Tell]:
    """``tell(what, done, of)`` shown on standard error; ``of`` 0 is unknown.

    A bar that goes away at the end where standard error is a terminal; otherwise a line at
    most every five seconds. Nothing within the first second.
    """
    show = _Bar() if sys.stderr.isatty() else _Lines()
    try:
        yield show.tell
    finally:
        show.close()


class _Lines:
    """One line every few seconds, for a log that is read later."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PATIENCE

    def tell(self, what: str, done: int, of: int) -> None:
        """Print how far it is, if it is time."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SECONDS_BETWEEN_LINES
            log(f"{what}: {done:,} of {of:,}" if of else f"{what}: {done:,}")

    def close(self) -> None:
        """Nothing is held open."""


class _Bar:
    """A bar of the terminal."""

    def __init__(self) -> None:
        self._start = time.monotonic() + _PATIENCE
        self._bar: _Shown | None = None

    def tell(self, what: str, done: int, of: int) -> None:
        """Draw how far it is, once the work has taken a moment."""
        if self._bar is None:
            if time.monotonic() < self._start:
                return
            self._bar = _Shown()
        self._bar.draw(what, done, of)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar:
            self._bar.end()


class _Shown:
    """The bar itself; rich is imported when there is one to draw."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._rich = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._rich.start()
        self._task = self._rich.add_task("")

    def draw(self, what: str, done: int, of: int) -> None:
        """Show one step."""
        from memrepo.report.escape import for_terminal

        self._rich.update(
            self._task, description=for_terminal(what), completed=done, total=of or None
        )

    def end(self) -> None:
        """Leave the terminal as it was."""
        self._rich.stop()
