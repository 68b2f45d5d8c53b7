"""What every forge does alike with releases; each forge's own test file runs these."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from memrepo.errors import UsageError
from memrepo.forge.assets import MOST_NOTES, TOO_MANY_BYTES, save_asset
from memrepo.forge.forge import Forge
from memrepo.forge.releases import Asset, Release

NONE = "0" * 64
NOTES = "What moved:\n\n- 3 snapshots, of `support_v1`\n"
BIG = bytes(range(256)) * 4_000  # four pieces, none like another

BAD_NAMES = (
    *("", ".x", "x.", "a b", "a..b", "a~b", "a(b)", "a/b", "../b", "ü", "a\n", "a:b", "a+b"),
    "x" * 101,
)
BAD_TAGS = (
    *("", "-x", "a b", "a..b", "a//b", "/a", "a/", "a.", "a/.b", "a.lock", "a\n", "ü"),
    "x" * 201,
)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def drafted(forge: Forge, commit: str, tag: str = "history-2026-W31", body: str = NOTES) -> Release:
    return forge.create_release(tag=tag, commit=commit, name=f"Snapshots, {tag}", body=body)


def uploaded(
    forge: Forge, release: Release, folder: Path, data: bytes, name: str = "week.tar.gz"
) -> Asset:
    path = folder / "to-upload"
    path.write_bytes(data)
    return forge.upload_asset(release, path, name, sha256(data))


class ReleaseCases:
    """The cases. A subclass's module has the fixtures ``forge``, and ``commit`` to tag."""

    def test_a_forge_without_releases(self, forge: Forge) -> None:
        assert forge.list_releases() == []
        with pytest.raises(UsageError, match="no release 7"):
            forge.get_release(7)

    def test_from_the_draft_to_the_published_release(
        self, forge: Forge, commit: str, tmp_path: Path
    ) -> None:
        draft = drafted(forge, commit)
        assert (draft.tag, draft.name) == ("history-2026-W31", "Snapshots, history-2026-W31")
        assert draft.body.strip() == NOTES.strip()
        assert (draft.draft, draft.published_at, draft.assets) == (True, None, ())
        assert draft.url
        assert draft.created_at.utcoffset() is not None
        told: list[int] = []
        path = tmp_path / "packed"
        path.write_bytes(BIG)
        week = forge.upload_asset(draft, path, "week.tar.gz", sha256(BIG), progress=told.append)
        assert (week.name, week.size, week.state) == ("week.tar.gz", len(BIG), "uploaded")
        assert week.sha256 == sha256(BIG)
        assert told == sorted(told)
        assert told[-1] == len(BIG)
        sums = uploaded(forge, draft, tmp_path, b"sums\n", "SHA256SUMS")
        assert forge.get_release(draft.id).assets == (sums, week)
        assert b"".join(forge.download_asset(draft, week)) == BIG
        published = forge.publish_release(draft)
        assert not published.draft
        assert published.published_at is not None
        assert (published.id, published.tag, published.assets) == (
            draft.id,
            draft.tag,
            (sums, week),
        )
        assert forge.get_release(draft.id) == published
        assert forge.list_releases() == [published]
        assert b"".join(forge.download_asset(published, sums)) == b"sums\n"

    def test_the_newest_comes_first(self, forge: Forge, commit: str) -> None:
        made = [drafted(forge, commit, f"history-2026-W{week}") for week in (31, 32, 33)]
        assert forge.list_releases() == made[::-1]

    def test_an_equal_draft_is_gone_on_with(
        self, forge: Forge, commit: str, tmp_path: Path
    ) -> None:
        draft = drafted(forge, commit)
        asset = uploaded(forge, draft, tmp_path, b"data")
        again = drafted(forge, commit, body=NOTES.replace("\n", "\r\n"))
        assert (again.id, again.assets) == (draft.id, (asset,))
        assert len(forge.list_releases()) == 1

    def test_a_tag_that_a_release_has_is_refused(self, forge: Forge, commit: str) -> None:
        forge.publish_release(drafted(forge, commit))
        with pytest.raises(UsageError, match="history-2026-W31 exists already") as caught:
            drafted(forge, commit)
        assert "next free tag" in caught.value.hint
        assert len(forge.list_releases()) == 1

    def test_the_same_file_twice_is_once(self, forge: Forge, commit: str, tmp_path: Path) -> None:
        draft = drafted(forge, commit)
        first = uploaded(forge, draft, tmp_path, b"data")
        assert uploaded(forge, draft, tmp_path, b"data") == first
        assert forge.get_release(draft.id).assets == (first,)

    @pytest.mark.parametrize("other", [b"DATA", b"more data"])
    def test_another_file_of_that_name_replaces_it(
        self, forge: Forge, commit: str, tmp_path: Path, other: bytes
    ) -> None:
        draft = drafted(forge, commit)
        first = uploaded(forge, draft, tmp_path, b"data")
        second = uploaded(forge, draft, tmp_path, other)
        assert second.id != first.id
        assert forge.get_release(draft.id).assets == (second,)
        assert b"".join(forge.download_asset(draft, second)) == other
        with pytest.raises(UsageError, match=r"week\.tar\.gz of history-2026-W31"):
            b"".join(forge.download_asset(draft, first))

    def test_an_asset_goes_and_so_does_a_draft(
        self, forge: Forge, commit: str, tmp_path: Path
    ) -> None:
        draft = drafted(forge, commit)
        asset = uploaded(forge, draft, tmp_path, b"data")
        kept = uploaded(forge, draft, tmp_path, b"data", "kept")
        forge.delete_asset(draft, asset)
        forge.delete_asset(draft, asset)
        assert forge.get_release(draft.id).assets == (kept,)
        forge.delete_release(draft)
        forge.delete_release(draft)
        assert forge.list_releases() == []
        with pytest.raises(UsageError, match="no release"):
            uploaded(forge, draft, tmp_path, b"data")
        assert drafted(forge, commit).id != draft.id

    def test_what_is_published_is_never_changed(
        self, forge: Forge, commit: str, tmp_path: Path
    ) -> None:
        draft = drafted(forge, commit)
        asset = uploaded(forge, draft, tmp_path, b"data")
        published = forge.publish_release(draft)
        for stale in (draft, published):
            with pytest.raises(UsageError, match="never changed"):
                uploaded(forge, stale, tmp_path, b"other")
            with pytest.raises(UsageError, match="never changed"):
                uploaded(forge, stale, tmp_path, b"data", "more")
            with pytest.raises(UsageError, match="never changed"):
                forge.delete_asset(stale, asset)
            with pytest.raises(UsageError, match="never changed"):
                forge.delete_release(stale)
            assert forge.publish_release(stale) == published
        assert forge.list_releases() == [published]
        assert b"".join(forge.download_asset(published, asset)) == b"data"

    def test_an_asset_is_saved_whole(self, forge: Forge, commit: str, tmp_path: Path) -> None:
        draft = drafted(forge, commit)
        asset = uploaded(forge, draft, tmp_path, BIG)
        folder = tmp_path / "out"
        folder.mkdir()
        told: list[int] = []
        saved = save_asset(forge, draft, asset, folder / "week.tar.gz", progress=told.append)
        assert saved == sha256(BIG)
        assert (folder / "week.tar.gz").read_bytes() == BIG
        assert [path.name for path in folder.iterdir()] == ["week.tar.gz"]
        assert told[-1] == len(BIG)

    def test_a_name_that_github_would_change_is_refused(
        self, forge: Forge, commit: str, tmp_path: Path
    ) -> None:
        draft = drafted(forge, commit)
        for name in BAD_NAMES:
            with pytest.raises(UsageError, match="another name"):
                uploaded(forge, draft, tmp_path, b"data", name)
        assert forge.get_release(draft.id).assets == ()

    def test_files_that_no_release_takes(self, forge: Forge, commit: str, tmp_path: Path) -> None:
        draft = drafted(forge, commit)
        path = tmp_path / "packed"
        with path.open("wb") as file:
            file.truncate(TOO_MANY_BYTES)
        with pytest.raises(UsageError, match=r"2,147,483,648 bytes.*2 GiB") as caught:
            forge.upload_asset(draft, path, "week.tar.gz", NONE)
        assert "smaller parts" in caught.value.hint
        path.write_bytes(b"")
        with pytest.raises(UsageError, match="empty"):
            forge.upload_asset(draft, path, "week.tar.gz", NONE)
        path.write_bytes(b"data")
        with pytest.raises(UsageError, match="SHA-256"):
            forge.upload_asset(draft, path, "week.tar.gz", "abc")
        assert forge.get_release(draft.id).assets == ()

    def test_a_tag_that_is_none_is_refused(self, forge: Forge, commit: str) -> None:
        for tag in BAD_TAGS:
            with pytest.raises(UsageError, match="tag"):
                drafted(forge, commit, tag)
        assert forge.list_releases() == []

    def test_other_fields_that_no_release_takes(self, forge: Forge, commit: str) -> None:
        for name in ("", "a\nb", "x" * 257):
            with pytest.raises(UsageError, match="one line"):
                forge.create_release(tag="a", commit=commit, name=name, body="")
        with pytest.raises(UsageError, match="125,000"):
            drafted(forge, commit, body="x" * (MOST_NOTES + 1))
        with pytest.raises(UsageError, match="full name of a commit"):
            drafted(forge, "main")
        assert forge.list_releases() == []
