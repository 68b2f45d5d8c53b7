"""An index that is no plain file: said by everyone who reads it, replaced by nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from archiving import Place, archive, blobs
from commandline import memrepo, memrepo_process
from memrepo.errors import BadInput

INDEX = ".memrepo/archive/index.jsonl"


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_it_stops_the_archive_with_words(tmp_path: Path, kind: str) -> None:
    place = Place(tmp_path)
    index = place.work.path / INDEX
    if kind == "folder":
        place.work.write(f"{INDEX}/x", "x")
    else:
        index.parent.mkdir(parents=True, exist_ok=True)
        index.symlink_to("../policy.yml")
    place.work.commit("a mistake")
    place.work.git("push", "--quiet")
    before = blobs(place.remote)
    with pytest.raises(BadInput, match="no plain file"):
        archive(place.work, place.forge)
    assert blobs(place.remote) == before
    listed = memrepo_process(place.work.path, "archive", "list")
    assert (listed.code, listed.out) == (2, "")
    assert "no plain file" in listed.err
    judged = memrepo(place.work, "validate", "--all", "--json").json
    assert ("archive-index", INDEX) in {(one["code"], one["path"]) for one in judged}
