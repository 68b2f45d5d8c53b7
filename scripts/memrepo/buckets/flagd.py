"""A rollout as a flag file for flagd: its ``fractional`` operation gives the same arms.

The file follows https://flagd.dev/reference/flag-definitions/ . Its values are branches,
its variants the arms; the unit is the evaluation context's targeting key.
"""

from __future__ import annotations

from typing import Any

from memrepo.buckets.assign import weight_in_force
from memrepo.errors import BadInput
from memrepo.protocol.rollout import MOST_MONITORED, TOTAL_PARTS, Rollout

SCHEMA = "https://flagd.dev/schema/v0/flags.json"
#: The attribute of the evaluation context that names the agent; without it all are meant.
AGENT_ATTRIBUTE = "agent_id"


def flagd_file(rollouts: list[Rollout]) -> dict[str, Any]:
    """The flag file of these rollouts, one flag each under the rollout's name.

    flagd compares bytes, so a service must hand units over in Unicode NFC. Raises
    BadInput for a rollout that flagd cannot evaluate alike: another assignment than
    ``murmur3-cbor/1``, or a glob that is more than a beginning, an end or both.
    """
    return {"$schema": SCHEMA, "flags": {rollout.name: _flag(rollout) for rollout in rollouts}}


def _flag(rollout: Rollout) -> dict[str, Any]:
    if rollout.assignment != "murmur3-cbor/1":
        raise BadInput(
            f"{rollout.name} assigns by {rollout.assignment}, and flagd by murmur3-cbor/1:"
            " it would move units",
            "resolve it with memrepo until it has ended",
        )
    weight = weight_in_force(rollout)
    # flagd has no gap between two arms: what is left on either side is a share of its own.
    shares: list[list[str | int]] = [["treatment", weight]]
    if weight <= MOST_MONITORED:
        rest = MOST_MONITORED - weight
        shares += [["untracked", rest], ["control", weight], ["untracked", rest]]
    else:
        shares += [["untracked", TOTAL_PARTS - weight]]
    key = {"cat": [rollout.salt, {"var": "targetingKey"}]}
    split: dict[str, Any] = {"fractional": [key, *shares]}
    asked = "targetingKey" if rollout.unit == "agent" else AGENT_ATTRIBUTE
    conditions = [_covers(rollout, pattern, asked) for pattern in rollout.agents]
    if True not in conditions:
        # Without an agent's id the question is about an agent that is covered.
        known = [] if rollout.unit == "agent" else [{"!": [{"var": AGENT_ATTRIBUTE}]}]
        split = {"if": [{"or": [*known, *conditions]}, split, "untracked"]}
    return {
        "state": "ENABLED",
        "variants": {
            "treatment": rollout.treatment,
            "control": rollout.control,
            "untracked": rollout.control,
        },
        "defaultVariant": "untracked",
        "targeting": split,
        "metadata": {"assignment": rollout.assignment, "phase": rollout.state.phase},
    }


def _covers(rollout: Rollout, pattern: str, attribute: str) -> Any:
    """JSON Logic for one id or glob; True for the glob that matches every agent."""
    begin, star, end = pattern.partition("*")
    if any(character in f"{begin}{end}" for character in "*?["):
        raise BadInput(
            f"{rollout.name} covers {pattern!a}, which flagd has no operation for",
            "name the agents, or a glob with one `*`",
        )
    agent = {"var": attribute}
    if not star:
        return {"==": [agent, pattern]}
    if not begin and not end:
        return True
    if begin and end:
        return {"and": [{"starts_with": [agent, begin]}, {"ends_with": [agent, end]}]}
    return {"starts_with": [agent, begin]} if begin else {"ends_with": [agent, end]}
