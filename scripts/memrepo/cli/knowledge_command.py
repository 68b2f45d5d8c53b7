"""``memrepo knowledge``: what sources give, brought into the main branch by its meaning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memrepo.cli.forge_option import ForgeOption, Remote, forge_for, remote_of
from memrepo.cli.options import AgentId, DryRun, Json, RepoPath, log, log_findings, print_json, say

if TYPE_CHECKING:
    from memrepo.knowledge.outcome import MergeReport
    from memrepo.memory import MemoryRepo

group = typer.Typer(
    help="Knowledge branches: update, compare and merge them.", no_args_is_help=True
)

Into = Annotated[str, typer.Option("--into", metavar="NAME", help="The main branch.")]
Branches = Annotated[
    list[str] | None, typer.Argument(metavar="[BRANCH]...", help="Sources; all without any.")
]
Format = Literal["tools", "openapi", "mcp"]


@group.command("update")
def update(
    source: Annotated[str, typer.Option("--source", help="The branch is knowledge/SOURCE.")],
    agent_id: AgentId,
    from_: Annotated[
        str, typer.Option("--from", metavar="FILE", help="What the source gave; - is stdin.")
    ],
    repo_path: RepoPath = Path(),
    format_: Annotated[
        Format | None, typer.Option("--format", help="What it is (seen from its shape).")
    ] = None,
    message: Annotated[
        str | None, typer.Option("--message", "-m", help="What changed (said from the tools).")
    ] = None,
    revision: Annotated[
        str | None, typer.Option("--revision", help="The source's own revision (a hash of FILE).")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="FILE is the whole list: other tools go too.")
    ] = False,
    into: Into = "main",
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Bring the tools that a source gives to an agent on knowledge/SOURCE.

    What the source brought earlier and no longer gives goes; what others brought stays, unless
    --replace says that FILE is all that there should be.

    One commit when something changed in meaning, none when only order or form did. It is
    pushed where there is a remote; no worktree is touched.

    Example: memrepo knowledge update --source api --agent-id support_v1 --from openapi.yaml
    """
    from memrepo.knowledge.source import read_source
    from memrepo.knowledge.update import update as run_update
    from memrepo.knowledge.updateplan import kept_words, removed_words, tools_json, words_for
    from memrepo.memory import MemoryRepo
    from memrepo.report.escape import for_terminal

    given = read_source(_bytes(from_), format_, "standard input" if from_ == "-" else from_)
    with MemoryRepo(repo_path) as repo:
        done = run_update(
            repo,
            source,
            agent_id,
            given,
            message=message,
            revision=revision,
            remote=remote_of(repo.repository, remote),
            into=into,
            replace=replace,
            dry_run=dry_run,
        )
    log_findings(done.findings)
    for note in done.notes:
        log(note)
    if done.kept:
        log(for_terminal(kept_words(done.kept, source)))
    if json:
        print_json(
            {
                "branch": done.branch,
                "commit": done.commit,
                "changed": done.changed,
                "created": done.created,
                "agent_id": done.agent_id,
                "revision": done.revision,
                "kept": list(done.kept),
                "tools": tools_json(done.diff),
            }
        )
        return
    what = words_for(done.diff, new=False) if done.changed else "nothing changed in meaning"
    say(for_terminal(f"{'would be on' if dry_run else 'on'} {done.branch}: {what}"))
    if gone := removed_words(done.diff):
        say(for_terminal(f"removes: {gone}"))
    if done.changed and not dry_run:
        say(f"commit: {done.commit}")


def _bytes(name: str) -> bytes:
    """The bytes of a file, or of standard input for "-"."""
    import sys

    from memrepo.errors import UsageError

    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}", "name a file, or -") from None


@group.command("status")
def status(
    branches: Branches = None,
    repo_path: RepoPath = Path(),
    into: Into = "main",
    remote: Remote = None,
    json: Json = False,
) -> None:
    """How far each branch is ahead and behind, what merging it would change, and whether it can.

    They are tried one after the other, as merge would; nothing is moved.

    Example: memrepo knowledge status
    """
    from memrepo.knowledge.render import status_lines
    from memrepo.knowledge.status import statuses
    from memrepo.memory import MemoryRepo

    with MemoryRepo(repo_path) as repo:
        rows = statuses(repo, branches or (), into=into, remote=remote_of(repo.repository, remote))
    if json:
        print_json([row.as_json() for row in rows])
        return
    for row in rows:
        for line in status_lines(row):
            say(line)
    if not rows:
        log("there is no knowledge branch; memrepo knowledge update makes one")


@group.command("merge")
def merge(
    branches: Branches = None,
    repo_path: RepoPath = Path(),
    into: Into = "main",
    mode: Annotated[
        Literal["push", "pr", "dry-run"],
        typer.Option("--mode", help="Push, open a pull request, or only say what would be."),
    ] = "push",
    forge: ForgeOption = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> int:
    """Replay the branches' commits onto the main branch, joined by what the files mean.

    The main branch only moves forward. A branch that cannot go in is left out whole (exit 3)
    and the others go on. Where the main branch is checked out and no change of yours is in the
    way, your worktree follows it. --dry-run is --mode dry-run.

    Example: memrepo knowledge merge wiki crm --mode dry-run
    """
    from memrepo.knowledge.render import report_lines
    from memrepo.memory import MemoryRepo

    with MemoryRepo(repo_path) as repo:
        how = "dry-run" if dry_run else mode
        report = _merged(repo, branches or [], into, how, forge, remote)
    for note in report.notes:
        log(note)
    if json:
        print_json(report.as_json())
    else:
        for line in report_lines(report):
            say(line)
    return report.exit_code


def _merged(
    repo: MemoryRepo,
    branches: list[str],
    into: str,
    mode: Literal["push", "pr", "dry-run"],
    forge: str | None,
    remote: str | None,
) -> MergeReport:
    published_on = remote_of(repo.repository, remote)
    if mode != "pr":
        from memrepo.knowledge.merge import merge as run_merge

        return run_merge(repo, branches, into=into, mode=mode, remote=published_on)
    from memrepo.knowledge.proposal import propose_merge

    with forge_for(repo.repository, forge, published_on) as where:
        return propose_merge(repo, where, branches, into=into, remote=published_on)


@group.command("list-conflicts")
def list_conflicts(
    branches: Branches = None,
    repo_path: RepoPath = Path(),
    into: Into = "main",
    remote: Remote = None,
    json: Json = False,
) -> None:
    """Every place where a person must decide, with the three values and who wrote them.

    Example: memrepo knowledge list-conflicts
    """
    from memrepo.knowledge.merge import merge as run_merge
    from memrepo.knowledge.render import branch_lines
    from memrepo.memory import MemoryRepo

    with MemoryRepo(repo_path) as repo:
        published_on = remote_of(repo.repository, remote)
        report = run_merge(repo, branches or [], into=into, mode="dry-run", remote=published_on)
    found = [one for one in report.branches if one.conflicts]
    if json:
        print_json(
            [{"branch": one.branch, **place.as_json()} for one in found for place in one.conflicts]
        )
        return
    for one in found:
        for line in branch_lines(one):
            say(line)
    if not found:
        log("no place waits for a decision")


@group.command("resolve")
def resolve(
    path: Annotated[str, typer.Option("--path", help="The file, such as state/a/tools.json.")],
    pointer: Annotated[str, typer.Option("--pointer", help="The place in it; '' is all of it.")],
    take: Annotated[
        str, typer.Option("--take", metavar="CHOICE", help="ours, theirs, base or value:JSON.")
    ],
    branch: Annotated[
        str, typer.Option("--branch", metavar="NAME", help="The knowledge branch that disagrees.")
    ] = "",
    repo_path: RepoPath = Path(),
    reason: Annotated[str, typer.Option("--reason", help="Why, for whoever reads it later.")] = "",
    into: Into = "main",
    mode: Annotated[
        Literal["push", "pr"],
        typer.Option("--mode", help="Where it is recorded: pushed, or on the pull request."),
    ] = "push",
    forge: ForgeOption = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Record a decision about one place, as a file in .memrepo/resolutions/.

    A later merge that meets the same three values uses it and says so. Ours is what the main
    branch says, theirs the knowledge branch.

    Example: memrepo knowledge resolve --branch wiki --path state/a/tools.json --pointer /refund/description --take theirs
    """  # noqa: E501
    from memrepo.knowledge.resolve import Choice, parse_take
    from memrepo.knowledge.resolve import resolve as run_resolve
    from memrepo.memory import MemoryRepo
    from memrepo.report.escape import for_terminal

    side, value = parse_take(take)
    choice = Choice(path, pointer, side, value, branch, reason)
    with MemoryRepo(repo_path) as repo:
        published_on = remote_of(repo.repository, remote)
        with forge_for(repo.repository, forge, published_on) as where:
            done = run_resolve(
                repo,
                choice,
                into=into,
                mode=mode,
                remote=published_on,
                forge=where if mode == "pr" else None,
                dry_run=dry_run,
            )
    for note in done.notes:
        log(note)
    if json:
        print_json(
            {
                "paths": list(done.paths),
                "branch": done.branch,
                "commit": done.commit,
                "pull_request": done.number,
                "url": done.url,
                "already": done.already,
            }
        )
        return
    words = "would be recorded" if dry_run else "recorded"
    for recorded in done.paths:
        say(for_terminal(f"{'recorded already' if done.already else words}: {recorded}"))
    say(for_terminal(f"branch: {done.branch}"))


@group.command("abort")
def abort(
    repo_path: RepoPath = Path(),
    into: Into = "main",
    forge: ForgeOption = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Take back the merge that waits: its branch goes, and with it its pull request.

    Only what the job made is dropped: with a person's commit on the branch, it stays (exit 3).

    Example: memrepo knowledge abort --dry-run
    """
    from memrepo.knowledge.abort import abort as run_abort
    from memrepo.memory import MemoryRepo
    from memrepo.report.escape import for_terminal

    with MemoryRepo(repo_path) as repo:
        published_on = remote_of(repo.repository, remote)
        with forge_for(repo.repository, forge, published_on) as where:
            done = run_abort(repo, where, into=into, remote=published_on, dry_run=dry_run)
    if json:
        print_json({"branch": done.branch, "commit": done.commit, "pull_request": done.number})
    elif done.branch:
        say(for_terminal(f"{'would be removed' if dry_run else 'removed'}: {done.branch}"))
    else:
        say("no merge waits")
