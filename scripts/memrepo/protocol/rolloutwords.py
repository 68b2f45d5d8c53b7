"""What an edit of a rollout file does, in words, and which edits are never right."""

from __future__ import annotations

from memrepo.protocol.rollout import MOST_MONITORED, Measure, Rollout, hold_text, percent


def describe_change(old: Rollout | None, new: Rollout | None) -> str:
    """What changes for the units, one sentence a line; "" when nothing does.

    None stands for a file that is not there. Names from the files stand as they are:
    whoever shows the text escapes it.
    """
    if old is None:
        return "\n".join(_new(new)) if new is not None else ""
    if new is None:
        return _gone(old)
    return "\n".join([*_assigned(old, new), *_settings(old, new)])


def fixed_changes(old: Rollout, new: Rollout) -> list[str]:
    """Each edit that would move units or mix trials, with the reason; for a started rollout.

    A draft may be edited freely. After the start the salt, the assignment, the unit and
    the branches stay; an ended rollout stays ended.
    """
    if old.state.phase == "draft":
        return []
    wrong = [
        f"`{key}` is fixed once a rollout has started: {reason}."
        for key, reason in (
            ("salt", "another one moves every unit to a new place"),
            ("assignment", "another one moves every unit to a new place"),
            ("unit", "outcomes of one unit say nothing of another"),
            ("control", "outcomes so far are about the old branch"),
            ("treatment", "outcomes so far are about the old branch"),
        )
        if getattr(old, key) != getattr(new, key)
    ]
    if not old.is_live and new.state != old.state:
        wrong.append(f"The rollout was {old.state.phase}; it does not run again.")
    if new.state.phase == "draft":
        wrong.append("A rollout that has started is no draft again.")
    return wrong


def _reading(rollout: Rollout, weight: str) -> str:
    return f"{weight} of units of {', '.join(rollout.agents)} will read {rollout.treatment}"


def _new(new: Rollout) -> list[str]:
    lines = []
    if new.is_live:
        lines.append(f"{_reading(new, '0 % → ' + percent(new.state.weight))}.")
    else:
        lines.append(
            f"A rollout of {new.treatment} in phase {new.state.phase}: nobody reads it yet."
        )
    lines.append(f"Steps: {_steps(new)}.")
    if not new.guardrails:
        lines.append("No guardrail: nothing would abort it.")
    lines += [f"Guardrail {_measure(guardrail)}." for guardrail in new.guardrails]
    lines += [f"Goal {_measure(goal)}." for goal in new.goals]
    return lines


def _gone(old: Rollout) -> str:
    if not old.is_live:
        return f"The record of {old.name} ({old.state.phase}) is removed."
    reading = _reading(old, f"{percent(old.state.weight)} → 0 %")
    return f"{reading}: the rollout is removed while it runs; abort it instead."


def _assigned(old: Rollout, new: Rollout) -> list[str]:
    lines = []
    before, after = _share(old), _share(new)
    if new.state.phase != old.state.phase:
        lines.append(_phase(old, new))
    if before != after and new.state.phase != "promoted":
        lines.append(f"{_reading(new, f'{percent(before)} → {percent(after)}')}.")
    if before <= MOST_MONITORED < after:
        lines.append("Above 50 % there is no control arm of equal size: nothing is compared.")
    return lines


def _share(rollout: Rollout) -> int:
    """The parts that read the treatment branch; none do after it is promoted."""
    return rollout.state.weight if rollout.is_live else 0


def _phase(old: Rollout, new: Rollout) -> str:
    words = {
        "draft": "It becomes a draft.",
        "running": "It resumes." if old.state.phase == "paused" else "It starts.",
        "paused": f"It pauses at {percent(new.state.weight)}.",
        "promoted": f"It is promoted: every unit reads {new.control}, which holds the treatment.",
        "aborted": f"It is aborted: every unit reads {new.control}.",
    }
    return words[new.state.phase]


def _settings(old: Rollout, new: Rollout) -> list[str]:
    lines = []
    for key in ("name", "control", "treatment", "unit", "salt", "assignment"):
        before, after = getattr(old, key), getattr(new, key)
        if before != after:
            lines.append(f"{key}: {before} → {after}.")
    gained = [agent for agent in new.agents if agent not in old.agents]
    lost = [agent for agent in old.agents if agent not in new.agents]
    if gained:
        lines.append(f"It now covers {', '.join(gained)}.")
    if lost:
        lines.append(f"It no longer covers {', '.join(lost)}.")
    if new.layered != old.layered:
        lines.append(
            "It may now run beside others on the same agents."
            if new.layered
            else "It no longer runs beside others on the same agents."
        )
    if new.steps != old.steps:
        lines.append(f"Steps: {_steps(old)} → now {_steps(new)}.")
    for title, before, after in (
        ("Guardrail", old.guardrails, new.guardrails),
        ("Goal", old.goals, new.goals),
    ):
        lines += _measures(title, before, after)
    return lines


def _measures(title: str, old: tuple[Measure, ...], new: tuple[Measure, ...]) -> list[str]:
    before = {measure.metric: measure for measure in old}
    after = {measure.metric: measure for measure in new}
    lines = [f"{title} {_measure(m)} is removed." for k, m in before.items() if k not in after]
    for metric, measure in after.items():
        if metric not in before:
            lines.append(f"New {title.lower()} {_measure(measure)}.")
        elif measure != before[metric]:
            lines.append(f"{title} {_measure(before[metric])} → now {_measure(measure)}.")
    return lines


def _measure(measure: Measure) -> str:
    text = f"{measure.metric} ({measure.kind}, {measure.direction} is better"
    return f"{text}, margin {measure.margin:g})" if measure.margin is not None else f"{text})"


def _steps(rollout: Rollout) -> str:
    return ", ".join(
        percent(step.weight) + (f" for {hold_text(step.hold)}" if step.hold else "")
        for step in rollout.steps
    )
