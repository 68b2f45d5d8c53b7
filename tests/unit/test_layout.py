"""The house rules that a parser can hold: who imports whom, and who may reach the world."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

PACKAGE = Path(__file__).parents[2] / "scripts" / "memrepo"
JOBS = ("validate", "review", "history", "cycle", "doctor", "setup", "maintain")
# Rooms on one floor are neighbours and do not know each other.
FLOORS = (
    ("errors",),
    ("protocol",),
    ("semdiff", "rules", "shards", "buckets", "recordrules"),
    ("semmerge", "stats"),
    ("gitrepo", "report", "forge"),
    ("gate",),
    JOBS,
    ("settings", "memory"),
    # The jobs that work on a forge do so through the Python API.
    ("propose", "publish", "archive", "knowledge", "records"),
    ("proposals", "rollout", "live"),
    ("runner",),
    ("cli",),
    ("__main__",),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
# The front door shows the Python API (by a lazy import); its version is for everyone.
FRONT_DOOR = "__init__"

READS_ENVIRONMENT = ("runner/access.py", "runner/run.py", "settings.py")
# Exceptions to a rule, each with its reason; one that is no longer needed must go.
PASSES_ENVIRONMENT_ON = {"gitrepo/process.py": "Git must be given one"}
STARTS_PROGRAMS = ("gitrepo/",)
IMPORTS_PYGITHUB = ("forge/",)
WRITES_WORKFLOW_COMMANDS = ("runner/commands.py",)
MOST_LINES = 350
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "common", "misc"}

_WORKFLOW_COMMAND = re.compile(
    r"::(error|warning|notice|debug|group|endgroup|add-mask|set-output|save-state|stop-commands)\b"
)
_PROGRAM_STARTERS = re.compile(r"os\.(system|popen|exec\w+|spawn\w+|posix_spawnp?)")
_ENVIRONMENT = re.compile(r"os\.(environb?|getenvb?|putenv|unsetenv)")

Check = Callable[[str, ast.Module], Iterator[tuple[int, str]]]


def room_of(file: str) -> str:
    return PurePosixPath(file).parts[0].removesuffix(".py")


def imports(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Each imported name as a full dotted path, wherever in the file it is imported."""
    package = ("memrepo", *PurePosixPath(file).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            name = ast.unparse(node.func).rpartition(".")[2]
            first = node.args[0]
            if name in ("import_module", "__import__") and isinstance(first, ast.Constant):
                yield node.lineno, str(first.value)


def uses(file: str, tree: ast.Module, what: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Each use of a name, as an attribute (os.environ) or by import (from os import environ)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and what.fullmatch(text := ast.unparse(node)):
            yield node.lineno, text
    yield from ((line, name) for line, name in imports(file, tree) if what.fullmatch(name))


def upward_imports(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Imports of a neighbour, of a floor above, or of a room that the house does not have."""
    here = room_of(file)
    if here == FRONT_DOOR:
        return
    if here not in FLOOR_OF:
        yield 1, f"{here} is no room of the house"
        return
    for line, name in imports(file, tree):
        top, *rest = name.split(".")
        if top != "memrepo" or not rest or rest[0] in (here, "__version__"):
            continue
        there = rest[0] if rest[0] in FLOOR_OF else "memory" if rest[0] == "MemoryRepo" else ""
        if FLOOR_OF.get(there, len(FLOORS)) >= FLOOR_OF[here]:
            yield line, f"{here} imports {name}"


def environment_use(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Looks at the process environment."""
    if file not in (*READS_ENVIRONMENT, *PASSES_ENVIRONMENT_ON):
        yield from uses(file, tree, _ENVIRONMENT)


def program_starts(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Ways to start another program."""
    if not file.startswith(STARTS_PROGRAMS):
        yield from uses(file, tree, _PROGRAM_STARTERS)
        for line, name in imports(file, tree):
            if name.split(".")[0] in ("subprocess", "pty", "multiprocessing"):
                yield line, name


def library_imports(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Imports of libraries that one room hides: GitPython everywhere, PyGithub outside its own."""
    for line, name in imports(file, tree):
        library = name.split(".")[0]
        if library in ("git", "gitdb") or (
            library == "github" and not file.startswith(IMPORTS_PYGITHUB)
        ):
            yield line, name


def docstrings(tree: ast.Module) -> set[int]:
    """The nodes (by id) that are docstrings."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found.add(id(first.value))
    return found


def workflow_commands(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Text that the Actions runner would take for a command."""
    if file in WRITES_WORKFLOW_COMMANDS:
        return
    prose = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            if id(node) not in prose and _WORKFLOW_COMMAND.search(text):
                yield node.lineno, repr(node.value)


def public_functions(
    body: list[ast.stmt],
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_"):
                yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body)


def missing_docstrings(file: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Public functions and methods that say nothing about themselves."""
    for node in public_functions(tree.body):
        if not ast.get_docstring(node):
            yield node.lineno, f"{node.name} has no docstring"


CHECKS: tuple[Check, ...] = (
    upward_imports,
    environment_use,
    program_starts,
    library_imports,
    workflow_commands,
    missing_docstrings,
)


def modules() -> dict[str, str]:
    """Each module of the package: its path inside the package, and its text."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_no_module_breaks_a_house_rule(check: Check) -> None:
    broken = [
        f"{file}:{line}: {what}"
        for file, text in modules().items()
        for line, what in check(file, ast.parse(text))
    ]
    assert broken == []


def test_modules_are_short_and_named_for_their_job() -> None:
    texts = modules()
    long = {file: n for file, text in texts.items() if (n := text.count("\n")) > MOST_LINES}
    assert long == {}
    assert [f for f in texts if PurePosixPath(f).stem in NAMES_THAT_SAY_NOTHING] == []


def test_named_exceptions_are_still_needed() -> None:
    texts = modules()
    for file in PASSES_ENVIRONMENT_ON:
        assert list(uses(file, ast.parse(texts[file]), _ENVIRONMENT)), f"{file} needs no exception"


@pytest.mark.parametrize(
    ("check", "file", "bad", "good"),
    [
        (
            upward_imports,
            "rules/text.py",
            "from memrepo.gitrepo.objects import read",
            "from memrepo.protocol.findings import Finding",
        ),
        (
            upward_imports,
            "review/plan.py",
            "def late():\n    from memrepo.history import log",
            "def late():\n    from memrepo.gitrepo import log",
        ),
        (upward_imports, "semdiff/tools.py", "from memrepo import rules", "import memrepo.errors"),
        (upward_imports, "history/log.py", "from ..cycle import plan", "from ..report import text"),
        (upward_imports, "errors.py", "from memrepo import MemoryRepo", "import memrepo"),
        (
            upward_imports,
            "protocol/names.py",
            "import importlib\nimportlib.import_module('memrepo.cli.app')",
            "import importlib\nimportlib.import_module('memrepo.errors')",
        ),
        (upward_imports, "shed/junk.py", "", "'''replaced below'''"),
        (environment_use, "cli/app.py", "import os\nos.environ['A']", "import os\nos.sep"),
        (environment_use, "cli/app.py", "from os import getenv", "from os import sep"),
        (program_starts, "cli/app.py", "from subprocess import run", "from shutil import which"),
        (program_starts, "review/plan.py", "import os\nos.system('x')", "import os\nos.sep"),
        (library_imports, "history/log.py", "import git.repo", "import memrepo.gitrepo"),
        (library_imports, "review/x.py", "from github import Auth", "from memrepo import forge"),
        (workflow_commands, "report/text.py", "f'::error file={1}::x'", "'std::errors'"),
        (
            missing_docstrings,
            "cli/app.py",
            "class A:\n    def b(self): ...",
            "class _A:\n    def b(self): ...",
        ),
    ],
)
def test_each_rule_sees_what_breaks_it(check: Check, file: str, bad: str, good: str) -> None:
    assert list(check(file, ast.parse(bad)))
    kept = file.replace("shed", "cycle")
    assert list(check(kept, ast.parse(good))) == []
