"""The parts of ``doctor`` that need no repository."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.doctor.catalogue import KINDS
from memrepo.doctor.filesystem import find_mount
from memrepo.errors import BadInput
from memrepo.protocol.block import with_block, with_block_last
from memrepo.protocol.defaults import ATTRIBUTES_BLOCK, default_policy_bytes
from memrepo.protocol.layoutpolicy import with_daily_layout
from memrepo.protocol.policyfile import parse_policy

BLOCK = ATTRIBUTES_BLOCK.encode()
MOUNTS = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 27 0:30 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\134
31 27 0:31 / /mnt/share rw shared:7 - cifs //server/share rw,vers=3.0
32 27 0:32 / /mnt/vm rw - 9p hostshare rw,trans=virtio
33 27 0:33 / /mnt/my\\040drive rw - exfat /dev/sdb1 rw
34 27 0:34 / /mnt/twice rw - vfat /dev/sdc1 rw
35 34 0:35 / /mnt/twice rw - ext4 /dev/sdd1 rw
nonsense
"""


@pytest.mark.parametrize(
    ("path", "folder", "windows"),
    [
        ("/home/me/memory", "/", False),
        ("/mnt/c/memory", "/mnt/c", True),
        ("/mnt/cc/memory", "/", False),
        ("/mnt/share", "/mnt/share", True),
        ("/mnt/vm/memory", "/mnt/vm", False),
        ("/mnt/my drive/memory", "/mnt/my drive", True),
        ("/mnt/twice/memory", "/mnt/twice", False),
    ],
)
def test_the_mount_that_holds_a_path(path: str, folder: str, windows: bool) -> None:
    mount = find_mount(path, MOUNTS)
    assert mount
    assert (mount.folder, mount.from_windows) == (folder, windows)


@given(st.text(max_size=200))
def test_any_mount_table_is_read(text: str) -> None:
    assert find_mount("/memory", text) is None or " - " in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "version: 1\n\nhistory:\n  layout: daily\n"),
        ("", "history:\n  layout: daily\n"),
        ("# mine", "# mine\n\nhistory:\n  layout: daily\n"),
        ("version: 1\n", "version: 1\n\nhistory:\n  layout: daily\n"),
        (
            "history:\n  layout: flat # why\ntools: {}\n",
            "history:\n  layout: daily # why\ntools: {}\n",
        ),
        ("history:\n  layout: 'flat'\n", "history:\n  layout: daily\n"),
        ('history: {"layout": "flat"}\n', 'history: {"layout": daily}\n'),
        ("history: {layout: flat, }\n", "history: {layout: daily, }\n"),
        (
            "history:\n    # few\n    recommend_daily_at: 9\n",
            "history:\n    layout: daily\n    # few\n    recommend_daily_at: 9\n",
        ),
        ("history:\n#  layout: flat\n", "history:\n  layout: daily\n#  layout: flat\n"),
        ("history:\n  layout:\n", "history:\n  layout: daily\n"),
        ("history:\r\n  layout: flat\r\n", "history:\r\n  layout: daily\r\n"),
        ("history:\r\n", "history:\r\n  layout: daily\r\n"),
        ("\ufeffhistory: {layout: flat}\n", "\ufeffhistory: {layout: daily}\n"),
        ("history:\n  layout: daily # ours\n", "history:\n  layout: daily # ours\n"),
        ("history:\n  layout: sideways\n", "history:\n  layout: daily\n"),
    ],
)
def test_one_line_of_the_policy_changes(before: str | None, after: str) -> None:
    edited = with_daily_layout(None if before is None else before.encode())
    assert edited.decode() == after


@pytest.mark.parametrize(
    "text",
    [
        "history: [flat]\n",
        "{version: 1}\n",
        "history: {recommend_daily_at: 9}\n",
        "- a\n",
        "a: *b\n",
    ],
)
def test_a_policy_that_cannot_be_edited_safely_is_left_to_a_person(text: str) -> None:
    with pytest.raises(BadInput):
        with_daily_layout(text.encode())


def test_the_default_policy_keeps_every_comment() -> None:
    before = default_policy_bytes().decode().splitlines()
    after = with_daily_layout(default_policy_bytes()).decode().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [("  layout: flat", "  layout: daily")]


@given(
    st.binary(max_size=120) | st.text("history:layout flat\n#{}'\"-", max_size=60).map(str.encode)
)
def test_any_bytes_become_a_daily_policy_or_are_refused(data: bytes) -> None:
    try:
        edited = with_daily_layout(data)
    except BadInput:
        return
    assert parse_policy(edited)[0].history.layout == "daily"
    assert with_daily_layout(edited) == edited


LINES = st.lists(st.sampled_from([b"*.json binary\n", b"\n", b"# words\n", b"*.png -text\n"]))


@given(LINES, LINES)
def test_the_block_comes_last_once_and_other_lines_stay(
    above: list[bytes], below: list[bytes]
) -> None:
    before = b"".join(above) + BLOCK + b"".join(below)
    after = with_block_last(before, BLOCK, ".gitattributes")
    assert after.count(BLOCK) == 1
    assert after.rstrip().endswith(BLOCK.rstrip())
    kept = [line for line in after.replace(BLOCK, b"").splitlines() if line]
    assert kept == [line for line in b"".join((*above, *below)).splitlines() if line]
    assert with_block_last(after, BLOCK, ".gitattributes") == after
    assert with_block(before, BLOCK, ".gitattributes") == before


@pytest.mark.parametrize("text", [b"# memrepo: begin\n", b"# memrepo: end\n", BLOCK + BLOCK])
def test_marks_that_are_not_one_pair_are_refused(text: bytes) -> None:
    for edit in (with_block, with_block_last):
        with pytest.raises(BadInput, match=r"\.gitattributes, line"):
            edit(text, BLOCK, ".gitattributes")


def test_every_kind_is_named_in_kebab_case_and_says_why() -> None:
    for name, kind in KINDS.items():
        assert name == name.lower().replace("_", "-").replace(" ", "-")
        assert kind.reason.endswith(".")
        assert kind.repair.endswith(".")
