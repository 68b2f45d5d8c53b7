"""Every workflow and action, as four linters see it."""

from __future__ import annotations

from rig.lint import lint_problems
from rig.tools import BIN, ROOT, run


def test_no_linter_has_a_complaint() -> None:
    assert lint_problems(ROOT) == []


def test_dependabot_is_set_up_as_github_reads_it() -> None:
    command = (BIN / "check-jsonschema", "--builtin-schema", "vendor.dependabot")
    run(*command, ".github/dependabot.yml", cwd=ROOT, check=True)


def test_the_shell_scripts_of_the_actions() -> None:
    run(BIN / "shellcheck", "scripts/action-setup", "scripts/release-files", cwd=ROOT, check=True)
