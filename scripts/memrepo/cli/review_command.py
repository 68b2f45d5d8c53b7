"""``memrepo review``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import (
    FailOn,
    RepoPath,
    findings_for,
    log,
    printable,
    say,
    stops,
    write_beside,
)

File = Path | None


def run(
    base: Annotated[str, typer.Option(metavar="REV", help="What the change wants to go into.")],
    head: Annotated[str, typer.Option(metavar="REV", help="The change.")] = "HEAD",
    markdown: Annotated[File, typer.Option(metavar="FILE", help="Write Markdown here.")] = None,
    html: Annotated[File, typer.Option(metavar="FILE", help="Write one HTML page here.")] = None,
    json: Annotated[
        File, typer.Option(metavar="FILE", help="Write JSON here (- is standard output).")
    ] = None,
    fail_on: FailOn = "error",
    repo_path: RepoPath = Path(),
) -> int:
    """Review a change of memory: what each agent will believe and be able to do, and the risks.

    Exit 1 when a finding is at --fail-on or worse.

    Example: memrepo review --base main --head feature/new-tools --html review.html
    """
    from memrepo.memory import MemoryRepo

    with MemoryRepo(repo_path) as repo:
        review = repo.review(base, head)
    if markdown:
        from memrepo.report.markdown import review_markdown

        write_beside(markdown, review_markdown(review))
    if html:
        from memrepo.report.html import review_html

        write_beside(html, review_html(review))
    if json:
        from memrepo.report.jsonform import json_text, review_as_json

        text = json_text(review_as_json(review))
        if str(json) == "-":
            print(printable(text), end="")
        else:
            write_beside(json, text)
    if str(json) != "-":
        from memrepo.report.phrases import headline
        from memrepo.report.text import diff_text
        from memrepo.settings import wants_colour

        if not (markdown or html or json):
            say(diff_text(review.diff, colour=wants_colour(sys.stdout)))
        if review.findings:
            say(findings_for(review.findings, sys.stdout))
        say(f"{review.verdict}: {headline(review.diff)}")
        for path in (markdown, html, json):
            if path:
                log(f"wrote {path}")
    return 1 if stops(review.findings, fail_on) else 0
