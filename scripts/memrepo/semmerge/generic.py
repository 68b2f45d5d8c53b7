"""Three-way merge of any file that is not one of the protocol's own.

JSON and YAML by meaning, JSON Lines by line identity, everything else by Git's own line
merge, which the caller hands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memrepo.semmerge.lines import LineMerge
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.values import Labels, Merged, Resolution

Format = Literal["json", "jsonl", "yaml", "text"]

_ENDINGS: dict[str, Format] = {
    ".json": "json",
    ".geojson": "json",
    ".webmanifest": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".yml": "yaml",
    ".yaml": "yaml",
}


def format_of(path: str) -> Format:
    """How a file of this name is read."""
    name = path.rpartition("/")[2].lower()
    return _ENDINGS.get("." + name.rpartition(".")[2], "text") if "." in name else "text"


def merge_generic(
    path: str,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    labels: Labels | None = None,
    resolutions: Sequence[Resolution] = (),
    *,
    line_merge: LineMerge | None = None,
) -> Merged:
    """Join what both sides did to the file ``path``; ``base`` is None where it is new on both.

    The bytes of ours stay wherever ours and the result mean the same: indent, order of
    keys, spelling of numbers, comments. Without ``line_merge`` a text that both sides
    changed is a conflict. Never raises, whatever the bytes.
    """
    merging = Merging(path, labels, resolutions)
    if ours == theirs or theirs == base:
        return merging.done(ours)
    if ours == base:
        return merging.done(theirs)
    kind = format_of(path)
    if kind == "text":
        return _text(merging, base, ours, theirs, line_merge)
    if kind != "jsonl" and base is not None and not base.strip():
        base = None  # Git gives an empty base where both sides add a file
    from memrepo.semmerge.generic_structured import merge_structured

    return merge_structured(merging, kind, base, ours, theirs, line_merge)


def _text(
    merging: Merging,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    line_merge: LineMerge | None,
) -> Merged:
    sides = (base or b"", ours, theirs)
    names = f"{merging.labels.ours} and {merging.labels.theirs}"
    if any(b"\0" in side[:8000] for side in sides):  # what Git takes for binary
        message = f"{names} hold different binary data"
        return merging.done(merging.clash_whole("text", message, base, ours, theirs))
    joined = line_merge(*sides) if line_merge else None
    if joined is not None:
        return merging.done(joined)
    message = f"{names} changed the same lines"
    return merging.done(merging.clash_whole("text", message, base, ours, theirs))
