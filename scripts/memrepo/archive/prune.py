"""The commit that takes archived snapshots out of the tree and puts their shards in the index.

It removes a path only where the blob is still the one that a published release holds, and
where something newer of the same agent stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memrepo.archive.collect import Newest, listed_snapshots, newest_of_each
from memrepo.archive.proof import Proven, members
from memrepo.archive.values import Stayed
from memrepo.gitrepo.prune import commit_tree, remove_unchanged, with_files
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.report.phrases import count
from memrepo.shards.index import append_lines, index_line, members_bytes, members_path
from memrepo.shards.path import snapshot_at
from memrepo.shards.values import INDEX_PATH

#: On the commits of the archive: the tag of each release whose snapshots they take out.
TRAILER = "Archive-Release"
_WHY = {
    "changed": "it is no longer what was archived",
    "gone": "it is not there any more",
}
_NEWEST = "it is the newest of its agent by now"


class Built(msgspec.Struct, frozen=True):
    """The tree to commit, as its raw id, with the message; what goes, and what stays and why."""

    root: bytes
    message: str
    removed: tuple[str, ...]
    stayed: tuple[Stayed, ...]


def build_prune(
    repo: Repository,
    view: TipView,
    wanted: Mapping[str, str],
    newest: Mapping[str, Newest],
    known: Sequence[Proven],
    indexed: Sequence[Proven] = (),
) -> Built | None:
    """The tree of ``view`` without ``wanted`` (path to blob id) and with ``known`` indexed.

    ``newest`` are the agents' newest snapshots as the plan saw them; where one is gone by
    now, what is the newest of its agent instead stays. ``indexed`` hold some of ``wanted``
    and are in the index already. None where ``view`` is all that already.
    """
    stays = _newest_by_now(repo, view, wanted, newest)
    going = {path: blob for path, blob in wanted.items() if path not in stays}
    pruned = remove_unchanged(repo, view, going)
    root = with_files(repo, pruned.root, _index_files(view, known)) if known else pruned.root
    if root == view.root:
        return None
    stayed = [Stayed(path, _NEWEST) for path in sorted(stays)]
    stayed += [Stayed(path, _WHY[why]) for path, why in pruned.left]
    tags = [proven.release.tag for proven in (*known, *indexed)]
    return Built(root, _message(tags, len(pruned.removed)), pruned.removed, tuple(stayed))


def _newest_by_now(
    repo: Repository, view: TipView, wanted: Mapping[str, str], newest: Mapping[str, Newest]
) -> set[str]:
    """Those of ``wanted`` that are the newest of their agent in ``view``."""
    agents = {named.agent_id for path in wanted if (named := snapshot_at(path))}
    known = {agent: newest[agent] for agent in agents if agent in newest}
    if len(known) < len(agents) or not all(view.exists(one.path) for one in known.values()):
        known = newest_of_each(listed_snapshots(repo, view.commit)) if view.commit else {}
    stays = set()
    for path in wanted:
        named = snapshot_at(path)
        if named and named.agent_id in known and known[named.agent_id].when <= named.when:
            stays.add(path)
    return stays


def _index_files(view: TipView, known: Sequence[Proven]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    lines = []
    for proven in known:
        release = proven.release
        for packed in proven.manifest.shards:
            lines.append(
                index_line(packed, tag=release.tag, commit=proven.manifest.commit, url=release.url)
            )
            files[members_path(release.tag, packed.shard)] = members_bytes(members(packed))
    files[INDEX_PATH] = append_lines(view.read(INDEX_PATH) or b"", lines)
    return files


def _message(tags: Sequence[str], removed: int) -> str:
    to = tags[0] if len(tags) == 1 else f"{tags[0]} and {len(tags) - 1} more"
    trailers = "\n".join(f"{TRAILER}: {tag}" for tag in tags)
    return f"memrepo: archive {count(removed, 'snapshot')} to {to}\n\n{trailers}\n"


def commit_built(repo: Repository, built: Built, parents: Sequence[str]) -> str:
    """A commit of what was built; no ref names it yet."""
    return commit_tree(repo, built.root, list(parents), built.message)
