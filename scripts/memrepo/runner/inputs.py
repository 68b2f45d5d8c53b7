"""The inputs of an action, read strictly: a runner hands over text, whatever was meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeVar, get_args

import msgspec

from memrepo.errors import UsageError
from memrepo.report.verdict import Verdict

PREFIX = "MEMREPO_INPUT_"

FailOn = Literal["error", "warning", "never"]
Scope = Literal["change", "all"]
T = TypeVar("T", bound="Common")


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """What every action takes. ``python`` is read by ``scripts/action-setup`` alone."""

    python: str = ""
    github_token: str = ""

    def __repr__(self) -> str:
        # The token must not reach a log by way of a traceback.
        return f"<{type(self).__name__}>"


class RepositoryInputs(Common, frozen=True, kw_only=True):
    """What every action takes that reads a checkout."""

    repo_path: str = "."


class ValidateInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/validate``."""

    scope: Scope = "change"
    base: str = ""
    head: str = ""
    fail_on: FailOn = "error"


class ReviewInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/review``."""

    base: str = ""
    head: str = ""
    pull_request_number: int = 0
    fail_on: FailOn = "error"
    comment: bool = True


class CommentInputs(Common, frozen=True, kw_only=True):
    """Inputs of ``actions/comment``."""

    artifact: str = "memory-review"


class ProposeInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/propose``. ``labels`` and ``reviewers`` come one a line or by comma."""

    agent_id: str
    message: str
    base: str = ""
    branch: str = ""
    title: str = ""
    body: str = ""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    draft: bool = False
    dry_run: bool = False


class CommandInputs(Common, frozen=True, kw_only=True):
    """Inputs of the front door, ``action.yml``."""

    command: str
    args: str = ""


def read_inputs(kind: type[T], environ: Mapping[str, str]) -> T:
    """The inputs of ``kind`` from ``MEMREPO_INPUT_*``. Raises UsageError, naming the input.

    An input that is empty counts as not given: that is what a workflow passes on for
    whatever its own caller left out.
    """
    values: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        text = environ.get(f"{PREFIX}{field.name.upper()}", "")
        if text.strip():
            values[field.name] = _value(field.name.replace("_", "-"), field.type, text)
        elif field.required:
            name = field.name.replace("_", "-")
            raise UsageError(f"the input {name} is missing", f"give it under with: {name}: …")
    return msgspec.convert(values, kind)


def _value(name: str, kind: object, text: str) -> object:
    if kind is bool:
        if text not in ("true", "false"):
            raise UsageError(f"{name}: {text[:40]!r} is neither 'true' nor 'false'")
        return text == "true"
    if kind is int:
        if not (text.isascii() and text.isdigit() and 0 < int(text[:12]) < 10**9):
            raise UsageError(f"{name}: {text[:40]!r} is no number of a pull request")
        return int(text)
    if kind == tuple[str, ...]:
        parts = text.replace(",", "\n").split("\n")
        return tuple(part.strip() for part in parts if part.strip())
    choices = get_args(kind)
    if choices and text not in choices:
        raise UsageError(f"{name}: {text[:40]!r} is none of {', '.join(choices)}")
    if name == "github-token":
        return text.strip()
    return text


def stops(verdict: Verdict, fail_on: FailOn) -> bool:
    """Whether a verdict makes the step fail."""
    if fail_on == "error":
        return verdict == "fail"
    return fail_on == "warning" and verdict != "pass"
