"""What maintenance did and saved, as text and as a value for JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from memrepo.gitrepo.maintain import Store
from memrepo.maintain.maintain import Maintained
from memrepo.report.escape import for_terminal
from memrepo.report.phrases import count, listed, size


def as_json(done: Maintained) -> dict[str, Any]:
    """The public JSON shape of ``maintain --json``; sizes in bytes."""
    return {
        "dry_run": done.dry_run,
        "before": _store(done.before),
        "after": _store(done.after),
        "saved_bytes": done.before.bytes - done.after.bytes,
        "pruned": {
            "objects": done.pruning.total,
            "by_kind": done.pruning.objects,
            "kept_commits": list(done.pruning.kept),
            "why_not": done.pruning.why_not,
        },
    }


def _store(store: Store) -> dict[str, Any]:
    return {**msgspec.structs.asdict(store), "bytes": store.bytes}


def as_text(done: Maintained) -> str:
    """What was done, a line each. No last newline."""
    return "\n".join(map(for_terminal, _lines(done)))


def _lines(done: Maintained) -> Iterator[str]:
    before, after = done.before, done.after
    if done.dry_run:
        yield f"would pack {count(before.loose, 'loose object')} ({size(before.loose_bytes)})"
        yield f"would join what can be joined of {count(before.packs, 'pack')}"
    else:
        loose = f"{before.loose:,} -> {after.loose:,}"
        yield f"loose objects: {loose} ({size(before.loose_bytes)} -> {size(after.loose_bytes)})"
        packs = f"{before.packs:,} -> {after.packs:,}"
        yield f"packs: {packs} ({size(before.pack_bytes)} -> {size(after.pack_bytes)})"
    yield _graph(done)
    yield from _pruned(done)
    if not done.dry_run:
        saved = before.bytes - after.bytes
        what = f"saved {size(saved)}" if saved >= 0 else f"took {size(-saved)} more"
        yield f"{what}: {size(before.bytes)} -> {size(after.bytes)}"


def _graph(done: Maintained) -> str:
    if done.shallow:
        return "commit-graph: none, since this clone is shallow"
    if done.dry_run:
        return "would bring the commit-graph and its changed paths up to date"
    paths = "with" if done.after.filters else "without"
    return f"commit-graph: {size(done.after.graph_bytes)}, {paths} the paths that commits changed"


def _pruned(done: Maintained) -> Iterator[str]:
    pruning = done.pruning
    if pruning.why_not:
        yield f"nothing pruned: {pruning.why_not}"
        return
    kinds = listed(count(number, kind) for kind, number in sorted(pruning.objects.items()))
    verb = "would prune" if done.dry_run else "pruned"
    yield f"{verb}: {kinds or 'nothing'}"
    if done.after.loose and not done.dry_run:
        held = " or held by the commits that are kept" if pruning.kept else ""
        number = count(done.after.loose, "loose object")
        yield f"stay: {number}, unreachable, younger than two weeks{held}"
    if pruning.kept:
        first = ", ".join(commit[:12] for commit in pruning.kept[:3])
        commits = count(len(pruning.kept), "lost commit")
        yield f"kept {commits} with files that are nowhere else: {first}"
