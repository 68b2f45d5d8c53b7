"""Pack, index and prune one repository, saying what each step does before it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec

from memrepo.gitrepo import maintain as git
from memrepo.gitrepo.maintain import Store
from memrepo.gitrepo.repository import Repository


class Pruning(msgspec.Struct, frozen=True):
    """What is to be deleted: numbers by kind of object.

    ``kept`` are commits that nothing reaches and that stay, each holding a file that is
    nowhere else. ``why_not`` says why nothing is pruned this time, "" where it is.
    """

    objects: dict[str, int] = {}
    kept: tuple[str, ...] = ()
    why_not: str = ""

    @property
    def total(self) -> int:
        """All the objects to be deleted."""
        return sum(self.objects.values())


class Maintained(msgspec.Struct, frozen=True):
    """The store before and after (the same in a dry run), and what was pruned."""

    before: Store
    after: Store
    pruning: Pruning
    shallow: bool
    dry_run: bool


def maintain(
    repo: Repository,
    *,
    prune: bool = True,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda _line: None,
) -> Maintained:
    """Pack loose objects, join small packs, index commits by path, prune what is old and loose.

    Each step is one Git command that can be killed and run again. Raises NeedsPerson while
    another maintenance runs, PermissionDenied in a repository that others borrow from.
    """
    git.refuse_if_precious(repo)
    before = git.look_at_store(repo)
    if dry_run:
        return Maintained(before, before, plan_pruning(repo, prune), repo.is_shallow, True)
    with git.maintaining(repo):
        tell("packing loose objects")
        git.pack_loose(repo)
        tell("joining packs")
        git.join_packs(repo)
        tell("indexing commits by the paths they changed")
        git.write_graph(repo)
        tell("looking for objects that nothing needs")
        pruning = plan_pruning(repo, prune)
        if pruning.total:
            tell(f"pruning {pruning.total:,} objects")
            git.prune(repo, pruning.kept)
        after = git.look_at_store(repo)
    return Maintained(before, after, pruning, repo.is_shallow, False)


def plan_pruning(repo: Repository, wanted: bool = True) -> Pruning:
    """What pruning would delete now, and which lost commits it would spare."""
    if not wanted:
        return Pruning(why_not="it was not asked for")
    sign = git.writers_at_work(repo)
    if sign:
        return Pruning(why_not=f"another writer is at work ({sign})")
    doomed = git.prunable(repo)
    kept = git.commits_worth_keeping(repo, doomed)
    if git.too_many_kept(kept):
        return Pruning(why_not=f"{len(kept):,} lost commits hold files that are nowhere else")
    if kept:
        doomed = git.prunable(repo, kept)
    return Pruning(dict(Counter(doomed.values())), kept)
