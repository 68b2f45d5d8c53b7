"""What four linters say about the workflows and actions of a repository.

No one of them sees enough: zizmor looks for what can be attacked, jactionlint for what would not
run, GitHub's language service for what GitHub would refuse, and the schemas for missing parts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rig.tools import BIN, LANGUAGE_SERVICE, STANDINS, git, machine_environment, run

_COLUMN = re.compile(r":(\d+):\d+:")
_WORKFLOWS = (".github/workflows/*.y*ml", "workflows/*.y*ml")
_ACTIONS = ("action.y*ml", "actions/*/action.y*ml")
# What a user of a starter workflow is to fill in, and what stands there for the linters.
_PLACEHOLDERS = {
    "$default-branch": "main",
    "$protected-branches": "main",
    "$cron-weekly": "0 4 * * 1",
}


def lint_problems(root: Path) -> list[str]:
    """What is wrong, as ``file:line: what (linter)``; empty when nothing is.

    Looked at are the workflows in ``.github/workflows`` and ``workflows`` (starters, with their
    placeholders filled in) and the actions in ``action.yml`` and ``actions/*/action.yml``.
    """
    workflows = [file for pattern in _WORKFLOWS for file in sorted(root.glob(pattern))]
    actions = [file for pattern in _ACTIONS for file in sorted(root.glob(pattern))]
    if not workflows and not actions:
        return []
    with tempfile.TemporaryDirectory(prefix="lint-") as folder:
        copy = Path(folder)
        # jactionlint looks at repositories, and knows one by its .git.
        git(copy, "init", "--quiet")
        for file in [*workflows, *actions, *root.glob(".github/zizmor.yml")]:
            place = copy / file.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8")
            for placeholder, meaning in _PLACEHOLDERS.items():
                text = text.replace(placeholder, meaning)
            place.write_text(text, encoding="utf-8")
        called = [str(file.relative_to(root)) for file in workflows]
        taken = [str(file.relative_to(root)) for file in actions]
        found = [
            *_zizmor(copy, called + taken),
            *_jactionlint(copy, called),
            *_language_service(copy, called + taken),
            *_schema(copy, "vendor.github-workflows", called),
            *_schema(copy, "custom.github-workflows-require-timeout", called),
            *_schema(copy, "vendor.github-actions", taken),
        ]
    return sorted(found)


def _zizmor(root: Path, files: list[str]) -> Iterator[str]:
    """Each file by name: as a folder, zizmor would pass ``workflows`` over."""
    options = ("--offline", "--persona=pedantic", "--no-progress", "--quiet", "--format=json")
    done = run(BIN / "zizmor", *options, *files, cwd=root, env=_environment(root))
    if done.returncode not in (0, *range(10, 15)):
        raise AssertionError(f"zizmor: {done.stderr or done.stdout}")
    for finding in json.loads(done.stdout):
        place = finding["locations"][0]
        for location in finding["locations"]:
            if location["symbolic"]["kind"] == "Primary":
                place = location
        key = place["symbolic"]["key"]["Local"]
        line = place["concrete"]["location"]["start_point"]["row"] + 1
        file = os.path.relpath(root / key["verbatim_path"], root)
        yield f"{file}:{line}: {finding['desc']} (zizmor {finding['ident']})"


def _jactionlint(root: Path, workflows: list[str]) -> Iterator[str]:
    """The repository with its actions, and once more with the starters in their future place."""
    options = (
        "--profile",
        "correctness",
        "--format",
        "oneline",
        "--shellcheck",
        BIN / "shellcheck",
    )
    command = (BIN / "jactionlint", *options)
    starters = [name for name in workflows if name.startswith("workflows/")]
    moved = {}
    for name in starters:
        place = root / ".github" / "workflows" / f"starter-{Path(name).name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, place)
        moved[place] = name
    done = run(*command, cwd=root, env=_environment(root))
    for place in moved:
        place.unlink()
    if done.returncode not in (0, 1):
        raise AssertionError(f"jactionlint: {done.stderr or done.stdout}")
    for line in done.stdout.splitlines():
        for place, name in moved.items():
            line = line.replace(str(place.relative_to(root)), name)
        yield _COLUMN.sub(r":\1:", line, count=1) + " (jactionlint)"


def _language_service(root: Path, files: list[str]) -> Iterator[str]:
    done = run("node", LANGUAGE_SERVICE, root, STANDINS, *files, cwd=root, check=True)
    for row in json.loads(done.stdout):
        yield f"{row['file']}:{row['line']}: {row['message']} (language service)"


def _schema(root: Path, schema: str, files: list[str]) -> Iterator[str]:
    if not files:
        return
    options = ("--builtin-schema", schema, "--output-format", "json")
    command = (BIN / "check-jsonschema", *options)
    done = run(*command, *files, cwd=root, env=_environment(root))
    said = json.loads(done.stdout)
    for error in said.get("errors", []):
        place = error.get("path", "$").removeprefix("$.")
        yield f"{error['filename']}: {place}: {error['message'][:200]} ({schema})"
    for error in said.get("parse_errors", []):
        yield f"{error['filename']}: {error['message']} ({schema})"


def _environment(home: Path) -> dict[str, str]:
    """Nothing of the caller's, with the linters' own programs first."""
    return {**machine_environment(BIN), "HOME": str(home), "NO_COLOR": "1"}
