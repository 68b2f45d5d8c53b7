"""A review as JSON, and back: how one process hands a review to another.

The reader takes nothing on trust, since in the two-step review of a fork the JSON comes
from a job that ran on untrusted content.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from memrepo.errors import BadInput
from memrepo.protocol.findings import Finding
from memrepo.report.escape import visible
from memrepo.report.verdict import Review
from memrepo.semdiff.asjson import diff_as_json, diff_from_json

_COMMIT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    verdict: str
    base: str
    head: str
    base_name: str
    head_name: str
    findings: list[dict[str, Any]]
    diff: dict[str, Any]


class _Finding(Finding, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same fields, and no other."""


def review_as_json(review: Review) -> dict[str, Any]:
    """The public JSON shape: ``{verdict, base, head, base_name, head_name, findings, diff}``."""
    return {
        "verdict": review.verdict,
        "base": review.base,
        "head": review.head,
        "base_name": review.base_name,
        "head_name": review.head_name,
        "findings": [finding.as_json() for finding in review.findings],
        "diff": diff_as_json(review.diff),
    }


def review_from_json(value: Any) -> Review:
    """The review that :func:`review_as_json` wrote.

    Raises :class:`BadInput` for anything else: a missing, unknown or mistyped field, a
    commit id that is none.
    """
    try:
        envelope = msgspec.convert(value, _Envelope)
        findings = tuple(
            Finding(**msgspec.structs.asdict(msgspec.convert(item, _Finding)))
            for item in envelope.findings
        )
        review = msgspec.convert(
            {
                "base": _commit_id(envelope.base, "base"),
                "head": _commit_id(envelope.head, "head"),
                "base_name": envelope.base_name,
                "head_name": envelope.head_name,
                "verdict": envelope.verdict,
            },
            Review,
        )
    except msgspec.ValidationError as error:
        raise BadInput(
            f"not a review: {error}", "Write the file with `memrepo review --json`."
        ) from error
    return msgspec.structs.replace(review, findings=findings, diff=diff_from_json(envelope.diff))


def _commit_id(text: str, name: str) -> str:
    if not _COMMIT_ID.fullmatch(text):
        raise msgspec.ValidationError(f"`{name}` is no commit id (40 or 64 hex digits)")
    return text


def json_text(value: Any) -> str:
    """``value`` as indented JSON with a final newline, which UTF-8 can always encode."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # A byte of a path that is no UTF-8. Escaped as a lone surrogate, strict readers refuse all.
    return re.sub("[\ud800-\udfff]", lambda found: visible(found.group()), text) + "\n"
