"""What the actions of knowledge branches leave of a merge: outputs, reports, a summary."""

from __future__ import annotations

import tempfile
from pathlib import Path

from memrepo.errors import NeedsPerson
from memrepo.knowledge.outcome import MergeReport
from memrepo.knowledge.render import render_report, report_lines, summary
from memrepo.report.jsonform import json_text
from memrepo.runner.job import Job
from memrepo.runner.log import remark, say, stopped
from memrepo.runner.outputs import add_summary, set_outputs


def show_merge(job: Job, report: MergeReport) -> None:
    """Set the outputs, write the reports as files, add to the summary, and say it in the log."""
    markdown = render_report(report)
    job.temp.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="knowledge-merge-", dir=job.temp))
    files = {"report.md": markdown, "report.json": json_text(report.as_json())}
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8", errors="replace", newline="\n")
    set_outputs(
        job,
        {
            "merged": "\n".join(report.merged),
            "conflicts": report.conflicts,
            "commits": report.commits,
            "pull-request-number": report.number or "",
            "pull-request-url": report.url,
            "report-markdown": str(folder / "report.md"),
            "report-json": str(folder / "report.json"),
        },
    )
    add_summary(job, lambda limit: _cut(markdown, limit))
    for note in report.notes:
        remark(note)
    for line in report_lines(report):
        say(line)


def stop_for(report: MergeReport) -> int:
    """Say that a person must decide, where one must; the exit code."""
    if not report.conflicts:
        return 0
    hint = "the summary says where, and how to decide it; the other branches went on"
    return stopped(NeedsPerson(summary(report), hint))


def _cut(markdown: str, limit: int) -> str:
    """The report's whole lines within ``limit`` characters."""
    if len(markdown) <= limit:
        return markdown
    return markdown[:limit].rpartition("\n")[0] + "\n\n… the report file has the rest.\n"
