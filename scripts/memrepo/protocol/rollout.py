"""A rollout: an A/B trial of memory on a branch, as a value.

``rolloutfile.py`` reads it from ``.memrepo/rollouts/<name>.yml``, ``rolloutdump.py``
writes it, ``rolloutmoves.py`` moves it on; this module is what the rest knows of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from memrepo.protocol.agentglobs import common_glob

ROLLOUTS_FOLDER = ".memrepo/rollouts/"

#: All weights are whole parts of this total: 1 part is 0.001 %. It never changes, since
#: another total would move units.
TOTAL_PARTS = 100_000
#: Up to this weight an equal share of units is the control arm.
MOST_MONITORED = 50_000
_PARTS_A_PERCENT = TOTAL_PARTS // 100

DAY = 86_400
MOST_HOLD = 365 * DAY

Phase = Literal["draft", "running", "paused", "promoted", "aborted"]
#: How a unit becomes a number. A name here never changes its meaning.
Assignment = Literal["murmur3-cbor/1", "murmur3-utf8/1"]
Kind = Literal["rate", "mean"]
Direction = Literal["higher", "lower"]

_WEIGHT = re.compile(r"(0|[1-9][0-9]{0,2})(?:\.([0-9]{1,2}))?")
_HOLD = re.compile(r"(0|[1-9][0-9]{0,5})([smhd])|0")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Step(msgspec.Struct, frozen=True):
    """A weight in parts of ``TOTAL_PARTS``, and the least time to stay at it in seconds."""

    weight: int
    hold: int = 0


class Measure(msgspec.Struct, frozen=True):
    """A guardrail (``margin`` is a number) or a goal (``margin`` is None).

    ``direction`` is the better one. ``margin`` is the harm that is still accepted, as a
    difference between the arms in the metric's own unit; for a ``rate`` a share of 1.
    """

    metric: str
    kind: Kind = "rate"
    direction: Direction = "higher"
    margin: float | None = None


class State(msgspec.Struct, frozen=True):
    """Where the rollout stands: ``step`` counts from 1 (0 in a draft), ``weight`` in parts.

    ``since`` is when it came there.
    """

    phase: Phase
    step: int
    weight: int
    since: datetime


class Rollout(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file. ``agents`` holds ids and shell globs, ``unit`` what is assigned."""

    name: str
    control: str
    treatment: str
    agents: tuple[str, ...]
    unit: str = "user"
    salt: str
    assignment: Assignment = "murmur3-cbor/1"
    layered: bool = False
    steps: tuple[Step, ...]
    guardrails: tuple[Measure, ...] = ()
    goals: tuple[Measure, ...] = ()
    state: State

    @property
    def is_live(self) -> bool:
        """Whether units are being assigned: running, or paused at its weight."""
        return self.state.phase in ("running", "paused")

    @property
    def has_ended(self) -> bool:
        """Whether it was promoted or aborted, for good."""
        return self.state.phase in ("promoted", "aborted")

    @property
    def is_last_step(self) -> bool:
        """Whether no further step follows."""
        return self.state.step >= len(self.steps)

    @property
    def due(self) -> datetime | None:
        """When the hold of the present step is over; None unless it is running."""
        if self.state.phase != "running":
            return None
        return self.state.since + timedelta(seconds=self.steps[self.state.step - 1].hold)


DEFAULT_STEPS = tuple(
    Step(share * _PARTS_A_PERCENT, 0 if share == 100 else DAY) for share in (1, 5, 10, 25, 50, 100)
)


def rollout_path(name: str) -> str:
    """Where the rollout called ``name`` lies in the repository."""
    return f"{ROLLOUTS_FOLDER}{name}.yml"


def rollout_name(path: str) -> str | None:
    """The name of the rollout that lies at ``path``, or None for any other path."""
    name = path.removeprefix(ROLLOUTS_FOLDER).removesuffix(".yml")
    return name if path == rollout_path(name) and name and "/" not in name else None


def salt_of(name: str) -> str:
    """The salt a new rollout starts with. The colon keeps ``e1`` + ``1x`` from ``e11`` + ``x``."""
    return f"{name}:"


def parse_weight(text: str) -> int | None:
    """Parts for a percentage of at most two decimals (``5``, ``0.01``, ``100``), or None."""
    found = _WEIGHT.fullmatch(text)
    if not found:
        return None
    hundredths = int(found[1]) * 100 + int((found[2] or "").ljust(2, "0"))
    parts = hundredths * _PARTS_A_PERCENT // 100
    return parts if parts <= TOTAL_PARTS else None


def weight_text(parts: int) -> str:
    """The percentage as the file writes it: ``5``, ``0.01``, ``12.5``."""
    whole, rest = divmod(parts, _PARTS_A_PERCENT)
    return f"{whole}.{rest:03}".rstrip("0").rstrip(".")


def percent(parts: int) -> str:
    """The percentage for a sentence: ``5 %``."""
    return f"{weight_text(parts)} %"


def parse_hold(text: str) -> int | None:
    """Seconds for ``90s``, ``30m``, ``24h``, ``7d`` or ``0``, or None; a year is the most."""
    found = _HOLD.fullmatch(text)
    if not found:
        return None
    seconds = int(found[1]) * _SECONDS[found[2]] if found[1] else 0
    return seconds if seconds <= MOST_HOLD else None


def hold_text(seconds: int) -> str:
    """A hold as the file writes it, in the largest of hours, minutes and seconds that fits."""
    for letter in "hms":
        count, rest = divmod(seconds, _SECONDS[letter])
        if not rest:
            return f"{count}{letter}" if count else "0"
    raise AssertionError("a number of seconds is one of seconds")


def overlap(rollouts: Sequence[Rollout]) -> list[tuple[Rollout, Rollout, str]]:
    """Pairs of live rollouts that would assign the same agent, with the globs that meet.

    Two that are both declared layered may: whoever asks names the rollout it asks about.
    """
    live = [rollout for rollout in rollouts if rollout.is_live]
    found = []
    for index, one in enumerate(live):
        for other in live[index + 1 :]:
            if one.layered and other.layered:
                continue
            common = common_glob(one.agents, other.agents)
            if common:
                words = common[0] if common[0] == common[1] else " and ".join(common)
                found.append((one, other, words))
    return found
