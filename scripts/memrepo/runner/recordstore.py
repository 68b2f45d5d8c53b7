"""Shared records as a job of a workflow reads and writes them: address, key, store."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memrepo.errors import MemrepoError, UsageError
from memrepo.forge.address import parse_slug
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.record import Address, Scope, Trust, Writer
from memrepo.records.store import Store
from memrepo.runner.access import remote_of
from memrepo.runner.change import opened
from memrepo.runner.inputs import AddressInputs
from memrepo.runner.job import Job, repository_path

_HEADS = "refs/heads/"


@contextmanager
def records_of(
    job: Job,
    inputs: AddressInputs,
    *,
    agent: str,
    trust: Trust = "session",
    key: Path | None = None,
) -> Iterator[Store]:
    """The records of the memory repository, at the address that inputs and job name."""
    address = address_of(job, inputs, agent)
    with opened(job, inputs) as repo:
        git = repo.repository
        code = _code(job, inputs.code_path, git)
        with Store(
            git,
            writer=Writer(agent, "", trust),
            address=address,
            code=code,
            signing_key=key,
            remote=remote_of(git),
        ) as store:
            yield store


def address_of(job: Job, inputs: AddressInputs, agent: str) -> Address:
    """What the records are about: by default the repository that the workflow belongs to."""
    org, repo = parse_slug(job.repository) or ("", "")
    org, repo = inputs.org or org, inputs.repo or repo
    scope: Scope = inputs.scope or ("branch" if inputs.branch else "project")
    return Address(
        org=org.lower(),
        repo="" if scope == "org" else repo.lower(),
        branch=(inputs.branch or branch_of(job)) if scope == "branch" else "",
        scope=scope,
        agent=agent if scope == "agent" else "",
    )


def branch_of(job: Job) -> str:
    """The branch that the event is about, "" where it says none."""
    payload = job.payload
    run = payload.get("workflow_run") or {}
    pull = (payload.get("pull_request") or {}).get("head") or {}
    ref = payload.get("ref")
    pushed = ref.removeprefix(_HEADS) if isinstance(ref, str) and ref.startswith(_HEADS) else ""
    default = (payload.get("repository") or {}).get("default_branch")
    found = run.get("head_branch") or pull.get("ref") or pushed or default
    return found if isinstance(found, str) else ""


@contextmanager
def key_file(job: Job, secret: str) -> Iterator[Path | None]:
    """The secret as a file for this account alone, which is gone afterwards; None without one."""
    if not secret.strip():
        yield None
        return
    job.temp.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix="memrepo-key-", dir=job.temp)  # for its owner alone
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="ascii", errors="replace", newline="\n") as file:
            # A secret is often stored without its last line's end, or with those of Windows.
            file.write(secret.replace("\r\n", "\n").strip() + "\n")
        yield path
    finally:
        path.unlink(missing_ok=True)


def _code(job: Job, given: str, memory: Repository) -> Path | None:
    """The checkout of the code, or None where that is no repository, or the memory itself."""
    path = repository_path(job, given)
    try:
        with Repository.open(path) as repo:
            return None if repo.git_dir == memory.git_dir else path
    except MemrepoError as error:
        if given != ".":
            raise UsageError(
                f"code-path {given!r}: {error.message}", "check the code out there"
            ) from None
        return None
