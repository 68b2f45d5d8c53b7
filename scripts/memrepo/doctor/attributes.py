"""Decide what is wrong with attributes, line ends and drivers. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator

from memrepo.doctor.facts import PROBES, Facts, Worktree
from memrepo.doctor.problem import Problem, SetConfig, WriteFile, WriteLf, count, problem, some
from memrepo.errors import BadInput
from memrepo.protocol.block import with_block_last
from memrepo.protocol.defaults import ATTRIBUTES_BLOCK, driver_config, driver_program

Values = dict[str, str]

_PATH = ".gitattributes"
_OWN = "memrepo"
_NO_NAME = ("set", "unset", "unspecified")
TRUE = ("true", "yes", "on", "1")
# Drivers that Git brings along (gitattributes: defining a custom hunk-header).
_GIT_DIFF = frozenset(
    [
        *("ada", "bash", "bibtex", "cpp", "csharp", "css", "default", "dts", "elixir"),
        *("fortran", "fountain", "golang", "html", "ini", "java", "kotlin", "markdown"),
        *("matlab", "objc", "pascal", "perl", "php", "python", "ruby", "rust", "scheme", "tex"),
    ]
)
_GIT_MERGE = frozenset(["text", "binary", "union"])


def attribute_problems(facts: Facts, tree: Worktree) -> Iterator[Problem]:
    """What attributes and the settings behind them do to memory files."""
    fix, repair = _block(tree)

    def binary(values: Values) -> str:
        told = [f"-{name}" for name in ("text", "diff", "merge") if values[name] == "unset"]
        return ", ".join(told + (["merge=binary"] if values["merge"] == "binary" else []))

    def binary_driver(values: Values) -> str:
        key = f"diff.{values['diff']}.binary"
        return f"{key} is true" if facts.config.get(key, [""])[-1].lower() in TRUE else ""

    def filtered(values: Values) -> str:
        told = [
            f"{name}={values[name]}"
            for name in ("filter", "working-tree-encoding")
            if values[name] not in ("unset", "unspecified")
        ]
        return ", ".join(told + (["ident"] if values["ident"] == "set" else []))

    def crlf(values: Values) -> str:
        return "eol=crlf" if values["eol"] == "crlf" and values["text"] != "unset" else ""

    def union(values: Values) -> str:
        return "merge=union" if values["merge"] == "union" else ""

    def config_crlf(values: Values) -> str:
        return _crlf_setting(facts, values) if _follows_config(values) else ""

    for name, test in (
        ("attributes-binary", binary),
        ("attributes-crlf", crlf),
        ("attributes-union", union),
        ("config-crlf", config_crlf),
    ):
        told = _told(tree, test)
        if told:
            yield problem(name, told, repair, fix)
    told = _told(tree, binary_driver)
    if told:
        yield problem("attributes-binary", told, "unset that with git config --unset")
    told = _told(tree, filtered)
    if told:
        yield problem("attributes-filter", told)
    loose = _told(tree, lambda v: "no eol=lf" if _follows_config(v) else "")
    if loose and not _told(tree, config_crlf):
        yield problem("attributes-unpinned", loose, repair, fix)
    if tree.crlf:
        yield _crlf_files(tree)


def _told(tree: Worktree, test: Callable[[Values], str]) -> str:
    """One line on the files for which ``test`` finds something to say, or ""."""
    found = [(group, said) for group in tree.attributes if (said := test(group.values))]
    if not found:
        return ""
    paths = sum(group.count for group, _ in found)
    group, said = found[0]
    more = f" and {count(paths - 1, 'more file')}" if paths > 1 else ""
    return f"{PROBES.get(group.example, group.example)}{more}: {said}"


def _follows_config(values: Values) -> bool:
    """Whether no attribute says how lines end, so that ``core.autocrlf`` and others do."""
    return values["eol"] not in ("lf", "crlf") and values["text"] != "unset"


def _crlf_setting(facts: Facts, values: Values) -> str:
    """The setting that checks such a file out with CRLF (git-config: core.autocrlf, core.eol)."""
    autocrlf = facts.config.get("core.autocrlf", ["false"])[-1].lower()
    if autocrlf in TRUE:
        return "core.autocrlf is true"
    is_text = values["text"] != "unspecified"
    eol = facts.config.get("core.eol", ["native"])[-1].lower()
    return "core.eol is crlf" if eol == "crlf" and is_text and autocrlf != "input" else ""


def _block(tree: Worktree) -> tuple[WriteFile | None, str]:
    """The repair that puts memrepo's block last, and what to do in words."""
    commit = f"memrepo doctor --fix, then git add {_PATH} and commit it for the other clones"
    if tree.attributes_blocked:
        return None, f"{_PATH} is no plain file: put one in its place, then memrepo doctor --fix"
    before = tree.attributes_file
    try:
        after = with_block_last(before or b"", ATTRIBUTES_BLOCK.encode(), _PATH)
    except BadInput as error:
        return None, f"{error.message}: {error.hint}, then memrepo doctor --fix"
    if after != before:
        return WriteFile(_PATH, before, after), commit
    where = some(list(tree.overriding)) or "another attributes file"
    return None, f"memrepo's block is in place, but {where} wins over it: remove the rule there"


def _crlf_files(tree: Worktree) -> Problem:
    safe = {path: oid for path, oid in tree.crlf.items() if oid}
    others = [path for path, oid in tree.crlf.items() if not oid]
    what = f"CRLF line ends in {some(list(tree.crlf))}"
    if not others:
        return problem("worktree-crlf", what, "memrepo doctor --fix", WriteLf(safe))
    repair = f"they differ from what is committed, so write them with LF yourself: {some(others)}"
    return problem("worktree-crlf", what, repair, WriteLf(safe) if safe else None)


def driver_problems(facts: Facts, tree: Worktree) -> Iterator[Problem]:
    """Drivers that attributes name for memory and that this clone cannot run as meant."""
    named = {
        kind: sorted({group.values[kind] for group in tree.attributes} - {*_NO_NAME})
        for kind in ("diff", "merge")
    }
    if _OWN in named["diff"] or _OWN in named["merge"]:
        yield from _own_drivers(facts)
    for name in named["diff"]:
        if name not in (_OWN, *_GIT_DIFF) and not _section(facts, "diff", name):
            what = f"the diff driver {name} is not set up in this clone"
            repair = f"git config {shlex.quote(f'diff.{name}.xfuncname')} …, or remove the rule"
            yield problem("driver-unregistered", what, repair)
    for name in named["merge"]:
        if name in (_OWN, *_GIT_MERGE):
            continue
        section = _section(facts, "merge", name)
        if section and f"merge.{name}.driver" not in section:
            what = f"the merge driver {name} has a section in the configuration and no command"
            repair = f"git config --remove-section {shlex.quote(f'merge.{name}')}"
            yield problem("driver-broken", what, repair)
        elif not section:
            what = f"the merge driver {name} is not set up in this clone"
            repair = f"git config {shlex.quote(f'merge.{name}.driver')} …, or remove the rule"
            yield problem("driver-unregistered", what, repair)


def _own_drivers(facts: Facts) -> Iterator[Problem]:
    """What memrepo's own drivers lack in this clone."""
    wanted = driver_config(facts.command)
    missing = {key: value for key, value in wanted.items() if key not in facts.config}
    driver = f"merge.{_OWN}.driver"
    if driver in missing and _section(facts, "merge", _OWN):
        # Git then stops every merge; without the section it would merge lines.
        what = f"the merge driver {_OWN} has a section in the configuration and no command"
        yield problem("driver-broken", what, "memrepo doctor --fix", SetConfig(missing))
    elif missing:
        what = f"memrepo's drivers are not set up in this clone: {some(list(missing))}"
        yield problem("driver-unregistered", what, "memrepo doctor --fix", SetConfig(missing))
    if not facts.driver_starts:
        gone = driver_program(facts.config[driver][-1])
        what = f"the merge driver {_OWN} starts {gone or 'a command'}, which is not there"
        again = {key: wanted[key] for key in (driver, f"diff.{_OWN}.textconv")}
        yield problem("driver-broken", what, "memrepo doctor --fix", SetConfig(again))


def _section(facts: Facts, kind: str, name: str) -> list[str]:
    return [key for key in facts.config if key.rpartition(".")[0] == f"{kind}.{name}"]
