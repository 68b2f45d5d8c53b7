"""What ``doctor`` found, as text for a terminal and as a value for JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memrepo.doctor.convert import Converted
from memrepo.doctor.doctor import Examination
from memrepo.doctor.problem import Problem, count
from memrepo.protocol.findings import SEVERITIES
from memrepo.report.escape import for_terminal

_COLOURS = {"error": "1;31", "warning": "1;33", "note": "1;36", "fixed": "32"}


def as_json(result: Examination) -> dict[str, Any]:
    """The machine-readable answer: ``problems`` that are left, and those that were ``fixed``."""
    return {
        "path": result.root,
        "healthy": result.healthy,
        "problems": [_as_json(problem) for problem in result.left],
        "fixed": [_as_json(problem) for problem in result.fixed],
        "notes": list(result.notes),
    }


def _as_json(problem: Problem) -> dict[str, Any]:
    return {
        "name": problem.name,
        "severity": problem.severity,
        "what": problem.what,
        "reason": problem.reason,
        "repair": problem.repair,
        "safe": problem.safe,
        "fix": problem.fix.does if problem.fix else None,
    }


def as_text(result: Examination, *, colour: bool = False) -> str:
    """Each problem with its reason and repair; one line for a healthy clone. No last newline."""
    lines: list[str] = []
    for problem in result.fixed:
        lines += [f"{_word('fixed', colour)} {problem.name}: {for_terminal(problem.what)}"]
        lines += [f"    how: {for_terminal(problem.fix.does)}"] if problem.fix else []
    for problem in result.left:
        lines += _problem_lines(problem, result, colour)
    lines += [f"note: {for_terminal(note)}" for note in result.notes]
    return "\n".join([*lines, _summary(result)])


def _problem_lines(problem: Problem, result: Examination, colour: bool) -> Iterator[str]:
    yield f"{_word(problem.severity, colour)} {problem.name}: {for_terminal(problem.what)}"
    yield f"    why: {for_terminal(problem.reason)}"
    yield f"    repair: {for_terminal(problem.repair)}"
    if result.planned and problem.fix:
        yield f"    --fix would {for_terminal(problem.fix.does)}"


def _word(word: str, colour: bool) -> str:
    return f"\x1b[{_COLOURS[word]}m{word}\x1b[0m" if colour else word


def _summary(result: Examination) -> str:
    where = for_terminal(result.root)
    if not result.left:
        return f"{where} is healthy" + ("" if result.has_worktree else " (it has no worktree)")
    parts = [
        count(number, severity)
        for severity in SEVERITIES
        if (number := sum(problem.severity == severity for problem in result.left))
    ]
    safe = sum(problem.safe for problem in result.left)
    offer = f"; memrepo doctor --fix repairs {safe:,} of them" if safe else ""
    return f"{where}: {', '.join(parts)}{offer}"


def conversion_json(done: Converted) -> dict[str, Any]:
    """The machine-readable answer of ``--convert-history``."""
    return {
        "commit": done.commit,
        "moved": done.moved,
        "policy_changed": done.policy_changed,
        "kept": list(done.kept),
        "notes": list(done.notes),
    }


def conversion_text(done: Converted, *, planned: bool) -> str:
    """What ``--convert-history`` did, or would do. No last newline."""
    lines = [f"note: {for_terminal(note)}" for note in done.notes]
    lines += [f"kept: {for_terminal(path)}, which is no plain snapshot" for path in done.kept]
    if not done.moved and not done.policy_changed:
        return "\n".join([*lines, "nothing to convert: every snapshot lies in its day's folder"])
    moved = f"{count(done.moved, 'snapshot')} to history/YYYY/MM/DD/"
    policy = " and set history.layout: daily" if done.policy_changed else ""
    if planned:
        return "\n".join([*lines, f"would move {moved}{policy}, in one commit"])
    return "\n".join([*lines, f"moved {moved}{policy}", done.commit])
