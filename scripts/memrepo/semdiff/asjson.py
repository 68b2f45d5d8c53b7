"""The semantic diff as the JSON that other programs read, and back."""

from __future__ import annotations

from typing import Any

import msgspec

from memrepo.errors import BadInput
from memrepo.semdiff.change import Diff


def diff_as_json(diff: Diff) -> dict[str, Any]:
    """The public shape: ``{"agents": [...], "snapshots": {...}, "other": [...]}``, and
    ``"records": [...]`` where the change touches any.

    Plain dictionaries, lists, strings and numbers, with the field names of
    :mod:`memrepo.semdiff.change` (``cls`` is called ``class``). In a changed turn, fields
    without a value are left out.
    """
    value: dict[str, Any] = _with_lists(msgspec.to_builtins(diff))
    for rare in ("moved", "archived"):
        # Only a change that turns the layout, or one of the archive, has it.
        if not value["snapshots"][rare]:
            del value["snapshots"][rare]
    for file in value["other"]:
        # Of a rollout alone.
        if not file["words"]:
            del file["words"]
    if not value["records"]:
        del value["records"]
    return value


def _with_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_lists(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_lists(inner) for inner in value]
    return value


def diff_from_json(value: object) -> Diff:
    """The diff that :func:`diff_as_json` gave, read strictly.

    Raises :class:`BadInput` where a field is unknown, missing or of another type; the
    message says which.
    """
    try:
        return msgspec.convert(value, Diff)
    except (msgspec.ValidationError, RecursionError) as error:
        # The message may quote a field's name, which is anybody's text.
        reason = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(error)[:200])
        raise BadInput(
            f"This is no semantic diff: {reason}.",
            "Pass the `diff` that `memrepo diff --json` or `memrepo review --json` wrote.",
        ) from None
