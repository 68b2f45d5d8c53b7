"""``memrepo archive plan``, ``pack``, ``publish`` and ``pack-publish``: a run step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepo.cli.archive_options import Agents, Before, Branch, OlderThan, TagPrefix, request_of
from memrepo.cli.forge_option import ReleaseForge, Remote, forge_for, remote_of
from memrepo.cli.options import Json, RepoPath, log, print_json, say
from memrepo.errors import UsageError

if TYPE_CHECKING:
    from memrepo.archive.phases import PlanFile
    from memrepo.archive.proof import Proven
    from memrepo.shards.values import Plan


def plan(
    repo_path: RepoPath = Path(),
    older_than: OlderThan = None,
    before: Before = None,
    agent_id: Agents = None,
    branch: Branch = None,
    tag_prefix: TagPrefix = None,
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
) -> None:
    """Say what a run would archive, shard by shard; with --json for jobs that take one each.

    Example: memrepo archive plan --json
    """
    import sys

    from memrepo.archive.phases import plan_archive, plan_file
    from memrepo.archive.summary import plan_lines
    from memrepo.cli.progress import progress
    from memrepo.gitrepo.repository import Repository
    from memrepo.report.escape import for_terminal

    with Repository.open(repo_path) as repo:
        at = remote_of(repo, remote)
        request = request_of(branch, at, older_than, before, agent_id, tag_prefix)
        with forge_for(repo, forge, at) as where, progress() as tell:
            found = plan_archive(repo, where, request, tell)
        if found is None:
            raise UsageError("there is no commit yet, so there is nothing to plan", "commit first")
        prepared, asks = found
        for note in (*prepared.notes, *repo.notes):
            log(for_terminal(note))
    if json:
        sys.stdout.write(plan_file(prepared, asks).decode("utf-8"))
        return
    for line in plan_lines(prepared.plan, len(prepared.due.kept), len(prepared.held())):
        say(for_terminal(line))


def pack(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to pack into.")],
    repo_path: RepoPath = Path(),
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="A plan, from plan --json.")
    ] = None,
    older_than: OlderThan = None,
    before: Before = None,
    agent_id: Agents = None,
    branch: Branch = None,
    tag_prefix: TagPrefix = None,
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
) -> None:
    """Pack what is due into a folder, with its manifest and SHA256SUMS; nothing else changes.

    Example: memrepo archive pack --out build/archive
    """
    from memrepo.archive.phases import bring_plan, pack_archive, plan_archive
    from memrepo.cli.progress import progress
    from memrepo.gitrepo.repository import Repository

    with Repository.open(repo_path) as repo, progress() as tell:
        at = remote_of(repo, remote)
        if plan is not None:
            file, wanted = _read_plan(plan)
            prefix = file.prefix
            bring_plan(repo, wanted, at)
        else:
            request = request_of(branch, at, older_than, before, agent_id, tag_prefix)
            with forge_for(repo, forge, at) as where:
                found = plan_archive(repo, where, request, tell)
            if found is None or not found[0].plan.shards:
                log("nothing is due")
                if json:
                    print_json({"out": str(out), "snapshots": 0, "shards": [], "key": ""})
                return
            wanted, prefix = found[0].plan, found[0].start.prefix
        manifest, sums = pack_archive(repo, wanted, out, prefix, tell)
    if json:
        shards = [
            {"shard": one.shard, "asset": one.asset, "size": one.size, "sha256": one.sha256,
             "tar_sha256": one.tar_sha256, "snapshots": len(one.snapshots)}
            for one in manifest.shards
        ]  # fmt: skip
        answer = {"out": str(out), "snapshots": manifest.snapshots, "shards": shards}
        print_json({**answer, "key": manifest.key})
    else:
        say(sums.decode("ascii"), end="")
        log(f"publish it with memrepo archive publish --from {out}")


def publish(
    source: Annotated[
        Path, typer.Option("--from", metavar="DIR", help="The folder that pack wrote.")
    ],
    repo_path: RepoPath = Path(),
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
) -> None:
    """Publish a packed folder as one release, read back before and after it is sent.

    Example: memrepo archive publish --from build/archive
    """
    from memrepo.archive.phases import publish_folder
    from memrepo.cli.progress import progress
    from memrepo.gitrepo.repository import Repository

    with Repository.open(repo_path) as repo:
        at = remote_of(repo, remote)
        with forge_for(repo, forge, at) as where, progress() as tell:
            proven = publish_folder(where, source, request_of(None, at), tell)
    _tell_published(proven, json=json)


def pack_publish(
    plan: Annotated[Path, typer.Option("--plan", metavar="FILE", help="From plan --json.")],
    shard: Annotated[str, typer.Option("--shard", metavar="NAME", help="Such as 2026-W05.")],
    repo_path: RepoPath = Path(),
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
) -> None:
    """Pack one shard of a plan and publish it as a release of its own, for jobs side by side.

    Example: memrepo archive pack-publish --plan plan.json --shard 2026-W05
    """
    from memrepo.archive.phases import publish_shard
    from memrepo.cli.progress import progress
    from memrepo.gitrepo.repository import Repository

    file, wanted = _read_plan(plan)
    with Repository.open(repo_path) as repo:
        at = remote_of(repo, remote)
        request = request_of(None, at)
        with forge_for(repo, forge, at) as where, progress() as tell:
            proven = publish_shard(repo, where, file, wanted, shard, request, tell)
    _tell_published(proven, json=json)


def _tell_published(proven: Proven, *, json: bool) -> None:
    from memrepo.archive.phases import published_as_json
    from memrepo.report.escape import for_terminal

    if json:
        print_json(published_as_json(proven))
        return
    say(f"release: {for_terminal(proven.release.tag)} {for_terminal(proven.release.url)}")
    say(f"snapshots: {proven.manifest.snapshots:,}")
    log("memrepo archive prune takes them out of the tree")


def _read_plan(path: Path) -> tuple[PlanFile, Plan]:
    from memrepo.archive.phases import read_plan_file

    try:
        return read_plan_file(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
