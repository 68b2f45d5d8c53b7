"""What the unprivileged half of a review hands to the one that may comment.

An artifact of the first half is text by a stranger: anyone can change the workflow that makes
it, in the pull request itself. So it is read in memory, entry by entry, and nothing but two
small JSON files of it is looked at.
"""

from __future__ import annotations

import io
import json
import stat
import zipfile
import zlib
from typing import Any

import msgspec

from memrepo.errors import BadInput
from memrepo.report.jsonform import json_text, review_as_json, review_from_json
from memrepo.report.verdict import Review

REVIEW = "review.json"
PULL_REQUEST = "pull-request.json"
#: For people, who find them in the artifact too. Never read by the second half.
FOR_PEOPLE = ("review.md", "review.html", "memory.sarif")

#: A thousand agents with ten new turns each make some 8 MiB of JSON, and as much of each page.
MOST_PACKED_BYTES = 32 * 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
_PACKED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HINT = "the artifact is not what memory-review.yml uploads; look at its run, and who changed it"

# What zipfile raises for a file that is none, is damaged, or is packed in an unknown way.
_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError)


class Handover(msgspec.Struct, frozen=True):
    """The review of a pull request's head, by a job that may not comment on it."""

    number: int
    head_sha: str
    review: Review


class _PullRequest(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    head_sha: str


def handover_texts(handover: Handover) -> dict[str, str]:
    """The two files that :func:`read_handover` looks for, by name."""
    said = {"number": handover.number, "head_sha": handover.head_sha}
    return {
        REVIEW: json_text(review_as_json(handover.review)),
        PULL_REQUEST: json_text(said),
    }


def read_handover(packed: bytes, *, head_sha: str) -> Handover:
    """The review in an artifact (the bytes of a zip file), for exactly the commit ``head_sha``.

    Raises BadInput for anything else than :func:`handover_texts` makes: another file, a link,
    a folder, an entry twice, too many bytes, a field too many, another commit.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            entries = _checked(archive)
            said = _json(archive, entries[PULL_REQUEST])
            review = _json(archive, entries[REVIEW])
    except _BROKEN as error:
        kind = type(error).__name__
        raise BadInput(f"the artifact is no plain zip file ({kind})", _HINT) from None
    try:
        claim = msgspec.convert(said, _PullRequest)
    except msgspec.ValidationError as error:
        raise BadInput(f"{PULL_REQUEST} in the artifact: {error}", _HINT) from None
    handover = Handover(claim.number, claim.head_sha, review_from_json(review))
    if not 0 < handover.number < 10**9:
        raise BadInput("the artifact names no pull request", _HINT)
    if not handover.head_sha == handover.review.head == head_sha:
        raise BadInput(
            f"the artifact is about another commit than {head_sha}, which the run was for", _HINT
        )
    return handover


def _checked(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        mode = entry.external_attr >> 16
        if entry.filename not in (REVIEW, PULL_REQUEST, *FOR_PEOPLE) or entry.filename in found:
            raise BadInput("the artifact holds a file that does not belong there", _HINT)
        if entry.is_dir() or (stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
            raise BadInput("the artifact holds something that is no plain file", _HINT)
        if entry.flag_bits & 1 or entry.compress_type not in _PACKED_AS:
            raise BadInput("the artifact holds a file that is not packed as usual", _HINT)
        found[entry.filename] = entry
    missing = [name for name in (REVIEW, PULL_REQUEST) if name not in found]
    if missing:
        raise BadInput(f"the artifact has no {' and no '.join(missing)}", _HINT)
    return found


def _json(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    if entry.file_size > MOST_BYTES:
        raise BadInput(
            f"{entry.filename} in the artifact has {entry.file_size:,} bytes;"
            f" {MOST_BYTES:,} is the most",
            _HINT,
        )
    with archive.open(entry) as file:
        # The size in the entry is only a claim.
        data = file.read(MOST_BYTES + 1)
    if len(data) > min(MOST_BYTES, entry.file_size):
        raise BadInput(f"{entry.filename} in the artifact is larger than it says", _HINT)
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise BadInput(f"{entry.filename} in the artifact is no JSON", _HINT) from None
