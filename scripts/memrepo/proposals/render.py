"""A waiting pull request as one line. Pure."""

from __future__ import annotations

from memrepo.proposals.waiting import Waiting
from memrepo.report.phrases import count


def waiting_line(row: Waiting) -> str:
    """One line of ``pr list`` for a terminal (untrusted text not yet made safe)."""
    age = "today" if row.age_days == 0 else f"{row.age_days} d"
    state = row.problem or ", ".join(
        part
        for part in (
            f"{row.verdict} ({count(row.errors, 'error')}, {count(row.warnings, 'warning')})",
            "stale" if row.stale else "",
            "" if row.applies else "no longer applies",
        )
        if part
    )
    return f"#{row.number:<4} {age:>6}  {state}  {row.branch} -> {row.base}  {row.title}"
