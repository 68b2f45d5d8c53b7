"""Decisions that come as comments on a pull request: each recorded, or said why not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from memrepo.errors import GateRefused, MemrepoError, NeedsPerson, UsageError
from memrepo.forge.forge import Forge, PullRequest, same_login
from memrepo.gitrepo.published import Published
from memrepo.knowledge.branches import recorded
from memrepo.knowledge.command import TakeCommand
from memrepo.knowledge.merge import tip_of
from memrepo.knowledge.names import PREFIX, PROPOSED
from memrepo.knowledge.place import find_place
from memrepo.knowledge.resolve import Choice, resolve
from memrepo.memory import MemoryRepo


class Decided(msgspec.Struct, frozen=True):
    """What became of one command: where it is recorded, or the ``error`` that says why not.

    ``paths`` is empty too where the same was recorded before.
    """

    command: TakeCommand
    paths: tuple[str, ...] = ()
    error: MemrepoError | None = None


def branch_in_question(pull: PullRequest, repository: str, into: str) -> str | None:
    """Which branch a decision in ``pull`` is about: "" for any, None where none is taken.

    Decisions are taken in the job's own pull request, and in one that brings a knowledge
    branch of ``repository`` (``owner/repo``) itself; not in one from a fork, whatever its
    branch is called.
    """
    ours = pull.state == "open" and pull.base_ref == into
    if not ours or not same_login(pull.head_repo, repository):
        return None
    if pull.head_ref.startswith(PROPOSED):
        return ""
    return pull.head_ref if pull.head_ref.startswith(PREFIX) else None


def decide_all(
    repo: MemoryRepo,
    forge: Forge,
    commands: Sequence[TakeCommand],
    *,
    by: str,
    branch: str = "",
    reason: str = "",
    into: str = "main",
    remote: str | None = None,
) -> list[Decided]:
    """Record each command, as ``by`` took it, on the job's pull request for ``into``.

    One that names no open place, or that the gate refuses, does not stop the others. What an
    earlier run recorded of the same commands is found, so that a run that was cut short can
    be run again. Raises RemoteFailed and PermissionDenied.
    """
    done = []
    for command in commands:
        choice = Choice(command.path, command.pointer, command.take, None, branch, reason, by)
        try:
            made = resolve(repo, choice, into=into, mode="pr", remote=remote, forge=forge)
            done.append(Decided(command, () if made.already else made.paths))
        except UsageError as error:
            known = _is_recorded(repo, forge, command, into, remote)
            done.append(Decided(command, error=None if known else error))
        except (NeedsPerson, GateRefused) as error:
            done.append(Decided(command, error=error))
    return done


def _is_recorded(
    repo: MemoryRepo, forge: Forge, command: TakeCommand, into: str, remote: str | None
) -> bool:
    git = repo.repository
    shelf = Published(git, remote)
    main = tip_of(shelf, into)
    place = find_place(shelf, forge, into, main, datetime.now(UTC))
    resolutions, _ = recorded(git, place.tip or main)
    wanted = (command.path, command.pointer, command.take)
    return any((one.path, one.pointer, one.take) == wanted for one in resolutions)
