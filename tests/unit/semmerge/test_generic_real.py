"""Merges that people really had: the clean ones right, the conflicts at their places."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from memrepo.semmerge.generic import merge_generic


def read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def as_sets(value: Any) -> Any:
    """A value with each of its arrays sorted: the order of entries is not judged here."""
    if isinstance(value, dict):
        return {key: as_sets(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted(map(as_sets, value), key=lambda part: json.dumps(part, sort_keys=True))
    return value


def test_real_merges(data_folder: Path) -> None:
    folders = sorted(p for p in (data_folder / "merges").iterdir() if p.is_dir())
    assert len(folders) >= 3
    for folder in folders:
        base, ours, theirs = (read(folder / f"{s}.json.gz") for s in ("base", "ours", "theirs"))
        expected = json.loads((folder / "expected.json").read_bytes())
        places = [pointer.replace("[", "").replace("]", "") for pointer, _ in expected["conflicts"]]
        orders = ((ours, theirs), (theirs, ours))
        # The other way round is shown on the smaller half of them, which takes no time.
        for left, right in orders if len(ours) < 100_000 else orders[:1]:
            merged = merge_generic("records/causal-graph.json", base, left, right)
            assert sorted(c.pointer for c in merged.conflicts) == sorted(places), folder.name
            if expected["outcome"] == "clean":
                assert merged.data is not None
                wanted = json.loads(read(folder / "merged.json.gz"))
                assert as_sets(json.loads(merged.data)) == as_sets(wanted), folder.name


def test_what_theirs_did_not_touch_keeps_its_lines(data_folder: Path) -> None:
    for folder in sorted((data_folder / "merges").glob("[0-9]*")):
        size = (folder / "base.json.gz").stat().st_size
        if not (folder / "merged.json.gz").exists() or size > 30_000:
            continue
        base, ours, theirs = (read(folder / f"{s}.json.gz") for s in ("base", "ours", "theirs"))
        merged = merge_generic("a.json", base, ours, theirs).data
        assert merged is not None
        # A line of ours is only gone where the base had it too, and theirs changed it; a
        # comma may follow what was the last entry.
        before, mine, after = (
            {line.strip().rstrip(b",") for line in data.splitlines()}
            for data in (base, ours, merged)
        )
        assert all(line in before or b'"updated"' in line for line in mine - after), folder.name
        assert merged.endswith(ours[-4:])
