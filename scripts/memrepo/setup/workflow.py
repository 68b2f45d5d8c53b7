"""The starter workflow that checks every change to a memory repository on GitHub."""

from __future__ import annotations

import re

import msgspec

from memrepo.errors import UsageError

WORKFLOW_PATH = ".github/workflows/memory-validate.yml"

_OWNER = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?"
_REPO = r"[A-Za-z0-9._-]{1,100}"
_REF = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}"
_USES = re.compile(f"({_OWNER})/({_REPO})@({_REF})")
_SOURCE = re.compile(rf"git\+https://github\.com/({_OWNER}/{_REPO}@{_REF})\n")


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
    shown = ascii(text if len(text) <= 80 else text[:77] + "...")
    raise UsageError(
        f"--uses {shown} is not OWNER/REPO@REF",
        "write for example --uses example-org/memrepo@v1.0.0, or a full commit id after the @",
    )


def workflow_text(source: Source) -> str:
    """The workflow as YAML. Values reach the shell through ``env`` only."""
    return f"""\
# Judges every change to the agents' memory. Written by `memrepo init`; yours to edit.
name: Memory

on:
  pull_request:
  push:
    branches: ["**"]

permissions: {{}}

# A newer push to a pull request replaces its older run; no other run is ever dropped.
concurrency:
  group: memory-validate-${{{{ github.event.pull_request.number || github.sha }}}}
  cancel-in-progress: true

jobs:
  validate:
    name: Validate memory
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read # to fetch the commits that are judged
    steps:
      - name: Fetch every commit
        uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          fetch-depth: 0
          persist-credentials: false

      # A private environment: the runner's own Python stays as it is.
      - name: Install memrepo
        env:
          MEMREPO_SOURCE: memrepo @ git+https://github.com/{source}
        run: |
          python3 -m venv "$RUNNER_TEMP/memrepo"
          "$RUNNER_TEMP/memrepo/bin/python" -m pip install --quiet "$MEMREPO_SOURCE"

      - name: Validate
        env:
          BASE: ${{{{ github.event.pull_request.base.sha || github.event.before }}}}
          HEAD: ${{{{ github.event.pull_request.head.sha || github.sha }}}}
        run: |
          memrepo="$RUNNER_TEMP/memrepo/bin/memrepo"
          if git cat-file -e "$BASE^{{commit}}" 2>/dev/null; then
            "$memrepo" validate --base "$BASE" --head "$HEAD" --format github
          else
            # A new branch, or one that was rewritten: there is nothing to compare with.
            "$memrepo" validate --all --format github
          fi
"""


def written_by_init(data: bytes) -> bool:
    """Whether ``data`` is a starter workflow that nobody edited, for whatever source."""
    text = data.decode("utf-8", "replace")
    found = _SOURCE.search(text)
    if not found:
        return False
    try:
        return workflow_text(parse_uses(found[1])) == text
    except UsageError:
        return False
