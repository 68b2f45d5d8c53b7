"""A run of the archive in words: a release's text, and the summary of a run. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from memrepo.archive.adopt import marker
from memrepo.archive.values import ArchiveOutcome, Moved, Sizes, Week
from memrepo.protocol.timestamps import iso
from memrepo.report.escape import code_markdown, for_markdown
from memrepo.report.phrases import count, listed, size
from memrepo.shards.values import Plan, Shard

_MOST_ROWS = 60
_MOST_LISTED = 20
_MOST_NAMED = 8


def release_body(plan: Plan, tag: str) -> str:
    """The text of a release: what it holds, what proves it, and how to get it back."""
    total = sum(len(shard.snapshots) for shard in plan.shards)
    rows = [
        f"| {shard.name} | {len(shard.snapshots):,} | {size(_bytes(shard))} |"
        for shard in plan.shards[:_MOST_ROWS]
    ]
    if len(plan.shards) > _MOST_ROWS:
        rows.append(f"| and {len(plan.shards) - _MOST_ROWS:,} more | | |")
    what = count(total, "snapshot")
    where = f"`history/` at {code_markdown(plan.commit[:12])}"
    lines = [
        marker(plan.key),
        f"{what} of agent memory from before {iso(plan.before)}, from {where}.",
        "",
        "| week | snapshots | bytes |",
        "|---|---:|---:|",
        *rows,
        "",
        *_get_back(tag),
        "",
        "`SHA256SUMS` covers every file; `manifest.json` lists each snapshot.",
    ]
    return "\n".join(lines) + "\n"


def _tags(outcome: ArchiveOutcome) -> tuple[str, ...]:
    """Every release that the outcome stands on, in the order of its shards."""
    return tuple(dict.fromkeys(one.tag for one in outcome.shards if one.tag))


def _get_back(*tags: str) -> list[str]:
    return [
        "Get it back:",
        "",
        "```sh",
        f"memrepo archive restore {' '.join(tags)} --to DIR",
        "```",
        "",
        "Or by hand: download the files, then `sha256sum -c SHA256SUMS` and `tar -xzf` each.",
    ]


def render_summary(outcome: ArchiveOutcome) -> str:
    """What a run did, as Markdown: for the job's page and as a pull request's text."""
    lines = [f"### {headline(outcome)}", ""]
    if outcome.shards:
        lines += [*_shard_table(outcome.shards), ""]
    if outcome.archived or outcome.shards:
        lines += [*_size_table(outcome), ""]
    if outcome.release_tag and outcome.shards:
        lines += [*_get_back(*_tags(outcome)), ""]
    if outcome.sha256:
        lines += [f"SHA-256 of its `SHA256SUMS`: {code_markdown(outcome.sha256)}", ""]
    if any(week.going for week in outcome.weeks):
        lines += [*_chart(outcome.weeks), ""]
    if outcome.stayed:
        lines += [*_stayed(outcome), ""]
    lines += [f"> {for_markdown(note)}" for note in outcome.notes]
    return "\n".join(lines).strip() + "\n"


def headline(outcome: ArchiveOutcome) -> str:
    """What a run came to, in one line (Markdown-safe, with no markup of its own)."""
    what = count(outcome.archived, "snapshot")
    where = f" ({_named(_tags(outcome) or [outcome.release_tag])})" if outcome.release_tag else ""
    shards = f" in {count(len(outcome.shards), 'shard')}" if outcome.shards else ""
    return {
        "nothing": f"Archive: nothing to do, no snapshot from before {outcome.before} is due",
        "planned": f"Archive: {what} would go{shards}",
        "published": f"Archive: {what} published{where}, and still in history/",
        "pruned": f"Archive: {what} moved out of history/{where}",
        "proposed": f"Archive: {what} leave history/ once this is merged{where}",
    }[outcome.state]


def _named(tags: Sequence[str]) -> str:
    more = len(tags) - _MOST_NAMED
    return listed([*tags[:_MOST_NAMED], f"{more:,} more"] if more > 0 else tags)


def outcome_lines(outcome: ArchiveOutcome) -> Iterator[str]:
    """What a run did, for a terminal (untrusted text not yet made safe)."""
    yield headline(outcome)
    for one in _by_week(outcome.shards):
        packed = f", {size(one.size)} packed" if one.size else ""
        yield f"  {one.shard}  {count(one.snapshots, 'snapshot')}, {size(one.bytes)}{packed}"
    for url in _urls(outcome):
        yield f"release: {url}"
    if outcome.pruned_commit:
        yield f"commit: {outcome.pruned_commit[:12]}"
    if outcome.pull_request:
        yield f"pull request: #{outcome.pull_request} {outcome.pull_request_url}"
    if outcome.archived:
        before, after = outcome.sizes_before, outcome.sizes_after
        yield (
            f"history/: {before.snapshots:,} to {count(after.snapshots, 'snapshot')},"
            f" {_tree_bytes(before)} to {_tree_bytes(after)}"
        )
    for stayed in outcome.stayed[:_MOST_LISTED]:
        yield f"stays: {stayed.path}: {stayed.why}"
    if len(outcome.stayed) > _MOST_LISTED:
        yield f"and {len(outcome.stayed) - _MOST_LISTED:,} more stay"


def _by_week(shards: Sequence[Moved]) -> Iterable[Moved]:
    """The shards, those of one name in several releases as one."""
    found: dict[str, Moved] = {}
    for one in shards:
        if (first := found.get(one.shard)) is not None:
            one = msgspec.structs.replace(
                first,
                snapshots=first.snapshots + one.snapshots,
                bytes=first.bytes + one.bytes,
                size=first.size + one.size,
            )
        found[one.shard] = one
    return found.values()


def _urls(outcome: ArchiveOutcome) -> Iterable[str]:
    """Where the releases are that the outcome stands on, each once."""
    several = dict.fromkeys(one.url for one in outcome.shards if one.url)
    return several or ([outcome.release_url] if outcome.release_url else [])


def plan_lines(plan: Plan, kept: int, held: int) -> Iterator[str]:
    """A plan for a terminal: one line a shard, then what stays (text not yet made safe)."""
    for shard in plan.shards:
        bytes_of_it = size(_bytes(shard))
        yield f"{shard.name}  {count(len(shard.snapshots), 'snapshot')}, {bytes_of_it}"
    total = sum(len(shard.snapshots) for shard in plan.shards)
    shards = count(len(plan.shards), "shard")
    yield f"{count(total, 'snapshot')} from before {iso(plan.before)} in {shards}"
    if kept:
        yield f"{count(kept, 'snapshot')} as old stay, being the newest of their agent"
    if held:
        yield f"{count(held, 'snapshot')} are in a release already and only leave the tree"
    for one in plan.left:
        yield f"stays: {one.path}: {one.why}"


def _shard_table(shards: Sequence[Moved]) -> list[str]:
    rows = [
        f"| {code_markdown(one.asset)} | {_release(one)} | {one.snapshots:,} |"
        f" {size(one.bytes)} | {size(one.size) if one.size else '–'} |"
        for one in shards[:_MOST_ROWS]
    ]
    if len(shards) > _MOST_ROWS:
        rows.append(f"| and {len(shards) - _MOST_ROWS:,} more | | | | |")
    return ["| shard | release | snapshots | in the tree | as asset |", "|---|---|---:|---:|---:|",
            *rows]  # fmt: skip


def _release(one: Moved) -> str:
    name = code_markdown(one.tag) if one.tag else "–"
    url = one.url.replace("(", "%28").replace(")", "%29").replace("|", "%7C")
    safe = url.startswith(("https://", "http://")) and not any(
        c.isspace() or c in "<>" for c in url
    )
    return f"[{name}]({url})" if safe else name


def _size_table(outcome: ArchiveOutcome) -> list[str]:
    before, after = outcome.sizes_before, outcome.sizes_after
    return [
        "| history/ | snapshots | bytes |",
        "|---|---:|---:|",
        f"| before | {before.snapshots:,} | {_tree_bytes(before)} |",
        f"| after | {after.snapshots:,} | {_tree_bytes(after)} |",
        "",
        "The tree, each later commit and a shallow or blobless clone become smaller by that.",
        "The pack of a full clone does not: old commits still name these files.",
    ]


def _tree_bytes(sizes: Sizes) -> str:
    return size(sizes.bytes) if sizes.bytes >= 0 else "unknown in this clone"


def _chart(weeks: Sequence[Week]) -> list[str]:
    """The history by week as a chart: bars are what stays, the line is all there was."""
    shown = _in_bins(weeks)
    names = ", ".join(f'"{name}"' for name, _, _ in shown)
    stays = ", ".join(str(there - going) for _, there, going in shown)
    there = ", ".join(str(there) for _, there, _ in shown)
    return [
        "```mermaid",
        "xychart-beta",
        '    title "Snapshots in history/ by week: bars stay, the line is before"',
        f"    x-axis [{names}]",
        '    y-axis "snapshots"',
        f"    bar [{stays}]",
        f"    line [{there}]",
        "```",
    ]


def _in_bins(weeks: Sequence[Week]) -> list[tuple[str, int, int]]:
    """At most 26 columns: several weeks of a long history share one."""
    width = -(-len(weeks) // 26)
    return [
        (
            some[0].week,
            sum(week.snapshots for week in some),
            sum(week.going for week in some),
        )
        for start in range(0, len(weeks), width)
        if (some := weeks[start : start + width])
    ]


def _stayed(outcome: ArchiveOutcome) -> list[str]:
    lines = [f"{count(len(outcome.stayed), 'path')} that were due stay:", ""]
    lines += [
        f"- {code_markdown(one.path)}: {for_markdown(one.why)}"
        for one in outcome.stayed[:_MOST_LISTED]
    ]
    if len(outcome.stayed) > _MOST_LISTED:
        lines.append(f"- and {len(outcome.stayed) - _MOST_LISTED:,} more")
    return lines


def _bytes(shard: Shard) -> int:
    return sum(one.size for one in shard.snapshots)
