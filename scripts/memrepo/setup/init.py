"""The entry to the job ``init``: facts, plan, effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import UsageError
from memrepo.setup.apply import apply_init
from memrepo.setup.facts import gather
from memrepo.setup.plan import Change, plan_init, targets
from memrepo.setup.workflow import parse_uses, workflow_paths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class InitResult(msgspec.Struct, frozen=True):
    """What ``init`` did, or would do.

    ``changes`` holds a ``(path, action)`` for each path; ``commit`` is the id of the
    first commit, "" when none was made; ``repository_created`` tells whether ``git
    init`` ran.
    """

    root: str
    repository_created: bool
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    commit: str = ""

    @property
    def changed(self) -> bool:
        """Whether anything is different from before."""
        return bool(self.commit) or any(change.action != "kept" for change in self.changes)


def init(path: Path, *, workflows: Sequence[str], uses: str | None, dry_run: bool) -> InitResult:
    """Make ``path`` a memory repository, or add to an existing one what is missing.

    ``workflows`` names those of ``WORKFLOWS`` to write, too. Safe to run again, and never
    overwrites a file that a person changed. With ``dry_run`` nothing is changed and the
    result tells what would be. Raises UsageError, BadInput, PermissionDenied or GitFailed.
    """
    if workflows and uses is None:
        raise UsageError(
            "workflows need --uses", "say where the workflows get memrepo: OWNER/REPO@REF"
        )
    if uses is not None and not workflows:
        raise UsageError(
            "--uses is for the workflows", "add --workflows or --workflow, or leave --uses out"
        )
    source = parse_uses(uses) if uses is not None else None
    files = workflow_paths(workflows)
    plan = plan_init(gather(path, targets(files)), source, files)
    commit, notes = ("", []) if dry_run else apply_init(plan)
    return InitResult(
        root=str(plan.root),
        repository_created=plan.create_repository,
        changes=plan.changes,
        notes=(*plan.notes, *notes),
        commit=commit,
    )
