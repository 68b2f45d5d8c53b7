"""The starter workflows of a memory repository on GitHub: review, archive, knowledge, records.

They lie in ``workflows/`` at the root of a checkout; an installed package has a copy beside
this module.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from memrepo.errors import UsageError
from memrepo.protocol.suggest import closest, shown

_FOLDER = ".github/workflows"
#: What ``init`` writes, by the name that one asks for it by.
WORKFLOWS = {
    "review": ("memory-review.yml", "memory-review-comment.yml"),
    "archive": ("weekly-archive.yml",),
    "knowledge": ("knowledge-update.yml", "knowledge-merge.yml"),
    "commands": ("memory-commands.yml",),
    "records": ("records-sweep.yml",),
    "rollout": ("memory-rollout.yml", "memory-rollout-auto.yml"),
}
#: Where it writes them.
WORKFLOW_PATHS = tuple(f"{_FOLDER}/{name}" for names in WORKFLOWS.values() for name in names)

_OWNER = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?"
_REPO = r"[A-Za-z0-9._-]{1,100}"
_REF = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}"
_USES = re.compile(f"({_OWNER})/({_REPO})@({_REF})")
_USED = re.compile(rf"uses: ({_OWNER}/{_REPO})/actions/[a-z-]+@({_REF})\n")
# What a starter leaves to whoever copies it by hand, and what `init` puts there.
_PLACEHOLDER = re.compile(r"OWNER/memrepo/(actions/[a-z-]+)@0{40} # v[0-9.]+\n")
_BY_HAND = re.compile(
    r"# Copy (?:both|it) to \.github/workflows/, and put in the repository you get memrepo from and"
    r" the full id\n# of a commit there that you trust\. `memrepo init --workflows` does that"
    r" for you\.\n"
)
# A permission of a job, with the reason beside it.
_MAY = re.compile(r"^ {6}([a-z-]+: (?:read|write)) # ", re.MULTILINE)
_BY_INIT = "# Written by `memrepo init`; yours to edit.\n"


def workflow_paths(names: Sequence[str]) -> tuple[str, ...]:
    """The files of the workflows of these names.  Raises UsageError for another name."""
    for name in names:
        if name not in WORKFLOWS:
            hint = closest(name, tuple(WORKFLOWS)) or f"there are: {', '.join(WORKFLOWS)}"
            raise UsageError(f"there is no starter workflow {shown(name)}", hint)
    wanted = {file for name in names for file in WORKFLOWS[name]}
    return tuple(path for path in WORKFLOW_PATHS if path.rpartition("/")[2] in wanted)


class Source(msgspec.Struct, frozen=True):
    """Where a workflow gets memrepo from: a GitHub repository at a revision."""

    owner: str
    repo: str
    ref: str

    @property
    def is_pinned(self) -> bool:
        """Whether ``ref`` is a full commit id, which nobody can move."""
        return re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", self.ref) is not None

    def __str__(self) -> str:
        return f"{self.owner}/{self.repo}@{self.ref}"


def parse_uses(text: str) -> Source:
    """``OWNER/REPO@REF`` taken apart.

    Stricter than GitHub and Git, since the words end up in a file that a runner obeys:
    letters, digits, ``. _ -``, and ``/`` inside REF. Raises UsageError for anything else.
    """
    found = _USES.fullmatch(text)
    if found:
        owner, repo, ref = found.groups()
        parts = ref.split("/")
        sound = all(p and not p.startswith(".") and not p.endswith((".", ".lock")) for p in parts)
        if sound and ".." not in ref and repo not in (".", "..") and not repo.endswith(".git"):
            return Source(owner, repo, ref)
    words = ascii(text if len(text) <= 80 else text[:77] + "...")
    raise UsageError(
        f"--uses {words} is not OWNER/REPO@REF",
        "write for example --uses example-org/memrepo@v1.0.0, or a full commit id after the @",
    )


def workflow_text(path: str, source: Source) -> str:
    """The workflow of WORKFLOW_PATHS as YAML, with memrepo's actions from ``source``.

    Raises UsageError where this copy of memrepo came without the starters.
    """
    text = _BY_HAND.sub(_BY_INIT, _starter(path.rpartition("/")[2]))
    return _PLACEHOLDER.sub(rf"{source.owner}/{source.repo}/\1@{source.ref}\n", text)


def workflow_purpose(path: str) -> str:
    """What the workflow is for and what its jobs may do, as the starter itself says it."""
    text = _starter(path.rpartition("/")[2])
    head = " ".join(line[1:].strip() for line in text.partition("\n#\n")[0].splitlines())
    may = dict.fromkeys(_MAY.findall(text))
    sentence = head.partition(". ")[0].rstrip(".")
    return f"{sentence}; may {', '.join(may)}"


def written_by_init(path: str, data: bytes) -> bool:
    """Whether ``data`` is what ``init`` writes to ``path``, for whatever source."""
    text = data.decode("utf-8", "replace")
    used = _USED.search(text)
    if not used:
        return False
    try:
        return workflow_text(path, parse_uses(f"{used[1]}@{used[2]}")) == text
    except UsageError:
        return False


@cache
def _starter(name: str) -> str:
    installed = Path(__file__).parent / "workflows"
    folder = installed if installed.is_dir() else Path(__file__).parents[3] / "workflows"
    try:
        return (folder / name).read_text(encoding="utf-8")
    except OSError:
        raise UsageError(
            f"this copy of memrepo came without the starter workflow {name}",
            "run init from a checkout or an installed package, or copy the file from workflows/",
        ) from None
