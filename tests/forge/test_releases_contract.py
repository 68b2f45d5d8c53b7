"""Releases: the same tests over the folder and over GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.release_cases import ReleaseCases, drafted, uploaded
from memrepo.errors import BadInput
from memrepo.forge.forge import Forge


@pytest.fixture
def commit() -> str:
    return "c" * 40


class TestReleases(ReleaseCases):
    """Over both forges of ``forge``."""

    def test_drafts_that_differ_may_share_a_tag(
        self, forge: Forge, commit: str, tmp_path: Path
    ) -> None:
        one, two = drafted(forge, commit, body="One"), drafted(forge, commit, body="Two")
        assert one.id != two.id
        first = uploaded(forge, one, tmp_path, b"one")
        second = uploaded(forge, two, tmp_path, b"two")
        assert forge.list_releases() == [forge.get_release(two.id), forge.get_release(one.id)]
        assert forge.get_release(one.id).assets == (first,)
        assert forge.get_release(two.id).assets == (second,)
        forge.delete_release(two)
        assert [release.id for release in forge.list_releases()] == [one.id]

    def test_a_file_that_is_not_what_its_digest_says(
        self, forge: Forge, commit: str, tmp_path: Path
    ) -> None:
        draft = drafted(forge, commit)
        path = tmp_path / "packed"
        path.write_bytes(b"data")
        with pytest.raises(BadInput, match="changed since"):
            forge.upload_asset(draft, path, "week.tar.gz", "a" * 64)
        assert forge.get_release(draft.id).assets == ()
        with pytest.raises(BadInput, match="cannot be read"):
            forge.upload_asset(draft, tmp_path / "missing", "week.tar.gz", "a" * 64)
        uploaded(forge, draft, tmp_path, b"data")
        assert len(forge.get_release(draft.id).assets) == 1

    def test_more_than_a_page_of_releases_and_of_assets(
        self, forge: Forge, commit: str, tmp_path: Path
    ) -> None:
        made = [drafted(forge, commit, f"history-{count}") for count in range(103)]
        names = [f"part-{count:03d}" for count in range(103)]
        for name in names:
            uploaded(forge, made[50], tmp_path, b"data", name)
        found = forge.list_releases()
        assert [release.id for release in found] == [release.id for release in reversed(made)]
        assert [asset.name for asset in found[52].assets] == names
        assert forge.get_release(made[50].id) == found[52]
