"""Every problem ``doctor`` knows: how bad it is, why it matters, and what to do about it."""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.protocol.findings import Severity

Automatic = Literal["yes", "no", "where it is safe"]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One sort of problem.

    ``title`` says what it is, ``reason`` why it matters, ``repair`` what to do; ``fix``
    tells whether ``doctor --fix`` does that.
    """

    name: str
    severity: Severity
    fix: Automatic = "no"
    title: str
    reason: str
    repair: str


_KINDS = (
    # --- attributes and line ends
    Kind(
        name="attributes-binary",
        severity="error",
        fix="yes",
        title="attributes make Git treat memory as binary",
        reason="Git then shows no diff, merges nothing and leaves line ends as each machine "
        "writes them: nobody can see what an agent learned.",
        repair="Put memrepo's block at the end of `.gitattributes`, where it wins.",
    ),
    Kind(
        name="attributes-crlf",
        severity="error",
        fix="yes",
        title="attributes write memory with CRLF",
        reason="Memory has LF line ends on every machine; a file with CRLF is refused, and has "
        "another id for the same memory.",
        repair="Put memrepo's block at the end of `.gitattributes`, where it wins.",
    ),
    Kind(
        name="attributes-union",
        severity="error",
        fix="yes",
        title="attributes merge memory by putting both sides' lines together",
        reason="Two sides of a JSON file in one file are seldom JSON, and no conflict is shown.",
        repair="Put memrepo's block at the end of `.gitattributes`, where it wins.",
    ),
    Kind(
        name="attributes-filter",
        severity="warning",
        title="a filter, encoding or `ident` rewrites memory on its way to disk",
        reason="What Git stores is then not what the agent wrote, so diffs, reviews and "
        "snapshots speak of other bytes.",
        repair="Take memory out of the rule that sets `filter`, `ident` or "
        "`working-tree-encoding`.",
    ),
    Kind(
        name="attributes-unpinned",
        severity="note",
        fix="yes",
        title="nothing holds memory to LF line ends",
        reason="This clone is well, but one with `core.autocrlf=true` (usual on Windows) will "
        "write CRLF.",
        repair="Put memrepo's block at the end of `.gitattributes`.",
    ),
    Kind(
        name="config-crlf",
        severity="error",
        fix="yes",
        title="`core.autocrlf` or `core.eol` writes memory with CRLF",
        reason="Memory has LF line ends on every machine, and no attribute overrules this "
        "setting here.",
        repair="Put memrepo's block at the end of `.gitattributes`: attributes win over the "
        "setting, and the setting stays for other files.",
    ),
    Kind(
        name="worktree-crlf",
        severity="error",
        fix="where it is safe",
        title="files under `state/` have CRLF line ends",
        reason="`memrepo commit` refuses them, and a program that reads them sees other bytes "
        "than the ones committed.",
        repair="Write them with LF. Only files that then equal what is committed are rewritten "
        "by themselves.",
    ),
    # --- drivers
    Kind(
        name="driver-unregistered",
        severity="warning",
        fix="where it is safe",
        title="a diff or merge driver is named in attributes and not set up in this clone",
        reason="Git copies no settings with a clone; without them it quietly does without the "
        "driver.",
        repair="Set it up in this clone; memrepo's own is `memrepo init` or `doctor --fix`.",
    ),
    Kind(
        name="driver-broken",
        severity="error",
        fix="where it is safe",
        title="a merge driver has no command, or one that is not there",
        reason="Without a command every merge of a memory file stops with “lacks command line”; "
        "with one that is gone, every such merge is a conflict.",
        repair="Set it up anew (`memrepo init` or `doctor --fix` for memrepo's own), or remove the "
        "section `merge.<driver>` from the configuration.",
    ),
    Kind(
        name="rerere-autoupdate",
        severity="warning",
        title="Git stages recorded resolutions by itself",
        reason="`rerere` knows a conflict by its lines, not by its file: what was decided for one "
        "agent is taken for another with the same lines, and nobody is asked.",
        repair="Run `git config rerere.autoUpdate false`: a resolution is then proposed, and "
        "`git add` is yours.",
    ),
    # --- what Git holds and does not hold
    Kind(
        name="shallow-clone",
        severity="warning",
        title="the clone is shallow",
        reason="`history` and `blame` end where the clone does, `revert` cannot go further back, "
        "and a review may not find where two branches part.",
        repair="Run `git fetch --unshallow` (in a workflow: `fetch-depth: 0`).",
    ),
    Kind(
        name="memory-ignored",
        severity="error",
        title="an ignore rule covers memory",
        reason="`git add` and `git status` pass over new agents and snapshots, so they are lost "
        "with this folder.",
        repair="Remove or narrow the rule; memrepo's block in `.gitignore` (`memrepo init`) wins "
        "over earlier rules.",
    ),
    Kind(
        name="index-dirty",
        severity="warning",
        title="memory is staged and not committed",
        reason="The next `git commit` takes it along, whatever it is about; a cycle that was "
        "killed half way leaves this behind.",
        repair="Commit it, or take it back with `git restore --staged -- state history`.",
    ),
    Kind(
        name="index-unmerged",
        severity="error",
        title="a merge is not finished",
        reason="Files may hold conflict marks, and Git refuses to commit until each is decided.",
        repair="Decide each file and `git add` it, or give the merge up with `git merge --abort` "
        "(or `git rebase --abort`).",
    ),
    Kind(
        name="snapshots-untracked",
        severity="warning",
        title="snapshots lie under `history/` that Git does not know",
        reason="They are in no commit, so nobody else has them and no clone will.",
        repair="`git add -- history` and commit what belongs there; delete the rest.",
    ),
    Kind(
        name="folder-replaced",
        severity="error",
        title="`state/` or `history/` is not a folder",
        reason="memrepo follows no symbolic link: memory outside the repository is neither "
        "versioned nor reviewed.",
        repair="Put a real folder in its place (`git restore -- state history`).",
    ),
    Kind(
        name="state-mode",
        severity="warning",
        fix="where it is safe",
        title="others may read or write `state/`",
        reason="Memory is for its owner and group (mode 750): it holds what people told an agent.",
        repair="`chmod 750 state`, or `memrepo init --repo-path .`, as the user who owns it.",
    ),
    Kind(
        name="history-outgrown",
        severity="warning",
        title="the flat `history/` has outgrown itself",
        reason="A flat folder is one object that each commit writes anew: some 330 kB a commit "
        "at 10,000 snapshots.",
        repair="`memrepo doctor --convert-history` moves every snapshot to "
        "`history/YYYY/MM/DD/` in one commit and sets `history.layout: daily`.",
    ),
    # --- the file system
    Kind(
        name="case-insensitive",
        severity="warning",
        title="the file system does not tell `A` from `a`",
        reason="Two agents whose ids differ only in case share one folder here and overwrite "
        "each other.",
        repair="Keep the clone on a file system that tells them apart.",
    ),
    Kind(
        name="case-collision",
        severity="error",
        title="two agents share one folder here",
        reason="Their ids differ only in case, and this file system does not tell them apart: "
        "what is checked out is one of them, and a commit mixes both.",
        repair="Rename one of them, on a file system that tells them apart.",
    ),
    Kind(
        name="windows-filesystem",
        severity="warning",
        title="the clone lies on a Windows or network file system",
        reason="Modes, locks and renames do not work there as Git and memrepo expect, and every "
        "file costs many times as much.",
        repair="Keep the clone on a native file system (in WSL: under your Linux home folder).",
    ),
    Kind(
        name="file-mode-off",
        severity="note",
        title="`core.fileMode` is false",
        reason="Git does not notice a memory file that becomes executable here; the reviewer of "
        "the change does.",
        repair="On a file system that keeps modes: `git config core.fileMode true`.",
    ),
    # --- what Git may delete
    Kind(
        name="gc-prunes-soon",
        severity="warning",
        title="`gc.pruneExpire` is shorter than three days",
        reason="A dropped stash, a reset commit, or what another process is about to commit can "
        "be deleted before anyone misses it.",
        repair="`git config --unset gc.pruneExpire` where it is set; Git's own value is two weeks.",
    ),
    Kind(
        name="gc-reflog-short",
        severity="warning",
        title="reflogs expire within three days",
        reason="The reflog is the way back to commits that a reset, rebase or lost branch left "
        "behind; without it `git gc` deletes them.",
        repair="`git config --unset` the setting; Git's own values are 90 and 30 days.",
    ),
    Kind(
        name="gc-stash-expires",
        severity="warning",
        fix="where it is safe",
        title="a `gc` setting lets stashes expire",
        reason="Stashes are kept for ever unless a `gc.<pattern>` covers `refs/stash`; then "
        "`git gc` deletes them with all that is in them.",
        repair="Set `gc.refs/stash.reflogExpire` and `…Unreachable` to `never`, above any other "
        "pattern: the first that matches decides.",
    ),
    # --- the person
    Kind(
        name="identity-missing",
        severity="note",
        title="Git knows no name and address here",
        reason="Commits are then by “memrepo”, and `blame` cannot tell who taught an agent what.",
        repair="`git config user.name …` and `git config user.email …`.",
    ),
)

#: Every problem by its name, in the order in which they are reported within a severity.
KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}


def table() -> str:
    """All problems as a Markdown table, as the documentation holds it."""
    rows = [
        f"| `{kind.name}` | {kind.severity} | {kind.title} | {kind.reason} | {kind.repair} "
        f"| {kind.fix} |\n"
        for kind in _KINDS
    ]
    head = "| problem | severity | what it is | why it matters | repair | `--fix` |\n"
    return head + "|---|---|---|---|---|---|\n" + "".join(rows)
