"""A folder that is another repository's forge as well: its releases are left alone."""

from __future__ import annotations

from pathlib import Path

from archiving import Place, archive, blobs


def test_the_releases_of_another_repository_are_not_adopted(tmp_path: Path) -> None:
    one, other = Place(tmp_path / "one"), Place(tmp_path / "other")
    first = archive(one.work, one.forge)
    other.work.git("rm", "--quiet", "-r", "history")
    other.work.commit("nothing of the kind")
    other.work.git("push", "--quiet")
    before = blobs(other.remote)
    done = archive(other.work, one.forge)
    assert (done.state, done.archived) == ("nothing", 0)
    assert any(first.release_tag in note and "left alone" in note for note in done.notes)
    assert blobs(other.remote) == before
    assert archive(one.work, one.forge).state == "nothing"
