"""The policy of a memory repo as a value: its limits, lists and severities.

``policyfile.py`` reads it from ``.memrepo/policy.yml``; this module is what the rest
of the package knows of it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

POLICY_PATH = ".memrepo/policy.yml"

#: What a policy may set a finding code to.
Level = Literal["error", "warning", "note", "off"]


class Limits(msgspec.Struct, frozen=True):
    """Numbers above which a file or a change is refused.

    ``context_turns`` in turns, ``file_bytes`` in bytes of one file, ``shrink`` the
    share (0 to 1) of turns and tools that one change may take away.
    """

    context_turns: int = 50
    file_bytes: int = 1_048_576
    shrink: float = 0.5


class History(msgspec.Struct, frozen=True):
    """Where snapshots lie. ``recommend_daily_at`` is a number of snapshots."""

    layout: Literal["flat", "daily"] = "flat"
    recommend_daily_at: int = 5_000


class Text(msgspec.Struct, frozen=True):
    """Thresholds of the text rules.

    ``sensitive_words`` are matched as whole words, case folded. ``allow`` lists exact
    strings that ``secret``, ``personal-data`` and ``encoded-blob`` never report.
    ``encoded_blob_chars`` is a length in characters; ``sentiment`` the negative score
    (0 to 1) above which an assistant turn is reported.
    """

    sensitive_words: tuple[str, ...] = ("password", "token", "ssn")
    allow: tuple[str, ...] = ()
    encoded_blob_chars: int = 256
    sentiment: float = 0.8


class Tools(msgspec.Struct, frozen=True):
    """``deny`` holds tool names or shell globs that no agent may have."""

    deny: tuple[str, ...] = ()


class Archive(msgspec.Struct, frozen=True):
    """When old snapshots leave the tree: both in days, by the time in a snapshot's name.

    Snapshots older than ``older_than_days`` are due; when some are due for more than
    ``overdue_days``, the archive has stopped. ``tag_prefix`` begins a release's tag.
    """

    older_than_days: int = 90
    overdue_days: int = 14
    tag_prefix: str = "history"


class Knowledge(msgspec.Struct, frozen=True):
    """How knowledge branches are merged: ``order`` holds sources, those first; then by name.

    ``rewrite`` moves a merged branch onto the main one; by default it stays as it is.
    """

    order: tuple[str, ...] = ()
    rewrite: bool = False


class Records(msgspec.Struct, frozen=True):
    """Who may back shared records: ``signers`` are lines of :mod:`memrepo.protocol.signers`."""

    signers: tuple[str, ...] = ()


class Policy(msgspec.Struct, frozen=True):
    """The whole policy; ``Policy()`` is the default one."""

    version: int = 1
    limits: Limits = Limits()
    history: History = History()
    text: Text = Text()
    tools: Tools = Tools()
    archive: Archive = Archive()
    knowledge: Knowledge = Knowledge()
    records: Records = Records()
    severity: dict[str, Level] = {}
