"""``memrepo records``: the experience that agents share, written, found and ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepo.cli.options import (
    DryRun,
    FailOn,
    Json,
    RepoPath,
    findings_for,
    log,
    log_findings,
    print_json,
    say,
    stops,
)
from memrepo.cli.record_options import (
    Agent,
    Branch,
    Code,
    Model,
    Org,
    Project,
    Push,
    RemoteName,
    ScopeOption,
    SigningKey,
    TrustOption,
    Where,
    seconds,
    store_at,
)
from memrepo.cli.records_reading import Kind, list_, read, search

if TYPE_CHECKING:
    from memrepo.records.values import Written

group = typer.Typer(
    help="Shared records: what agents, people and CI jobs found out.", no_args_is_help=True
)


@group.command("write")
def write(
    key: Annotated[str, typer.Option("--key", help="The conclusion's name: small-words.")],
    summary: Annotated[str, typer.Option("--summary", help="The conclusion itself.")],
    repo_path: RepoPath = Path(),
    org: Org = None,
    repo: Project = None,
    branch: Branch = None,
    scope: ScopeOption = None,
    agent: Agent = None,
    model: Model = "",
    trust: TrustOption = "session",
    signing_key: SigningKey = None,
    kind: Kind = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", help="How sure, from 0 to 1.")
    ] = None,
    ttl: Annotated[
        str | None, typer.Option("--ttl", metavar="SPAN", help="How long it holds: 3600, 12h, 7d.")
    ] = None,
    code_ref: Annotated[
        list[str] | None,
        typer.Option("--code-ref", metavar="PATH:LINE", help="Code it is about; many times."),
    ] = None,
    code: Code = None,
    details: Annotated[str | None, typer.Option("--details", help="What else is known.")] = None,
    reason: Annotated[
        str, typer.Option("--reason", help="The evidence: a test, a run's address, a person.")
    ] = "",
    expect: Annotated[
        str | None,
        typer.Option("--expect", metavar="ID|none", help="Only if this is the active record."),
    ] = None,
    push: Push = False,
    remote: RemoteName = "origin",
    json: Json = False,
    dry_run: DryRun = False,
) -> int:
    """Write a conclusion. It supersedes the active one of its key; prints its id.

    Example: memrepo records write --org acme --repo web --key pool-size --summary "Use 20."
    """
    from memrepo.records.values import New

    where = Where(org, repo, branch, scope, agent, code)
    opened = store_at(
        repo_path,
        where,
        model=model,
        trust=trust,
        signing_key=signing_key,
        remote=remote,
        writes=True,
    )
    new = New(
        key,
        summary,
        kind=kind,
        confidence=confidence,
        ttl_seconds=seconds(ttl),
        code_refs=tuple(code_ref or ()),
        details=details,
        reason=reason,
        expect=expect,
    )
    with opened as store:
        return _said(store.write(new, push=push, dry_run=dry_run), json=json, dry_run=dry_run)


group.command("read")(read)
group.command("list")(list_)
group.command("search")(search)


@group.command("archive")
def archive(
    record_id: Annotated[str, typer.Argument(metavar="ID", help="The record.")],
    reason: Annotated[str, typer.Option("--reason", help="Why it no longer holds.")],
    repo_path: RepoPath = Path(),
    org: Org = None,
    repo: Project = None,
    branch: Branch = None,
    scope: ScopeOption = None,
    agent: Agent = None,
    model: Model = "",
    trust: TrustOption = "session",
    signing_key: SigningKey = None,
    push: Push = False,
    remote: RemoteName = "origin",
    json: Json = False,
    dry_run: DryRun = False,
) -> int:
    """Take a record out of the active set; it stays, with its reason.

    Example: memrepo records archive mem_01ARZ3NDEKTSV4RRFFQ69G5FAV --org acme --reason wrong
    """
    where = Where(org, repo, branch, scope, agent)
    opened = store_at(
        repo_path,
        where,
        model=model,
        trust=trust,
        signing_key=signing_key,
        remote=remote,
        writes=True,
    )
    with opened as store:
        done = store.archive(record_id, reason, push=push, dry_run=dry_run)
    return _said(done, json=json, dry_run=dry_run)


@group.command("sweep")
def sweep(
    repo_path: RepoPath = Path(),
    push: Push = False,
    remote: RemoteName = "origin",
    json: Json = False,
    dry_run: DryRun = False,
) -> int:
    """Archive every record that is past its end, of all addresses, in one commit.

    Example: memrepo records sweep --push
    """
    with store_at(repo_path, _ALL, remote=remote, writes=True) as store:
        done = store.sweep(push=push, dry_run=dry_run)
    for note in done.notes:
        log(note)
    if json:
        print_json(done.as_json())
    else:
        verb = "would be archived" if dry_run else "archived"
        say(f"{verb}: {len(done.archived):,}")
    return _after_push(done.push_failed, done.push_exit)


@group.command("verify")
def verify(
    repo_path: RepoPath = Path(),
    org: Org = None,
    repo: Project = None,
    code: Code = None,
    fail_on: FailOn = "error",
    json: Json = False,
) -> int:
    """Check all records: files, limits, signatures, chains; with --code, what they cite.

    Example: memrepo records verify
    """
    import sys

    where = Where(org, repo, code=code) if code or org else _ALL
    with store_at(repo_path, where) as store:
        findings = store.verify()
    if json:
        print_json([finding.as_json() for finding in findings])
    elif findings:
        say(findings_for(findings, sys.stdout), end="")
    else:
        say("all records are in order")
    return 1 if stops(findings, fail_on) else 0


#: For what concerns the records of all addresses alike.
_ALL = Where(org="all")


def _said(done: Written, *, json: bool, dry_run: bool) -> int:
    from memrepo.records.render import changed_line
    from memrepo.report.escape import for_terminal

    log_findings(done.findings)
    for note in (*done.answer.notes, *done.notes):
        log(for_terminal(note))
    if json:
        print_json(done.as_json())
    elif dry_run:
        say(changed_line(done))
    else:
        say(done.answer.record.id)
    return _after_push(done.push_failed, done.push_exit)


def _after_push(failed: str, code: int) -> int:
    from memrepo.report.escape import for_terminal

    if failed:
        log(f"memrepo: {for_terminal(failed)}")
        log("  it is committed here, and goes out with the next push")
    return code
