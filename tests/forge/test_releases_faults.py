"""Releases on GitHub's bad days: one release, never two; whole files; nothing half done."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.fake_github import SECONDARY, FakeGithub, Fault, Token
from forge.release_cases import BIG, NOTES, drafted, sha256, uploaded
from memrepo.errors import MemrepoError, PermissionDenied, RemoteFailed, UsageError
from memrepo.forge.assets import ArrivedChanged, digest_of, save_asset
from memrepo.forge.github import GitHubForge
from memrepo.forge.patience import Patience
from memrepo.forge.releases import Asset, Release
from memrepo.forge.rest.transfer import takes_uploads

Connect = Callable[..., GitHubForge]

COMMIT = "c" * 40
CREATE, UPLOAD, PATCH = r"/releases$", r"/releases/\d+/assets\?", r"/releases/\d+$"

# How a write goes wrong, and whether it was done.
WRITES: dict[str, Callable[[str, str], Fault]] = {
    "500": lambda method, path: Fault(method, path, status=500),
    "502": lambda method, path: Fault(method, path, status=502),
    "502, twice": lambda method, path: Fault(method, path, status=502, times=2),
    "502, though it was done": lambda method, path: Fault(method, path, done=True),
    "cut before": lambda method, path: Fault(method, path, "cut"),
    "cut after": lambda method, path: Fault(method, path, "cut_after"),
    "half an answer": lambda method, path: Fault(method, path, "half"),
    "secondary limit": lambda method, path: Fault(method, path, status=403, message=SECONDARY),
    "secondary limit with a time": lambda method, path: Fault(
        method, path, status=403, message=SECONDARY, headers={"Retry-After": "0"}, times=3
    ),
    "429": lambda method, path: Fault(method, path, status=429, message="Too many requests"),
}


@pytest.fixture(params=list(WRITES.values()), ids=list(WRITES))
def fault(request: pytest.FixtureRequest) -> Callable[[str, str], Fault]:
    found: Callable[[str, str], Fault] = request.param
    return found


def one_release(github: FakeGithub) -> dict[str, object]:
    (release,) = github.releases.values()
    return {key: release[key] for key in ("tag_name", "target_commitish", "draft")}


def test_one_draft_whatever_becomes_of_the_answer(
    github: FakeGithub, connect: Connect, fault: Callable[[str, str], Fault]
) -> None:
    struck = fault("POST", CREATE)
    # A write that is lost twice is an error; one that was only refused is patiently sent again.
    twice = struck.times == 2
    github.faults.append(struck)
    if twice:
        with pytest.raises(RemoteFailed, match="failed to create the release history-2026-W31"):
            drafted(connect(), COMMIT)
        assert github.releases == {}
    made = drafted(connect(), COMMIT)
    assert made.id in github.releases
    if struck.done or struck.what in ("cut_after", "half"):
        assert github.sent("POST") == 1
    assert one_release(github) == {
        "tag_name": "history-2026-W31",
        "target_commitish": COMMIT,
        "draft": True,
    }


def test_one_file_whatever_becomes_of_the_answer(
    github: FakeGithub, connect: Connect, fault: Callable[[str, str], Fault], tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    github.faults.append(fault("POST", UPLOAD))
    asset = uploaded(connect(), draft, tmp_path, BIG)
    (kept,) = github.assets.values()
    assert (kept["id"], kept["name"], kept["state"]) == (asset.id, "week.tar.gz", "uploaded")
    assert github.asset_bytes(kept) == BIG
    assert asset.sha256 == sha256(BIG)


def test_one_publishing_whatever_becomes_of_the_answer(
    github: FakeGithub, connect: Connect, fault: Callable[[str, str], Fault]
) -> None:
    draft = drafted(connect(), COMMIT)
    struck = fault("PATCH", PATCH)
    github.faults.append(struck)
    if struck.times == 2:
        with pytest.raises(RemoteFailed, match="failed to publish"):
            connect().publish_release(draft)
        assert github.tags == {}
    published = connect().publish_release(draft)
    assert not published.draft
    assert github.tags == {"history-2026-W31": COMMIT}
    assert connect().list_releases() == [published]
    assert "make_latest" in github.releases[draft.id]


def test_deleting_gets_over_a_fault(
    github: FakeGithub, connect: Connect, fault: Callable[[str, str], Fault], tmp_path: Path
) -> None:
    forge = connect()
    draft = drafted(forge, COMMIT)
    asset = uploaded(forge, draft, tmp_path, b"data")
    for path in ("/assets/", PATCH):
        struck = fault("DELETE", path)
        struck.times = min(struck.times, 1)
        github.faults.append(struck)
    forge.delete_asset(draft, asset)
    forge.delete_release(draft)
    assert (github.assets, github.releases) == ({}, {})


@pytest.mark.parametrize("unseen", [0, 1, 2])
def test_a_draft_that_the_list_does_not_have_yet(
    github: FakeGithub, connect: Connect, unseen: int
) -> None:
    forge = connect()
    drafted(forge, COMMIT, "history-2026-W30")
    github.faults.append(Fault("POST", CREATE, "cut_after"))
    github.after = lambda method, path: _unseen_after(github, method, path, unseen)
    made = drafted(forge, COMMIT)
    assert made == drafted(forge, COMMIT)
    assert sorted(row["tag_name"] for row in github.releases.values()) == [
        "history-2026-W30",
        "history-2026-W31",
    ]


def _unseen_after(github: FakeGithub, method: str, path: str, unseen: int) -> None:
    if method == "POST" and path.endswith("/releases") and github.sent("POST", CREATE) == 2:
        github.unseen = unseen


def test_two_runs_at_once_come_to_one_draft(github: FakeGithub, connect: Connect) -> None:
    def rival(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/releases"):
            github.before = lambda _method, _path: None
            rivals.append(drafted(connect(), COMMIT))

    rivals: list[Release] = []
    github.before = rival
    assert [drafted(connect(), COMMIT)] == rivals
    assert len(github.releases) == 1


def test_a_draft_that_was_filled_is_never_thrown_away(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    first = drafted(connect(), COMMIT)
    github.add_release(first.tag, name=first.name, body=NOTES, target_commitish=COMMIT)
    second = max(github.releases)
    github.add_asset(second, "week.tar.gz", BIG)
    assert drafted(connect(), COMMIT).id == first.id
    assert set(github.releases) == {first.id, second}


@pytest.mark.parametrize("times", [1, 2])
def test_what_a_502_left_is_replaced(
    github: FakeGithub, connect: Connect, tmp_path: Path, times: int
) -> None:
    draft = drafted(connect(), COMMIT)
    github.faults.append(Fault("POST", UPLOAD, status=502, starter=True, times=times))
    asset = uploaded(connect(), draft, tmp_path, BIG)
    assert [row["id"] for row in github.assets.values()] == [asset.id]
    assert github.sent("DELETE", "/assets/") == times


def test_what_an_earlier_run_left_is_replaced(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    github.add_asset(draft.id, "week.tar.gz", b"", "starter")
    with pytest.raises(UsageError, match="not whole"):
        connect().publish_release(draft)
    assert one_release(github)["draft"] is True
    asset = uploaded(connect(), draft, tmp_path, BIG)
    assert [row["id"] for row in github.assets.values()] == [asset.id]
    assert connect().publish_release(draft).assets == (asset,)


def test_an_upload_that_is_cut_in_the_middle(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    github.faults.append(Fault("POST", UPLOAD, "cut_within", times=2))
    told: list[int] = []
    path = tmp_path / "packed"
    path.write_bytes(BIG * 8)
    connect().upload_asset(draft, path, "week.tar.gz", sha256(BIG * 8), progress=told.append)
    assert github.sent("POST", UPLOAD) == 3
    (kept,) = github.assets.values()
    assert github.asset_bytes(kept) == BIG * 8
    assert told[-1] == len(BIG * 8)


def test_an_upload_that_never_works_ends_clearly(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    github.faults.append(Fault("POST", UPLOAD, status=502, times=99))
    with pytest.raises(
        RemoteFailed, match=r"upload week\.tar\.gz to history-2026-W31 \(answered 502"
    ):
        uploaded(connect(), draft, tmp_path, BIG)
    assert github.sent("POST", UPLOAD) == 4
    assert github.assets == {}


def test_a_name_that_is_said_to_be_taken_by_nothing(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    errors = [{"resource": "ReleaseAsset", "code": "already_exists", "field": "name"}]
    taken = Fault("POST", UPLOAD, status=422, message="Validation Failed", errors=[*errors])
    github.faults.append(taken)
    uploaded(connect(), draft, tmp_path, BIG)
    assert github.sent("POST", UPLOAD) == 2
    taken.times = 99
    with pytest.raises(RemoteFailed, match="does not show it"):
        uploaded(connect(), draft, tmp_path, b"other", "other")


def test_the_server_stored_other_bytes(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)

    def spoil(method: str, path: str) -> None:
        if method == "POST" and "/assets" in path:
            for kept in github.assets.values():
                kept["digest"] = "sha256:" + "0" * 64
            github.after = lambda _method, _path: None

    github.after = spoil
    asset = uploaded(connect(), draft, tmp_path, BIG)
    assert github.sent("POST", UPLOAD) == 2
    assert [row["id"] for row in github.assets.values()] == [asset.id]


def test_a_server_that_says_no_digest(github: FakeGithub, connect: Connect, tmp_path: Path) -> None:
    github.digests = False
    draft = drafted(connect(), COMMIT)
    first = uploaded(connect(), draft, tmp_path, b"data")
    assert (first.sha256, first.size, first.state) == ("", 4, "uploaded")
    # Another run cannot know that these bytes are its own, and sends them again.
    second = uploaded(connect(), draft, tmp_path, b"DATA")
    assert second.id != first.id
    assert b"".join(connect().download_asset(draft, second)) == b"DATA"
    # This one has just sent them.
    github.faults.append(Fault("POST", UPLOAD, "cut_after"))
    uploaded(connect(), draft, tmp_path, b"more", "more")
    assert github.sent("POST", r"name=more") == 1


def test_a_slow_server_is_waited_for_only_so_long(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    forge = connect(timeout=1)
    draft = drafted(forge, COMMIT)
    asset = uploaded(forge, draft, tmp_path, BIG)
    github.faults.append(Fault("GET", "/store/", "slow", seconds=1.5))
    assert b"".join(forge.download_asset(draft, asset)) == BIG
    assert len(github.downloads) == 2


DOWNLOADS: dict[str, Fault] = {
    "half, twice": Fault("GET", "/store/", "half", times=2),
    "cut": Fault("GET", "/store/", "cut"),
    "502": Fault("GET", "/store/", status=502),
    "its address grew old": Fault("GET", "/store/", status=403),
    "shorter than it is": Fault("GET", "/store/", "short", times=2),
    "502 of the API": Fault("GET", r"/assets/\d+$", status=502),
    "secondary limit": Fault("GET", r"/assets/\d+$", status=403, message=SECONDARY),
}


@pytest.mark.parametrize("struck", list(DOWNLOADS.values()), ids=list(DOWNLOADS))
@pytest.mark.parametrize("digests", [True, False])
def test_a_download_goes_on_where_it_was_cut(
    github: FakeGithub, connect: Connect, tmp_path: Path, struck: Fault, digests: bool
) -> None:
    github.digests = digests
    draft = drafted(connect(), COMMIT)
    asset = uploaded(connect(), draft, tmp_path, BIG)
    fault = Fault(
        struck.method,
        struck.path,
        struck.what,
        struck.status,
        struck.message,
        times=struck.times,
    )
    github.faults.append(fault)
    assert b"".join(connect().download_asset(draft, asset)) == BIG
    assert fault.times == 0
    if struck.what in ("half", "short"):
        starts = [headers.get("range", "bytes=0-") for headers in github.downloads]
        first = len(BIG) // 2
        assert starts == ["bytes=0-", f"bytes={first}-", f"bytes={first + first // 2}-"]


def test_a_store_that_cannot_begin_in_the_middle(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    asset = uploaded(connect(), draft, tmp_path, BIG)
    github.faults.append(Fault("GET", "/store/", "half"))
    github.faults.append(Fault("GET", "/store/", "whole", skip=1))
    assert b"".join(connect().download_asset(draft, asset)) == BIG


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("GET", "/store/", "half", times=99), "failed to download"),
        (Fault("GET", "/store/", status=502, times=99), "store of files answered 502"),
        (Fault("GET", "/store/", "flip", times=99), "arrived changed"),
    ],
)
def test_a_download_that_never_works_gives_no_last_piece(
    github: FakeGithub, connect: Connect, tmp_path: Path, fault: Fault, words: str
) -> None:
    draft = drafted(connect(), COMMIT)
    asset = uploaded(connect(), draft, tmp_path, BIG)
    github.faults.append(fault)
    came: list[bytes] = []
    with pytest.raises(RemoteFailed, match=words):
        came.extend(connect().download_asset(draft, asset))
    assert len(b"".join(came)) < len(BIG)
    assert len(github.downloads) <= 4
    with pytest.raises(RemoteFailed, match=words):
        save_asset(connect(), draft, asset, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []


def test_what_arrived_changed_is_loaded_anew(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    asset = uploaded(connect(), draft, tmp_path, BIG)
    github.faults.append(Fault("GET", "/store/", "flip", times=2))
    assert save_asset(connect(), draft, asset, tmp_path / "out") == sha256(BIG)
    assert (tmp_path / "out").read_bytes() == BIG


def test_a_file_that_is_longer_than_it_was_is_not_read_on(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    asset = uploaded(connect(), draft, tmp_path, BIG)
    shorter = Asset(asset.id, asset.name, 10, "", "uploaded")
    with pytest.raises(ArrivedChanged, match="longer than its 10 bytes"):
        b"".join(connect().download_asset(draft, shorter))


def test_what_was_never_uploaded_whole_is_not_downloaded(
    github: FakeGithub, connect: Connect
) -> None:
    draft = drafted(connect(), COMMIT)
    github.add_asset(draft.id, "week.tar.gz", b"", "starter")
    now = connect().get_release(draft.id)
    with pytest.raises(RemoteFailed, match="never uploaded whole"):
        connect().download_asset(now, now.assets[0])


def test_the_token_stays_with_github(github: FakeGithub, connect: Connect, tmp_path: Path) -> None:
    draft = drafted(connect(), COMMIT)
    asset = uploaded(connect(), draft, tmp_path, BIG)
    assert b"".join(connect().download_asset(draft, asset)) == BIG
    (headers,) = github.downloads
    assert "authorization" not in headers
    assert headers["accept-encoding"] == "identity"
    assert headers["user-agent"] == "memrepo"


@pytest.mark.parametrize(
    ("url", "api", "takes"),
    [
        ("https://uploads.github.com/repos/a/b", "https://api.github.com", True),
        ("https://api.github.com/repos/a/b", "https://api.github.com", True),
        ("https://ghes.example/api/uploads/repos", "https://ghes.example/api/v3", True),
        ("https://uploads.acme.ghe.com/x", "https://api.acme.ghe.com", True),
        ("https://GHES.example:443/api/uploads", "https://ghes.example/api/v3", True),
        ("http://uploads.github.com/x", "https://api.github.com", False),
        ("https://uploads.github.com.evil.example/x", "https://api.github.com", False),
        ("https://uploads.github.com:8443/x", "https://api.github.com", False),
        ("https://uploads.ghes.example/x", "https://ghes.example/api/v3", False),
        ("https://github.com@evil.example/x", "https://api.github.com", False),
    ],
)
def test_files_go_to_github_alone(url: str, api: str, takes: bool) -> None:
    assert takes_uploads(url, api) is takes


def test_an_answer_that_sends_files_elsewhere(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    draft = drafted(connect(), COMMIT)
    github.releases[draft.id]["upload_url"] = f"{github.store_url}/take{{?name}}"
    with pytest.raises(RemoteFailed, match="points to another server"):
        uploaded(connect(), draft, tmp_path, BIG)
    assert github.downloads == []


def test_a_redirection_without_end(github: FakeGithub, connect: Connect, tmp_path: Path) -> None:
    draft = drafted(connect(), COMMIT)
    asset = uploaded(connect(), draft, tmp_path, BIG)
    place = {"Location": f"{github.store_url}/store/{asset.id}"}
    github.faults.append(Fault("GET", "/store/", status=302, headers=place, times=999))
    with pytest.raises(RemoteFailed, match="redirections without end"):
        b"".join(connect().download_asset(draft, asset))


def test_a_token_that_only_reads_changes_nothing(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    github.tokens["t-fork"] = Token("github-actions[bot]", write=False, app=True)
    draft = drafted(connect(), COMMIT)
    asset = uploaded(connect(), draft, tmp_path, b"data")
    reader = connect("t-fork")
    assert reader.list_releases() == []
    with pytest.raises(PermissionDenied) as caught:
        drafted(reader, COMMIT)
    assert caught.value.exit_code == 5
    assert "contents: write" in caught.value.hint
    tries: list[Callable[[], object]] = [
        lambda: uploaded(reader, draft, tmp_path, b"data", "other"),
        lambda: reader.delete_asset(draft, asset),
        lambda: reader.publish_release(draft),
    ]
    for attempt in tries:
        with pytest.raises(UsageError, match="may not see it"):
            attempt()
    assert (len(github.releases), len(github.assets)) == (1, 1)


@pytest.mark.parametrize("status", [403, 404])
@pytest.mark.parametrize("write", ["create", "upload", "publish"])
def test_a_write_that_is_not_permitted_says_what_it_needs(
    github: FakeGithub, connect: Connect, tmp_path: Path, status: int, write: str
) -> None:
    message = "Resource not accessible by integration" if status == 403 else "Not Found"
    draft = drafted(connect(), COMMIT)
    for method in ("POST", "PATCH"):
        github.faults.append(Fault(method, "/releases", status=status, message=message, times=99))
    tries: dict[str, Callable[[], object]] = {
        "create": lambda: drafted(connect(), COMMIT, "history-2026-W32"),
        "upload": lambda: uploaded(connect(), draft, tmp_path, b"data"),
        "publish": lambda: connect().publish_release(draft),
    }
    with pytest.raises(PermissionDenied) as caught:
        tries[write]()
    assert "contents: write" in caught.value.hint
    assert github.sent("POST") + github.sent("PATCH") == 2  # the draft before, and one try
    assert one_release(github)["draft"] is True
    assert github.assets == {}


def test_a_tag_that_exists_is_not_taken(github: FakeGithub, connect: Connect) -> None:
    github.tags["history-2026-W31"] = "d" * 40
    with pytest.raises(UsageError, match="exists already: it is a tag of"):
        drafted(connect(), COMMIT)
    assert github.releases == {}


def test_a_tag_that_came_to_be_meanwhile(github: FakeGithub, connect: Connect) -> None:
    draft = drafted(connect(), COMMIT)
    github.tags["history-2026-W31"] = "d" * 40
    with pytest.raises(UsageError, match="points at dddddddddddd"):
        connect().publish_release(draft)
    assert one_release(github)["draft"] is True
    # Our own, from a publishing that broke off.
    github.tags["history-2026-W31"] = COMMIT
    assert not connect().publish_release(draft).draft


def test_another_draft_of_the_tag_was_published_first(github: FakeGithub, connect: Connect) -> None:
    one, two = (drafted(connect(), COMMIT, body=body) for body in ("One", "Two"))
    connect().publish_release(one)
    with pytest.raises(UsageError, match="exists already"):
        connect().publish_release(two)
    assert github.releases[two.id]["draft"] is True


def test_a_tag_that_an_immutable_release_once_had(github: FakeGithub, connect: Connect) -> None:
    draft = drafted(connect(), COMMIT)
    github.burned.add("history-2026-W31")
    with pytest.raises(UsageError, match="immutable release") as caught:
        connect().publish_release(draft)
    assert "next free tag" in caught.value.hint
    with pytest.raises(UsageError, match="immutable release"):
        drafted(connect(), COMMIT, body="Other")
    assert len(github.releases) == 1


def test_reading_gets_over_a_fault_on_any_page(github: FakeGithub, connect: Connect) -> None:
    for count in range(250):
        github.add_release(f"history-{count}", draft=count % 2 == 0)
    release = github.add_release("history-250")
    for count in range(250):
        github.add_asset(release["id"], f"part-{count:03d}", b"data")
    for page in (2, 3):
        github.faults.append(Fault("GET", rf"/releases\?.*\bpage={page}", status=502))
        github.faults.append(Fault("GET", rf"/releases/\d+/assets\?.*\bpage={page}", "half"))
    found = connect().list_releases()
    assert [int(one.tag.rpartition("-")[2]) for one in found] == list(range(250, -1, -1))
    assert [asset.name for asset in found[0].assets] == [f"part-{n:03d}" for n in range(250)]
    assert all(fault.times == 0 for fault in github.faults)


def test_a_release_that_is_made_while_the_list_is_read(
    github: FakeGithub, connect: Connect
) -> None:
    for count in range(150):
        github.add_release(f"history-{count}")

    def meanwhile(_method: str, path: str) -> None:
        if path.endswith("/releases") and len(github.log) == 1:
            github.add_release("history-new")

    github.after = meanwhile
    tags = [release.tag for release in connect().list_releases()]
    assert len(tags) == len(set(tags)) == 150


def test_a_repository_that_moved(github: FakeGithub, connect: Connect) -> None:
    draft = drafted(connect(), COMMIT)
    github.old_slug = github.slug
    github.slug = "acme/renamed"
    github.releases[draft.id]["url"] = draft.url.replace("memory", "renamed")
    forge = connect()
    forge._slug = "acme/memory"
    with pytest.raises(MemrepoError, match="has moved"):
        forge.list_releases()


def test_an_answer_of_another_shape_is_a_failure(github: FakeGithub, connect: Connect) -> None:
    draft = drafted(connect(), COMMIT)
    for key, value in (("created_at", "yesterday"), ("assets_url", None), ("tag_name", None)):
        before = dict(github.releases[draft.id])
        github.releases[draft.id].update({key: value})
        if key == "assets_url":
            del github.releases[draft.id]["upload_url"]
        if key == "tag_name":
            del github.releases[draft.id][key]
        with pytest.raises(RemoteFailed, match="answer"):
            connect().get_release(draft.id)
        github.releases[draft.id].clear()
        github.releases[draft.id].update(before)
    assert connect().get_release(draft.id) == draft


def test_a_large_file_takes_no_more_memory_than_a_small_one(
    github: FakeGithub, connect: Connect, tmp_path: Path
) -> None:
    size = 48 << 20
    path = tmp_path / "packed"
    with path.open("wb") as file:
        file.truncate(size)
    forge = connect(patience=Patience(attempts=1))
    draft = drafted(forge, COMMIT)
    digest = digest_of(path)
    tracemalloc.start()
    try:
        asset = forge.upload_asset(draft, path, "week.tar.gz", digest)
        assert sum(len(piece) for piece in forge.download_asset(draft, asset)) == size
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 6 << 20
