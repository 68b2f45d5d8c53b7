"""Releases of the local forge: files that people can read, whole whatever happens."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from forge.release_cases import BIG, NOTES, drafted, sha256, uploaded
from memrepo.errors import BadInput, MemrepoError, RemoteFailed, UsageError
from memrepo.forge.assets import ArrivedChanged, digest_of
from memrepo.forge.local import LocalForge
from memrepo.forge.releases import Release

COMMIT = "c" * 40
NOON = datetime(2026, 3, 1, 12, 0, 0, 7, tzinfo=UTC)
WEEK = "releases/0001-history-2026-W31"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory.forge"


@pytest.fixture
def forge(root: Path) -> LocalForge:
    return at(root)


def at(root: Path, told: list[str] | None = None) -> LocalForge:
    return LocalForge(
        root, login="anna", now=lambda: NOON, tell=told.append if told is not None else print
    )


def files_of(root: Path) -> list[str]:
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())


def edit(root: Path, **fields: object) -> None:
    path = root / WEEK / "release.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_files_are_for_people(root: Path, forge: LocalForge, tmp_path: Path) -> None:
    draft = drafted(forge, COMMIT)
    uploaded(forge, draft, tmp_path, b"sums\n", "SHA256SUMS")
    assert files_of(root) == [
        ".lock",
        f"{WEEK}/assets/SHA256SUMS",
        f"{WEEK}/body.md",
        f"{WEEK}/release.json",
    ]
    assert (root / WEEK / "body.md").read_text() == NOTES
    assert (root / WEEK / "assets/SHA256SUMS").read_bytes() == b"sums\n"
    expected = (
        '{\n  "tag": "history-2026-W31",\n  "name": "Snapshots, history-2026-W31",\n'
        f'  "commit": "{COMMIT}",\n  "draft": %s,\n  "author": "anna",\n'
        '  "created_at": "2026-03-01T12:00:00Z",\n  "published_at": %s,\n  "assets": [\n'
        '    {\n      "name": "SHA256SUMS",\n      "size": 5,\n'
        f'      "sha256": "{sha256(b"sums" + bytes([10]))}"\n    }}\n  ]\n}}\n'
    )
    file = root / WEEK / "release.json"
    assert file.read_text() == expected % ("true", "null")
    forge.publish_release(draft)
    assert file.read_text() == expected % ("false", '"2026-03-01T12:00:00Z"')
    assert forge.get_release(1).url == str(root / WEEK)


def test_a_tag_with_a_slash_is_one_folder(root: Path, forge: LocalForge) -> None:
    assert drafted(forge, COMMIT, "history/2026-W31").tag == "history/2026-W31"
    assert (root / WEEK).is_dir()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tag": 1}, r"release\.json: .*tag"),
        ({"created_at": "2026-03-01T12:00:00"}, "timezone"),
        ({"assets": [{"name": "../../x", "size": 1, "sha256": "0" * 64}]}, r"assets\[0\]\.name"),
        ({"assets": [{"name": "x", "size": 0, "sha256": "0" * 64}]}, "size"),
        ({"assets": [{"name": "x", "size": 1, "sha256": "0"}]}, "sha256"),
    ],
)
def test_a_broken_file_is_named_and_holds_up_no_other(
    root: Path, forge: LocalForge, fields: dict[str, object], words: str
) -> None:
    drafted(forge, COMMIT)
    other = drafted(forge, COMMIT, "history-2026-W32")
    edit(root, **fields)
    with pytest.raises(BadInput, match=words) as caught:
        forge.get_release(1)
    assert str(root / WEEK) in caught.value.message
    told: list[str] = []
    assert at(root, told).list_releases() == [other]
    assert told[0].endswith("left out")
    # Nobody knows its tag, so none is given away.
    with pytest.raises(BadInput):
        drafted(forge, COMMIT, "history-2026-W33")
    with pytest.raises(BadInput):
        forge.publish_release(other)


def test_a_file_that_was_lost_or_cut_is_not_whole(
    root: Path, forge: LocalForge, tmp_path: Path
) -> None:
    draft = drafted(forge, COMMIT)
    asset = uploaded(forge, draft, tmp_path, BIG)
    path = root / WEEK / "assets/week.tar.gz"
    for damage in (lambda: path.replace(tmp_path / "away"), lambda: path.write_bytes(BIG[:-1])):
        damage()
        assert [one.state for one in forge.get_release(1).assets] == ["starter"]
        with pytest.raises(RemoteFailed, match="not whole"):
            forge.download_asset(draft, asset)
        with pytest.raises(UsageError, match="not whole"):
            forge.publish_release(draft)
    assert uploaded(forge, draft, tmp_path, BIG) == asset
    assert forge.get_release(1).assets == (asset,)
    assert path.read_bytes() == BIG


def test_other_bytes_of_that_length_are_found_while_they_are_read(
    root: Path, forge: LocalForge, tmp_path: Path
) -> None:
    draft = drafted(forge, COMMIT)
    asset = uploaded(forge, draft, tmp_path, BIG)
    path = root / WEEK / "assets/week.tar.gz"
    path.chmod(0o644)
    path.write_bytes(bytes(len(BIG)))
    came: list[bytes] = []
    with pytest.raises(ArrivedChanged, match="SHA-256"):
        came.extend(forge.download_asset(draft, asset))
    assert len(b"".join(came)) < len(BIG)


def test_no_link_is_followed(root: Path, forge: LocalForge, tmp_path: Path) -> None:
    draft = drafted(forge, COMMIT)
    asset = uploaded(forge, draft, tmp_path, b"data")
    secret = tmp_path / "secret"
    secret.write_bytes(b"DATA")
    path = root / WEEK / "assets/week.tar.gz"
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(RemoteFailed, match="not whole"):
        forge.download_asset(draft, asset)
    uploaded(forge, draft, tmp_path, b"more")
    assert (secret.read_bytes(), path.is_symlink()) == (b"DATA", False)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / WEEK / "assets").rename(tmp_path / "assets")
    (root / WEEK / "assets").symlink_to(elsewhere)
    with pytest.raises(MemrepoError):
        uploaded(forge, draft, tmp_path, b"data", "other")
    assert list(elsewhere.iterdir()) == []


def test_what_fails_while_copying_leaves_what_was_there(
    root: Path, forge: LocalForge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = drafted(forge, COMMIT)
    asset = uploaded(forge, draft, tmp_path, b"data")
    before = files_of(root)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RemoteFailed, match="No space left"):
        uploaded(forge, draft, tmp_path, b"other")
    monkeypatch.undo()
    assert files_of(root) == before
    assert forge.get_release(1).assets == (asset,)
    assert b"".join(forge.download_asset(draft, asset)) == b"data"


def _run(root: Path, packed: Path) -> Release:
    """One run of a job, from nothing or from what a killed run left."""
    forge = at(root)
    done = [release for release in forge.list_releases() if not release.draft]
    if done:
        return done[0]
    draft = drafted(forge, COMMIT)
    other = packed.with_name("other")  # of the same length
    for name in ("week.tar.gz", "wrong"):
        forge.upload_asset(draft, other, name, digest_of(other))
    for asset in forge.get_release(draft.id).assets:
        if asset.name == "wrong":
            forge.delete_asset(draft, asset)
    for name in ("week.tar.gz", "SHA256SUMS"):
        forge.upload_asset(draft, packed, name, digest_of(packed))
    spare = drafted(forge, COMMIT, body="Not wanted")
    forge.upload_asset(spare, packed, "week.tar.gz", digest_of(packed))
    forge.delete_release(spare)
    return forge.publish_release(draft)


# What a killed process leaves differs by these; a folder that is there is not made again.
CALLS = ("open", "rename", "unlink", "rmdir")


def _killed_at(step: int, root: Path, packed: Path) -> None:
    """A run whose process is killed before its ``step``-th call that changes the disk."""
    left = [step]

    def counted(call: Callable[..., object]) -> Callable[..., object]:
        def do(*args: object, **more: object) -> object:
            if call.__name__ != "open" or int(str(args[1])) & os.O_CREAT:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **more)

        return do

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    _run(root, packed)


def test_a_run_that_is_killed_anywhere_is_done_by_the_next(tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(b"data")
    (tmp_path / "other").write_bytes(b"DATA")
    context = multiprocessing.get_context("fork")
    step, killed = 1, True
    while killed:
        root = tmp_path / f"{step}.forge"
        process = context.Process(target=_killed_at, args=(step, root, packed))
        process.start()
        process.join()
        killed = process.exitcode == -signal.SIGKILL
        assert killed or process.exitcode == 0
        for release in at(root).list_releases():
            # Whatever is listed as whole is whole, at each moment.
            for asset in release.assets:
                if asset.state == "uploaded":
                    b"".join(at(root).download_asset(release, asset))
        _run(root, packed)
        (published,) = [one for one in at(root).list_releases() if not one.draft]
        assert [asset.name for asset in published.assets] == ["SHA256SUMS", "week.tar.gz"]
        for asset in published.assets:
            assert b"".join(at(root).download_asset(published, asset)) == b"data"
        # Each write takes away what a killed one had begun.
        for draft in at(root).list_releases():
            if draft.draft:
                at(root).delete_release(draft)
        left = [name for name in files_of(root) if "~" in name and "/.release.json." not in name]
        assert left == []
        step += 1
    assert step > 50


def test_processes_at_once_come_to_one_release(root: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(BIG)
    context = multiprocessing.get_context("fork")
    start = context.Event()
    processes = [
        context.Process(target=_upload_in_turn, args=(root, packed, start)) for _ in range(4)
    ]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    (release,) = at(root).list_releases()
    assert not release.draft
    assert [asset.name for asset in release.assets] == [f"part-{count}" for count in range(5)]
    for asset in release.assets:
        assert b"".join(at(root).download_asset(release, asset)) == BIG
    assert [name for name in files_of(root) if "~" in name] == []


def _upload_in_turn(root: Path, packed: Path, start: Event) -> None:
    start.wait()
    forge = at(root)
    # One that comes late finds it published already.
    try:
        draft = drafted(forge, COMMIT)
        for count in range(5):
            forge.upload_asset(draft, packed, f"part-{count}", digest_of(packed))
    except UsageError:
        draft = forge.list_releases()[0]
        assert not draft.draft
    forge.publish_release(draft)


def test_a_copy_that_is_being_made_is_not_swept_away(
    root: Path, forge: LocalForge, tmp_path: Path
) -> None:
    draft = drafted(forge, COMMIT)
    path = tmp_path / "packed"
    path.write_bytes(BIG)
    others: list[object] = []

    def meanwhile(count: int) -> None:
        if not others:
            others.append(uploaded(at(root), draft, tmp_path, b"other", "other"))

    asset = forge.upload_asset(draft, path, "week.tar.gz", sha256(BIG), progress=meanwhile)
    assert forge.get_release(1).assets == (*others, asset)


def test_a_release_that_is_published_while_a_copy_is_made(
    root: Path, forge: LocalForge, tmp_path: Path
) -> None:
    draft = drafted(forge, COMMIT)
    path = tmp_path / "packed"
    path.write_bytes(BIG)

    def publish(_count: int) -> None:
        at(root).publish_release(draft)

    with pytest.raises(UsageError, match="never changed"):
        forge.upload_asset(draft, path, "week.tar.gz", sha256(BIG), progress=publish)
    assert forge.get_release(1).assets == ()
    assert files_of(root) == [".lock", f"{WEEK}/body.md", f"{WEEK}/release.json"]


def test_a_large_file_takes_no_more_memory_than_a_small_one(
    forge: LocalForge, tmp_path: Path
) -> None:
    size = 48 << 20
    path = tmp_path / "packed"
    with path.open("wb") as file:
        file.truncate(size)
    draft = drafted(forge, COMMIT)
    tracemalloc.start()
    try:
        asset = forge.upload_asset(draft, path, "week.tar.gz", digest_of(path))
        digest = hashlib.sha256()
        for piece in forge.download_asset(draft, asset):
            digest.update(piece)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert digest.hexdigest() == asset.sha256
    assert most < 3 << 20
