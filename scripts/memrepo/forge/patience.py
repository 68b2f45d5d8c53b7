"""How long to wait before GitHub is asked again, and when to give up."""

from __future__ import annotations

import msgspec

from .failure import Failure


class Patience(msgspec.Struct, frozen=True):
    """Limits on asking again; all times in seconds.

    ``attempts`` is how often one request is sent at most. The wait after a failure begins
    at ``first_wait`` and doubles. ``limit_wait`` follows a rate limit that names no time
    (GitHub's documentation: at least a minute). ``longest_wait`` bounds the waits for one
    request taken together.
    """

    attempts: int = 5
    first_wait: float = 1.0
    limit_wait: float = 60.0
    longest_wait: float = 150.0

    def wait(self, failure: Failure, sent: int, waited: float, now: float) -> float | None:
        """Seconds to wait before the request is sent again; None to give up.

        ``sent`` is how often it was sent, ``waited`` how long it has waited already, ``now``
        the time as seconds since 1970.
        """
        if failure.kind == "refused" or sent >= self.attempts:
            return None
        pause = self.first_wait * 2.0 ** (sent - 1)
        if failure.kind == "limited":
            asked = failure.asked_wait(now)
            pause = max(pause, self.limit_wait if asked is None else asked)
        return pause if waited + pause <= self.longest_wait else None
