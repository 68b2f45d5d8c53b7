"""The way back from the archive: ``memrepo archive list``, ``status``, ``verify``, ``restore``
and ``show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepo.cli.forge_option import ReleaseForge, Remote
from memrepo.cli.options import DryRun, Json, RepoPath, log, print_json, say, since_or_until
from memrepo.errors import UnknownRevision, UsageError
from memrepo.report.escape import for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TAG|WEEK|PATH]...",
        help="Releases, weeks (2026-W05), assets, or snapshots by path or name.",
    ),
]
To = Annotated[
    list[str] | None,
    typer.Option(
        "--to", metavar="FOLDER|TIME", help="Write below this folder; a time is one for --until."
    ),
]
Commit = Annotated[
    str, typer.Option("--commit", metavar="REV", help="Read the index as of this revision.")
]


def list(  # the name of the command
    repo_path: RepoPath = Path(), commit: Commit = "HEAD", json: Json = False
) -> None:
    """What the archive holds, release by release. Needs no forge.

    Example: memrepo archive list
    """
    from memrepo.archive.back_render import release_lines
    from memrepo.archive.status import releases_of
    from memrepo.gitrepo.repository import Repository
    from memrepo.history.archived import ArchiveIndex

    with Repository.open(repo_path) as repo:
        view = repo.view(repo.tip() if commit == "HEAD" else repo.resolve(commit))
        found = releases_of(ArchiveIndex(view))
    if json:
        print_json([one.as_json() for one in found])
        return
    for line in release_lines(found):
        say(line)
    if not found:
        log("nothing is archived yet")


def status(repo_path: RepoPath = Path(), commit: Commit = "HEAD", json: Json = False) -> int:
    """How old the archive is and how much is due. Exit 1 when it is overdue by the policy.

    Overdue: a snapshot is due for more than archive.overdue_days, which a weekly archive
    never lets happen. Needs no forge.

    Example: memrepo archive status
    """
    from datetime import UTC, datetime

    from memrepo.archive.back_render import status_text
    from memrepo.archive.status import judged_note, look
    from memrepo.gate.policy import policy_at
    from memrepo.gitrepo.repository import Repository

    now = datetime.now(UTC)
    with Repository.open(repo_path) as repo:
        at = repo.resolve(commit)
        found = look(repo, at, policy_at(repo, at).archive, now=now)
        note = judged_note(repo) if commit == "HEAD" else ""
    if note:
        log(for_terminal(note))
    if json:
        print_json(found.as_json())
    else:
        say(status_text(found, now))
    return 1 if found.overdue else 0


def verify(
    tag: Annotated[
        str | None, typer.Argument(metavar="[TAG]", help="The release (all of them).")
    ] = None,
    all_of_it: Annotated[
        bool, typer.Option("--all", help="Every release; so without TAG.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Download and read every snapshot, too.")
    ] = False,
    repo_path: RepoPath = Path(),
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
) -> int:
    """Ask the forge whether it still has what the index says. Exit 1 when something is wrong.

    Each release published, each asset of the size and SHA-256 that the index and SHA256SUMS
    say; with --deep also every snapshot with its blob id.

    Example: memrepo archive verify history-2026-W05 --deep
    """
    from memrepo.archive.back_render import checked_line
    from memrepo.archive.check import check
    from memrepo.archive.select import lines_of
    from memrepo.cli.progress import progress
    from memrepo.cli.shelves import shelves_for
    from memrepo.gitrepo.repository import Repository
    from memrepo.history.archived import ArchiveIndex

    if tag and all_of_it:
        raise UsageError("TAG and --all are two things", "give one of them")
    rows = []
    with Repository.open(repo_path) as repo:
        index = ArchiveIndex(repo.view(repo.tip()))
        lines = lines_of(index, [tag] if tag else [])
        if lines:
            with shelves_for(repo, forge, remote) as shelves, progress() as tell:
                for row in check(shelves, lines, index, deep=deep, tell=tell):
                    rows.append(row)
                    if not json:
                        say(checked_line(row))
    wrong = sum(bool(row.problems) for row in rows)
    if json:
        print_json([row.as_json() for row in rows])
    elif not rows:
        log("nothing is archived yet")
    elif wrong:
        log(f"{wrong} of {len(rows)} shards are not as the index says")
    return 1 if wrong else 0


def restore(
    what: What = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything in the archive.")] = False,
    agent_id: Annotated[str, typer.Option("--agent-id", help="The snapshots of this agent.")] = "",
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Not older than this time, date or age (2w)."),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Not newer than this.")
    ] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="The same as --since.")
    ] = None,
    to: To = None,
    commit: Annotated[
        bool, typer.Option("--commit", help="As one commit on the current branch.")
    ] = False,
    branch: Annotated[
        str | None, typer.Option("--branch", metavar="NAME", help="As a new branch.")
    ] = None,
    repo_path: RepoPath = Path(),
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Bring archived snapshots back, byte for byte: into a folder, a commit or a branch.

    Every tarball is checked to its last byte before anything is written; nothing that is
    there is replaced, and the archive keeps what it has. What this clone still has in its
    own objects is taken from there, unless --forge is given.

    Example: memrepo archive restore --agent-id support_v1 --since 2025-01-01 --to ./old
    """
    from memrepo.archive.back_render import planned_json, restored_text
    from memrepo.archive.own import is_here
    from memrepo.archive.restore import Target, planned
    from memrepo.archive.restore import restore as bring_back
    from memrepo.archive.select import Wanted, select
    from memrepo.cli.progress import progress
    from memrepo.cli.shelves import shelves_for
    from memrepo.gitrepo.repository import Repository
    from memrepo.history.archived import ArchiveIndex

    folder, ends = _folder_and_time(to or ())
    names = tuple(what or ())
    begins = since_or_until(_one_of(begin, since, "--since", "--from"), "--since")
    if ends is not None and until is not None:
        raise UsageError("--until and a time after --to are one thing", "give one of them")
    ends = ends or since_or_until(until, "--until")
    wanted = Wanted(everything, names, agent_id, begins, ends)
    target = Target(folder, branch)
    _one_place(folder, commit, branch)
    with Repository.open(repo_path) as repo:
        index = ArchiveIndex(repo.view(repo.tip()))
        picked = select(index, wanted)
        if dry_run or not picked:
            meant = planned(index, picked)
            if json:
                print_json(planned_json(meant))
            else:
                for one in meant:
                    say(for_terminal(one.path))
            if not meant:
                log("the archive holds nothing of that")
            return
        with progress() as tell:
            if forge is None and is_here(repo, planned(index, picked)):
                done = bring_back(repo, None, index, picked, target, tell=tell)
            else:
                with shelves_for(repo, forge, remote) as shelves:
                    done = bring_back(repo, shelves, index, picked, target, tell=tell)
        for note in repo.notes:
            log(note)
    if json:
        print_json(done.as_json())
    else:
        say(restored_text(done))


def _one_of(old: str | None, new: str | None, name: str, other: str) -> str | None:
    if old is not None and new is not None:
        raise UsageError(f"{name} and {other} are one thing", "give one of them")
    return old if new is None else new


def _folder_and_time(given: Sequence[str]) -> tuple[Path | None, datetime | None]:
    """``--to`` names a folder and ends a time: what reads as a date or time is one."""
    from memrepo.protocol.timestamps import parse_timestamp

    folders, times = [], []
    for value in given:
        when = parse_timestamp(value) or parse_timestamp(f"{value}T00:00:00Z")
        if when is None:
            folders.append(value)
        else:
            times.append(when)
    if len(folders) > 1 or len(times) > 1:
        raise UsageError(
            "--to is given twice for one thing",
            "it takes one folder and one time; a folder that is called like a date is ./2026-01-01",
        )
    return (Path(folders[0]) if folders else None, times[0] if times else None)


def _one_place(folder: Path | None, commit: bool, branch: str | None) -> None:
    if sum((folder is not None, commit, branch is not None)) != 1:
        raise UsageError(
            "say where the snapshots go, in one way",
            "--to FOLDER writes files, --commit commits on this branch, --branch NAME makes one",
        )


def show(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="The snapshot, by its path or its name.")
    ],
    repo_path: RepoPath = Path(),
    forge: ReleaseForge = None,
    remote: Remote = None,
) -> None:
    """Print one archived snapshot as it is, byte for byte.

    Example: memrepo archive show history/20250301-120000-support_v1.json
    """
    from memrepo.archive.fetch import content_of
    from memrepo.cli.shelves import shelves_for
    from memrepo.gitrepo.repository import Repository
    from memrepo.history.archived import ArchiveIndex

    with Repository.open(repo_path) as repo:
        index = ArchiveIndex(repo.view(repo.tip()))
        found = index.find(path)
        if found is None:
            raise UnknownRevision(
                f"the archive holds no snapshot {path}",
                "memrepo history --agent-id ID lists an agent's snapshots",
            )
        here = repo.reader.find(found.blob)
        if here is not None and here.data is not None:
            data = here.data
        else:
            with shelves_for(repo, forge, remote) as shelves:
                data = content_of(shelves, found, index)
    if sys.stdout.isatty():
        say(for_terminal(data.decode("utf-8", "replace"), one_line=False), end="")
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
