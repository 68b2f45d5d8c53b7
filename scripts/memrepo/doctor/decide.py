"""Decide what is wrong with a clone: facts in, problems out. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from memrepo.doctor.attributes import TRUE, attribute_problems, driver_problems
from memrepo.doctor.catalogue import KINDS
from memrepo.doctor.facts import MEMORY, PROBES, Facts, Worktree
from memrepo.doctor.problem import Problem, SetConfig, SetMode, count, problem, some
from memrepo.protocol.defaults import STATE_MODE
from memrepo.protocol.findings import SEVERITIES
from memrepo.protocol.layout import case_collisions

#: What was dropped on a Friday can still be missed on a Monday.
SHORT_SECONDS = 3 * 86_400

_STASH = "refs/stash"
_KEPT = {f"gc.{_STASH}.reflogExpire": "never", f"gc.{_STASH}.reflogExpireUnreachable": "never"}


def decide(facts: Facts) -> list[Problem]:
    """Every problem of the clone, worst first and then in the order of the catalogue."""
    found = [*_repository(facts), *_file_system(facts), *_gc(facts)]
    tree = facts.worktree
    if tree is not None:
        found += [*attribute_problems(facts, tree), *driver_problems(facts, tree)]
        found += [*_index(tree), *_folders(tree), *_rerere(facts, tree)]
    order = list(KINDS)
    return sorted(found, key=lambda p: (SEVERITIES.index(p.severity), order.index(p.name)))


def _repository(facts: Facts) -> Iterator[Problem]:
    if facts.shallow:
        yield problem("shallow-clone", "the history of this clone is cut off")
    flat = facts.history
    limit = facts.policy.history.recommend_daily_at
    if flat.recent > limit:
        what = (
            f"{count(flat.recent, 'snapshot')} of the last 90 days lie flat in history/; "
            f"{limit:,} is the most that the policy advises"
        )
        yield problem("history-outgrown", what, "memrepo doctor --convert-history")
    if not facts.identity:
        yield problem("identity-missing", "user.name or user.email is not set")


def _file_system(facts: Facts) -> Iterator[Problem]:
    if facts.folds_case:
        yield problem("case-insensitive", f"{facts.root} lies on such a file system")
        for first, other in case_collisions(list(facts.agents)):
            yield problem("case-collision", f"state/{first} and state/{other} are one folder here")
    if facts.mount and facts.mount.from_windows:
        what = f"{facts.root} lies on {facts.mount.kind}, mounted at {facts.mount.folder}"
        yield problem("windows-filesystem", what)
    if facts.config.get("core.filemode", ["true"])[-1].lower() in ("false", "no", "off", "0"):
        yield problem("file-mode-off", "Git does not look at modes in this clone")


def _index(tree: Worktree) -> Iterator[Problem]:
    if tree.unmerged:
        yield problem("index-unmerged", f"not decided: {some(list(tree.unmerged))}")
    staged = [path for path in tree.staged if path not in set(tree.unmerged)]
    if staged:
        yield problem("index-dirty", f"staged: {some(staged)}")
    if tree.untracked:
        yield problem("snapshots-untracked", f"not tracked: {some(list(tree.untracked))}")
    rules: dict[str, list[str]] = {}
    for path, rule in tree.ignored.items():
        rules.setdefault(rule, []).append(PROBES.get(path, path))
    for rule, paths in rules.items():
        source, _, rest = rule.partition(":")
        line, _, pattern = rest.partition(":")
        what = f"the rule {pattern} ({source}, line {line}) ignores {some(paths, 1)}"
        repair = "remove or narrow it; memrepo init wins over a rule in the root's .gitignore"
        yield problem("memory-ignored", what, repair)


def _rerere(facts: Facts, tree: Worktree) -> Iterator[Problem]:
    autoupdate = facts.config.get("rerere.autoupdate", ["false"])[-1].lower() in TRUE
    enabled = facts.config.get("rerere.enabled", [str(tree.has_rerere).lower()])[-1].lower()
    if autoupdate and enabled in TRUE:
        yield problem("rerere-autoupdate", "rerere.autoUpdate is true")


def _folders(tree: Worktree) -> Iterator[Problem]:
    for name in MEMORY:
        kind = tree.folders[name].kind
        if kind in ("link", "other"):
            what = f"{name} is {'a symbolic link' if kind == 'link' else 'no folder'}"
            repair = f"move it away, then git restore -- {name}"
            yield problem("folder-replaced", what, repair)
    state = tree.folders["state"]
    excess = state.mode & 0o777 & ~STATE_MODE
    if state.kind != "folder" or not excess:
        return
    what = f"the mode of state/ is {state.mode & 0o777:o}"
    if not tree.keeps_modes:
        repair = "this file system keeps no modes: move the clone to one that does"
        yield problem("state-mode", what, repair)
    elif not state.ours:
        yield problem("state-mode", f"{what}, and it belongs to another user")
    else:
        fix = SetMode("state", state.mode & ~excess)
        repair = f"chmod {fix.mode & 0o777:o} state, or memrepo init --repo-path ."
        yield problem("state-mode", what, repair, fix)


def _gc(facts: Facts) -> Iterator[Problem]:
    for name, keys in (
        ("gc-prunes-soon", ["gc.pruneexpire"]),
        ("gc-reflog-short", ["gc.reflogexpire", "gc.reflogexpireunreachable"]),
    ):
        found = [k for k in keys if (facts.expiry.get(k) or 0) > facts.now - SHORT_SECONDS]
        if found:
            origins = sorted({facts.origins[key] for key in found})
            repair = f"{KINDS[name].repair} Here it is set in {some(origins)}."
            yield problem(name, _settings(facts, found), repair)
    # Git takes the first pattern, in the order of its configuration, that covers a ref.
    patterns = dict.fromkeys(map(_pattern, facts.expiry))
    first = next((p for p in patterns if fnmatchcase(_STASH, p.replace("[^", "[!"))), None)
    ending = [k for k, when in facts.expiry.items() if when and _pattern(k) == first]
    if first == _STASH and ending:
        repair = "; ".join(f"git config {key} {value}" for key, value in _KEPT.items())
        yield problem("gc-stash-expires", _settings(facts, ending), repair, SetConfig(_KEPT))
    elif ending:
        repair = (
            f'above [gc "{first}"] in {facts.origins[ending[0]]}, put a section '
            f'[gc "{_STASH}"] with reflogExpire and reflogExpireUnreachable = never'
        )
        yield problem("gc-stash-expires", _settings(facts, ending), repair)


def _pattern(key: str) -> str:
    """The ``<pattern>`` of ``gc.<pattern>.reflogExpire``; "" in keys without one."""
    return key.partition(".")[2].rpartition(".")[0]


def _settings(facts: Facts, keys: list[str]) -> str:
    return ", ".join(f"{key} is {facts.config[key][-1]}" for key in keys)
