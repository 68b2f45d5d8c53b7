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
MergeMode = Literal["push", "pr", "dry-run"]
SourceFormat = Literal["auto", "tools", "openapi", "mcp"]
ArchiveMode = Literal["push", "pr", "dry-run"]
ArchiveStep = Literal["all", "plan", "publish", "prune"]
RolloutMode = Literal["push", "pr"]
RolloutCommand = Literal[
    "status",
    "start",
    "step",
    "pause",
    "resume",
    "abort",
    "promote",
    "resolve",
    "analyze",
    "auto",
]
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


class ArchiveInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/archive``. ``agent_ids`` come one a line or by comma."""

    mode: ArchiveMode = "push"
    older_than: str = ""
    agent_ids: tuple[str, ...] = ()
    branch: str = ""
    tag_prefix: str = ""
    step: ArchiveStep = "all"
    plan_file: str = ""
    shard: str = ""


class RestoreInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/restore``. ``what`` comes one a line or by comma."""

    what: tuple[str, ...] = ()
    all: bool = False
    agent_id: str = ""
    since: str = ""
    until: str = ""
    folder: str = ""
    branch: str = ""
    commit: bool = False


class UpdateKnowledgeInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/update-knowledge``. ``file`` is what the source gave."""

    source: str
    agent_id: str
    file: str
    format: SourceFormat = "auto"
    message: str = ""
    revision: str = ""
    into: str = "main"
    replace: bool = False
    dry_run: bool = False


class MergeKnowledgeInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/merge-knowledge``. ``branches`` come one a line or by comma."""

    branches: tuple[str, ...] = ()
    into: str = "main"
    mode: MergeMode = "push"


class MemoryCommandInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/memory-command``."""

    into: str = "main"


class RolloutInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/rollout``. Lists come one a line or by comma."""

    command: RolloutCommand
    name: str = ""
    treatment: str = ""
    control: str = "main"
    agents: tuple[str, ...] = ()
    steps: str = ""
    unit: str = "user"
    guardrails: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    layered: bool = False
    unit_id: str = ""
    agent_id: str = ""
    metrics: str = ""
    stale_after: str = "24h"
    mode: RolloutMode = "push"
    early: bool = False
    reason: str = ""
    dry_run: bool = False


class AddressInputs(RepositoryInputs, frozen=True, kw_only=True):
    """What every action takes that is about shared records of one address.

    ``org`` and ``repo`` are the workflow's repository by default, ``branch`` the event's.
    """

    org: str = ""
    repo: str = ""
    branch: str = ""
    scope: Literal["", "project", "branch", "org", "agent"] = ""
    agent: str = "github-actions"
    code_path: str = "."


class RememberInputs(AddressInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/remember``. ``code_refs`` come one a line or by comma."""

    key: str
    summary: str
    kind: str = ""
    code_refs: tuple[str, ...] = ()
    ttl: str = ""
    evidence: str = ""
    details: str = ""
    signing_key: str = ""


class BriefInputs(AddressInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/brief``."""

    max_tokens: int = 2000


class RecordsSweepInputs(RepositoryInputs, frozen=True, kw_only=True):
    """Inputs of ``actions/records-sweep``."""

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
            raise UsageError(f"{name}: {text[:40]!r} is no whole number above 0")
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
