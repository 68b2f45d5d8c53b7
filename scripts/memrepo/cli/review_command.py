"""``memrepo review``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepo.cli.forge_option import ForgeOption, Remote
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

if TYPE_CHECKING:
    from memrepo.memory import MemoryRepo
    from memrepo.report.verdict import Review

File = Path | None


def run(
    base: Annotated[str, typer.Option(metavar="REV", help="What the change wants to go into.")],
    head: Annotated[str, typer.Option(metavar="REV", help="The change.")] = "HEAD",
    markdown: Annotated[File, typer.Option(metavar="FILE", help="Write Markdown here.")] = None,
    html: Annotated[File, typer.Option(metavar="FILE", help="Write one HTML page here.")] = None,
    json: Annotated[
        File, typer.Option(metavar="FILE", help="Write JSON here (- is standard output).")
    ] = None,
    sarif: Annotated[File, typer.Option(metavar="FILE", help="Write SARIF 2.1.0 here.")] = None,
    pr: Annotated[
        int | None, typer.Option("--pr", min=1, metavar="N", help="Comment on and label it.")
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Annotations and step summary, in a workflow.")
    ] = False,
    fail_on: FailOn = "error",
    forge: ForgeOption = None,
    remote: Remote = None,
    repo_path: RepoPath = Path(),
) -> int:
    """Review a change of memory: what each agent will believe and be able to do, and the risks.

    Exit 1 when a finding is at --fail-on or worse.

    Example: memrepo review --base main --head feature/new-tools --html review.html
    """
    from memrepo.memory import MemoryRepo

    with MemoryRepo(repo_path) as repo:
        review = repo.review(base, head)
        if pr is not None or forge is not None:
            review = _vouched(repo, review, forge, remote)
        for path, text in reports(review, markdown, html, json, sarif):
            write_beside(path, text)
        if pr is not None:
            _publish(repo, review, pr, forge, remote)
    if str(json) == "-":
        from memrepo.report.jsonform import json_text, review_as_json

        print(printable(json_text(review_as_json(review))), end="")
    elif review.base == review.head and not github:
        log(f"{head} holds nothing that {base} does not; memrepo diff shows what is not committed")
        _say(review, whole=False)
    elif github:
        from memrepo.runner.run import show_review

        show_review(review)
    else:
        _say(review, whole=not (markdown or html or json or sarif))
    for written in (markdown, html, json, sarif):
        if written and str(written) != "-":
            log(f"wrote {written}")
    return 1 if stops(review.findings, fail_on) else 0


def reports(
    review: Review, markdown: File, html: File, json: File, sarif: File
) -> list[tuple[Path, str]]:
    """The reports that were asked for, rendered; none of them was written yet."""
    from memrepo.report.jsonform import json_text, review_as_json

    found = []
    if markdown:
        from memrepo.report.markdown import review_markdown

        found.append((markdown, review_markdown(review)))
    if html:
        from memrepo.report.html import review_html

        found.append((html, review_html(review)))
    if json and str(json) != "-":
        found.append((json, json_text(review_as_json(review))))
    if sarif:
        from memrepo.protocol.catalogue import CATALOGUE
        from memrepo.report.sarif import findings_sarif

        form = findings_sarif(list(review.findings), catalogue=CATALOGUE)
        found.append((sarif, json_text(form)))
    return found


def _vouched(repo: MemoryRepo, review: Review, forge: str | None, remote: str | None) -> Review:
    """The review, with the forge asked about the snapshots that leave for its releases."""
    from memrepo.archive.vouch import needs_word, vouch
    from memrepo.cli.forge_option import forge_for, remote_of

    if not needs_word(review):
        return review
    with forge_for(repo.repository, forge, remote_of(repo.repository, remote)) as where:
        return vouch(review, repo.repository, where)


def _publish(
    repo: MemoryRepo, review: Review, number: int, forge: str | None, remote: str | None
) -> None:
    from memrepo.cli.forge_option import forge_for, remote_of
    from memrepo.publish.publish import publish

    published_on = remote_of(repo.repository, remote)
    with forge_for(repo.repository, forge, published_on) as where:
        done = publish(where, number, review)
    for note in done.notes:
        log(note)
    if done.comment_url:
        log(f"comment {done.operation}: {done.comment_url}")


def _say(review: Review, *, whole: bool) -> None:
    from memrepo.report.phrases import headline
    from memrepo.report.text import diff_text
    from memrepo.settings import wants_colour

    if whole:
        say(diff_text(review.diff, colour=wants_colour(sys.stdout)))
    if review.findings:
        say(findings_for(review.findings, sys.stdout))
    say(f"{review.verdict}: {headline(review.diff)}")
