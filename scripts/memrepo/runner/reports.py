"""The reports of a review as files for later steps, and what a run shows of it by itself."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.findings import Finding
from memrepo.report.html import review_html
from memrepo.report.jsonform import json_text
from memrepo.report.markdown import review_markdown
from memrepo.report.phrases import headline, severities_phrase
from memrepo.report.sarif import findings_sarif
from memrepo.report.verdict import Review, Verdict
from memrepo.runner.handover import (
    FOR_PEOPLE,
    PULL_REQUEST,
    REVIEW,
    Handover,
    handover_texts,
)
from memrepo.runner.job import Job
from memrepo.runner.log import annotate, say, say_findings
from memrepo.runner.outputs import add_summary, set_outputs


def write_reports(job: Job, review: Review, number: int) -> Path:
    """Write every form of a review into a new folder under the runner's temp.

    With ``number``, a pull request, also what the second workflow of a review reads.
    """
    job.temp.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="memory-review-", dir=job.temp))
    markdown, html, sarif = FOR_PEOPLE
    texts = {
        markdown: review_markdown(review),
        html: review_html(review),
        sarif: json_text(findings_sarif(review.findings, catalogue=CATALOGUE)),
        **handover_texts(Handover(number, review.head, review)),
    }
    if not number:
        del texts[PULL_REQUEST]
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8", errors="replace", newline="\n")
    return folder


def set_review_outputs(job: Job, review: Review, folder: Path) -> None:
    """The outputs of a review that are known before anything is published."""
    markdown, html, sarif = FOR_PEOPLE
    severities = Counter(finding.severity for finding in review.findings)
    set_outputs(
        job,
        {
            "verdict": review.verdict,
            "errors": severities["error"],
            "warnings": severities["warning"],
            "agents-changed": len(review.diff.agents),
            "report-json": str(folder / REVIEW),
            "report-markdown": str(folder / markdown),
            "report-html": str(folder / html),
            "sarif": str(folder / sarif),
            "report-folder": str(folder),
        },
    )


def show(job: Job, review: Review) -> None:
    """The job's summary, annotations at the places, and a line in the log."""
    add_summary(job, lambda limit: review_markdown(review, limit=limit))
    annotate(review.findings)
    said = f"{review.verdict}: {headline(review.diff)}, {severities_phrase(review.findings)}"
    say(said)


def set_validation_outputs(job: Job, verdict: Verdict, findings: list[Finding]) -> None:
    """The outputs of a validation, with its findings in two files."""
    job.temp.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="memory-validate-", dir=job.temp))
    files = {
        "findings.json": [finding.as_json() for finding in findings],
        FOR_PEOPLE[2]: findings_sarif(findings, catalogue=CATALOGUE),
    }
    for name, value in files.items():
        (folder / name).write_text(json_text(value), "utf-8", errors="replace", newline="\n")
    severities = Counter(finding.severity for finding in findings)
    set_outputs(
        job,
        {
            "verdict": verdict,
            "errors": severities["error"],
            "warnings": severities["warning"],
            "report-json": str(folder / "findings.json"),
            "sarif": str(folder / FOR_PEOPLE[2]),
        },
    )


def show_findings(verdict: Verdict, findings: list[Finding]) -> None:
    """Annotations at the places, and all findings in the log."""
    annotate(findings)
    say_findings(findings)
    say(f"{verdict}: {severities_phrase(findings)}")
