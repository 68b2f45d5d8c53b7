"""Whatever the bytes: words and an exit code, an end, and a repository that is as it was."""

from __future__ import annotations

import json
import string
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from commandline import everything, memrepo, memrepo_process
from repositories import GitRepo, new_memory_repo, new_repo

#: A failing example of many commands takes minutes to shrink.
NO_SHRINKING = (Phase.explicit, Phase.generate)
SNAPSHOT = "history/20260301-120000-bot.json"
POLICY = ".memrepo/policy.yml"
#: Every kind of file, by the path at which it lies.
KINDS = (
    "state/bot/context.json",
    "state/bot/tools.json",
    "state/bot/metadata.json",
    SNAPSHOT,
    POLICY,
    "MEMORY.md",
)
PLAIN = {
    POLICY: b'limits: {context_turns: 9}\ntext:\n  allow: ["4111"]\nseverity: {secret: off}\n',
    "MEMORY.md": b"# What we know\n\n- the shop opens at nine\n- **never** say the word\n",
}
TOOL = {
    "name": "search",
    "description": "Finds orders by a shell glob.",
    "parameters": {
        "type": "object",
        "properties": {"q": {"type": ["string", "null"], "enum": ["a", None], "maxLength": 9}},
        "required": ["q"],
    },
}


def _good() -> dict[str, bytes]:
    context = [
        {"role": "user", "content": "Where is 4111?", "timestamp": "2026-03-01T11:59:00Z"},
        {"role": "assistant", "content": "Here ☀.", "timestamp": "2026-03-01T12:00:00Z"},
    ]
    metadata = {"agent_id": "bot", "version": "1.0.0", "last_updated": "2026-03-01T12:00:00Z"}
    parts: dict[str, Any] = {"context": context, "tools": [TOOL], "metadata": metadata}
    files = {f"state/bot/{name}.json": _json(part) for name, part in parts.items()}
    return files | {SNAPSHOT: _json(parts)} | PLAIN


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


GOOD = _good()

_PIECES = st.sampled_from(
    [
        b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u0000", b"\\ud800", b"\xff", b"\0",
        b"\r", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"NaN", b"-Infinity", b"1e999", b"-0", b"9" * 30,
        b"9" * 5000, b"1e-99999", b"null", b"[" * 200, b'{"a":' * 100, b"<<<<<<< ours\n",
        b"::error::x", b"\x1b[2J", b"&a *a", b"!!python/object:x", b"- " * 40, b"\t",
        b'"name": "name", ', b"password = hunter2hunter2", b"2026-13-01T00:00:00Z", b"a" * 9000,
    ]
)  # fmt: skip
_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
    | st.sampled_from(["role", "user", "content", "bot", "object", "$ref", "#", "1.0.0"])
)  # fmt: skip
_KEYS = st.sampled_from(
    "role content timestamp name description parameters agent_id version last_updated context tools"
    " metadata type properties anyOf limits".split()
) | st.text(max_size=5)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def mutated(draw: st.DrawFn, good: bytes) -> bytes:
    """A good file with a few pieces taken out, doubled, or put in."""
    data = good
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        end = draw(st.integers(at, min(len(data), at + 40)))
        piece = draw(_PIECES | st.binary(max_size=4) | st.just(data[at:end] * 2))
        data = data[:at] + piece + data[end:]
    return data


@st.composite
def replaced(draw: st.DrawFn, good: bytes) -> bytes:
    """A good JSON file in which some value is another one."""
    value = json.loads(good)
    holder, key = value, None
    for _ in range(draw(st.integers(1, 4))):
        inner = holder if key is None else holder[key]
        if not isinstance(inner, dict | list) or not inner:
            break
        holder = inner
        key = draw(
            st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder)))
        )
    new = draw(_VALUES)
    if key is None:
        value = new
    else:
        holder[key] = new
    return json.dumps(value, indent=draw(st.sampled_from([2, 2, None]))).encode() + b"\n"


def hostile(path: str) -> st.SearchStrategy[bytes]:
    """Bytes for the file at ``path``: near to good ones, and far from them."""
    good = GOOD[path]
    kinds = [
        mutated(good),
        st.integers(0, len(good)).map(lambda end: good[:end]),
        st.binary(max_size=80),
        _VALUES.map(lambda value: json.dumps(value).encode()),
    ]
    if path.endswith(".json"):
        kinds.append(replaced(good))
    return st.one_of(kinds)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    made = new_memory_repo(tmp_path_factory.mktemp("fuzz") / "memory", "other")
    for path, data in GOOD.items():
        made.write(path, data)
    made.commit("good")
    return made


@pytest.mark.parametrize("path", KINDS)
def test_no_bytes_on_disk_break_a_command_or_the_repository(path: str, repo: GitRepo) -> None:
    @settings(max_examples=25, phases=NO_SHRINKING)
    @given(hostile(path))
    def holds(data: bytes) -> None:
        repo.write(path, data)
        before = everything(repo)
        listed = memrepo(repo, "validate", "--json", "--fail-on", "never")
        assert listed.code == 0
        errors = [
            f for f in listed.json if f["severity"] == "error" and f["path"].startswith("state")
        ]
        compared = memrepo(repo, "diff", "--json")
        assert compared.code == 0
        assert compared.json.keys() == {"agents", "snapshots", "other"}
        assert everything(repo) == before
        done = memrepo(repo, "commit", "--agent-id", "bot", "-m", "x")
        if errors and path != POLICY:
            assert done.code == 1
            assert everything(repo) == before
        elif done.code == 0:
            assert data == GOOD[path] or path not in KINDS[:3] or repo.read(path) == data
        repo.git("reset", "--quiet", "--hard", start)
        repo.git("clean", "--quiet", "-dff")

    start = repo.head()
    holds()


def _import(repo: GitRepo, branch: str, parent: str, files: dict[bytes, bytes]) -> None:
    """One commit by ``git fast-import``: whatever Git can store, valid or not."""
    lines = [b"commit refs/heads/" + branch.encode(), b"committer A <a@e.org> 1772366400 +0000"]
    lines += [b"data 1", b"x", b"from " + parent.encode()]
    for path, data in files.items():
        quoted = b"".join(b"\\%03o" % byte for byte in path)
        lines += [b'M 100644 inline "' + quoted + b'"', b"data %d" % len(data), data]
    command = ["git", "fast-import", "--quiet", "--force"]
    subprocess.run(command, cwd=repo.path, input=b"\n".join([*lines, b""]), check=True)


_PATH_PARTS = st.sampled_from(
    [b"state", b"history", b".memrepo", b"bot", b"CON", b"-rf", b"$(touch x)", b"a\nb", b"\xff\xfe",
     b"::error::", b"`id`", b"context.json", b"2026", b"20260301-120000-bot.json", b"a" * 200,
     b"\xe2\x80\xae", b"<b>", b'"', b"'", b"\\", b" ", b"\x1b[31m", b"STATE",
     b"20260230-120000-bot.json", b"--upload-pack=x", b"con.json", b"|x|", b"%0A"]
) | st.binary(min_size=1, max_size=6)  # fmt: skip


def _storable(path: bytes) -> bool:
    parts = path.split(b"/")
    if parts[0] in (b"state", b"history") and len(parts) < 3:
        return False
    return not any(part in (b"", b".", b"..", b".git") or b"\0" in part for part in parts)


#: As many agents as there are bad files: each gets one of them.
_BAD_AGENTS = st.lists(
    st.sampled_from(KINDS[:4]).flatmap(lambda path: st.tuples(st.just(path), hostile(path))),
    min_size=4,
    max_size=8,
)
_ODD_FILES = st.dictionaries(
    st.lists(_PATH_PARTS, min_size=1, max_size=4).map(b"/".join).filter(_storable),
    st.binary(max_size=20) | hostile("MEMORY.md"),
    max_size=5,
)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    made = new_repo(tmp_path_factory.mktemp("fuzz") / "bare.git", bare=True)
    tree = made.git("mktree", text="")
    made.git("update-ref", "refs/heads/main", made.git("commit-tree", "-m", "root", tree))
    files: dict[bytes, bytes] = {}
    for number in range(8):
        for path in KINDS[:4]:
            name = path.replace("bot", f"bot{number}").encode()
            files[name] = GOOD[path].replace(b'"bot"', b'"bot%d"' % number)
    _import(made, "main", "main", files | {POLICY.encode(): PLAIN[POLICY]})
    return made


@settings(
    max_examples=4, phases=NO_SHRINKING, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(bad=_BAD_AGENTS, odd=_ODD_FILES, policy=hostile(POLICY))
def test_nothing_that_git_can_store_breaks_a_command(
    bad: list[tuple[str, bytes]],
    odd: dict[bytes, bytes],
    policy: bytes,
    bare: GitRepo,
    tmp_path: Path,
) -> None:
    files = {path.replace("bot", f"bot{n}").encode(): data for n, (path, data) in enumerate(bad)}
    inner = {p for path in files for p in _above(path)}
    odd = {path: data for path, data in odd.items() if path not in inner}
    taken = [path for path in odd for other in (*odd, *files) if path in _above(other)]
    odd = {path: data for path, data in odd.items() if path not in taken}
    _import(bare, "bad", "main", odd | files | {POLICY.encode(): policy})
    reports = [f"--{kind}={tmp_path / kind}" for kind in ("markdown", "html", "json")]
    before = bare.git("for-each-ref")
    reviewed = memrepo(bare, "review", "--base", "main", "--head", "bad", *reports)
    assert reviewed.code in (0, 1)
    assert msgspec.json.decode((tmp_path / "json").read_bytes())["verdict"] in (
        "pass",
        "warn",
        "fail",
    )
    for form in ("text", "json", "github", "sarif"):
        memrepo(bare, "validate", "--base", "main", "--head", "bad", "--format", form)
    assert memrepo(bare, "diff", "bad", "main", "--json").code == 0
    bare.git("symbolic-ref", "HEAD", "refs/heads/bad")
    for number in range(len(bad)):
        agent = ["--agent-id", f"bot{number}"]
        assert memrepo(bare, "show", *agent, "--json").code == 0
        assert memrepo(bare, "show", *agent).code == 0
        assert memrepo(bare, "blame", *agent, "--json").code == 0
        assert memrepo(bare, "history", *agent, "--json").json == []
        assert memrepo(bare, "revert", *agent, "--commit", "bad").code in (0, 2)
        memrepo(
            bare, "revert", *agent, "--commit", f"20260301-120000-bot{number}.json", "--dry-run"
        )
    assert bare.git("for-each-ref") == before
    for number in range(len(bad)):
        agent = ["--agent-id", f"bot{number}"]
        assert memrepo(bare, "revert", *agent, "--commit", "main").code == 0
        for path in KINDS[:3]:
            assert bare.read(path.replace("bot", f"bot{number}")) == bare.read(
                path.replace("bot", f"bot{number}"), "main"
            )
    bare.git("fsck", "--no-dangling")


def _above(path: bytes) -> Iterator[bytes]:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path


def _turns(number: int, **fields: str) -> bytes:
    turn = {"role": "user", "content": "", "timestamp": "2026-03-01T12:00:00Z"} | fields
    return json.dumps([turn] * number).encode()


def _wide(number: int, letter: str) -> bytes:
    names = {f"{letter}{n}": {"type": "string"} for n in range(number)}
    return json.dumps([TOOL | {"parameters": {"type": "object", "properties": names}}]).encode()


def _tools(number: int, letter: str) -> bytes:
    return json.dumps(
        [{**TOOL, "name": f"{letter}{n}", "parameters": {}} for n in range(number)]
    ).encode()


_CONTEXT, _TOOLS, _METADATA = KINDS[:3]
#: Files of up to a megabyte whose reading or comparing grows with a square, done naively.
HEAVY: dict[str, tuple[str, bytes]] = {
    "a million brackets": (_CONTEXT, b"[" * 500_000 + b"]" * 500_000),
    "too many numbers": (_CONTEXT, b"[" + b"0," * 400_000 + b"0]"),
    "empty objects": (_CONTEXT, b"[" + b"{}," * 330_000 + b"{}]"),
    "one key many times": (_METADATA, b"{" + b'"k":1,' * 150_000 + b'"k":1}'),
    "many unknown keys": (_METADATA, _json({f"agent_id{n}": 1 for n in range(50_000)})),
    "a long key": (_METADATA, b'{"' + b"agent_id" * 120_000 + b'": 1}'),
    "a long number": (_TOOLS, _json([TOOL]).replace(b"9", b"9" * 900_000)),
    "carriage returns": (_CONTEXT, b"\r" * 1_000_000),
    "bad times": (_CONTEXT, _turns(12_000, timestamp="")),
    "one name many times": (_TOOLS, json.dumps([TOOL | {"parameters": {}}] * 12_000).encode()),
    "sensitive words": ("MEMORY.md", b"password " * 110_000),
    "sensitive turns": (_CONTEXT, _turns(12_000, content="password")),
    "invisible": ("MEMORY.md", "\u200b".encode() * 330_000),
    "almost keys": ("MEMORY.md", b"-----BEGIN RSA PRIVATE KEY-----\n" * 30_000),
    "digits": ("MEMORY.md", b"4111 1111 1111 1111 " * 50_000),
    "base64": ("MEMORY.md", b"QUJD" * 250_000),
    "conflict marks": ("MEMORY.md", b"<<<<<<< \n" * 110_000),
    "policy": (POLICY, b"limits:\n" + b"  context_turn: 1\n" * 3_000),
    "deep policy": (POLICY, b"[" * 65_000),
}  # fmt: skip


@pytest.mark.parametrize("case", HEAVY)
def test_a_heavy_file_is_judged_before_anyone_thinks_it_hangs(case: str, repo: GitRepo) -> None:
    path, data = HEAVY[case]
    repo.write(path, data)
    before = everything(repo)
    if path in KINDS[:3]:
        assert memrepo(repo, "commit", "--agent-id", "bot", "-m", "x").code == 1
    else:
        assert memrepo(repo, "validate", repo.path / path).code in (0, 1)
    assert everything(repo) == before
    repo.git("reset", "--quiet", "--hard")


#: Two versions whose comparison grows with a square, done naively.
HEAVY_CHANGES: dict[str, tuple[str, bytes, bytes]] = {
    "other turns": (_CONTEXT, _turns(8_000, content="a"), _turns(8_000, content="b")),
    "one long turn": (_CONTEXT, _turns(1, content="a b " * 200_000), _turns(1, content="b c " * 9)),
    "one other turn": (_CONTEXT, _turns(1, content="ab " * 99_999), _turns(1, content="b" * 9999)),
    "every tool renamed": (_TOOLS, _tools(4_000, "a"), _tools(4_000, "b")),
    "every parameter renamed": (_TOOLS, _wide(12_000, "a"), _wide(12_000, "b")),
    "every line": ("MEMORY.md", b"a\nb\n" * 200_000, b"b\na\nc\n" * 150_000),
}  # fmt: skip


@pytest.mark.parametrize("case", HEAVY_CHANGES)
def test_a_heavy_change_is_reviewed_before_anyone_thinks_it_hangs(
    case: str, repo: GitRepo, tmp_path: Path
) -> None:
    path, old, new = HEAVY_CHANGES[case]
    start = repo.head()
    for data in (old, new):
        repo.write(path, data)
        repo.commit("heavy")
    page, text = tmp_path / "page.html", tmp_path / "text.md"
    assert memrepo(repo, "review", "--base", "HEAD~1", "--html", page, "--markdown", text).code in (
        0,
        1,
    )
    repo.git("reset", "--quiet", "--hard", start)


#: Fragments of what a shell, Git or click could take for more than a word.
_WORDS = st.text(string.printable, max_size=30) | st.sampled_from(
    ["--upload-pack=touch x", "-n", "--", "", "$(touch x)", "HEAD~99", "@{u}", ":/", "^",
     "HEAD^{tree}", "HEAD:state", "main..HEAD", "a" * 5000, "\udcff", "refs/heads/../x",
     "20260301-120000-bot.json", "history/20260301-120000-other.json", "2026-01-01",
     "7d", "99999999w", "0001-01-01T00:00:00Z"]
)  # fmt: skip


@settings(max_examples=20, phases=NO_SHRINKING)
@given(word=_WORDS)
@example(word="9999-12-31T23:59:59Z")
@example(word="0001-01-01")
def test_no_word_in_an_option_breaks_a_command(word: str, repo: GitRepo) -> None:
    before = everything(repo)
    bot = ["--agent-id", "bot"]
    for command in (
        ["show", *bot, "--commit", word],
        ["blame", *bot, "--commit", word],
        ["history", *bot, "--since", word],
        ["revert", *bot, "--commit", word, "--dry-run"],
        ["commit", *bot, "-m", "x", "--at", word, "--dry-run"],
        ["history", "--agent-id", word],
        ["commit", "-m", "x", "--agent-id", word, "--dry-run"],
        ["review", "--base", word],
        ["validate", "--base", "HEAD", "--head", word],
        ["diff", "--", word],
        ["validate", "--", word],
    ):
        ran = memrepo(repo, *command)
        assert ran.code in (0, 1, 2)
        assert ran.code != 2 or len(ran.err.splitlines()) < 20
    assert everything(repo) == before


@pytest.mark.parametrize(
    ("path", "data"),
    [(_TOOLS, b"\xff\xfe"), (_CONTEXT, b"[" * 100_000), (POLICY, b"&a [*a]"), (_METADATA, b"{}")],
)
def test_a_real_process_says_the_same(path: str, data: bytes, repo: GitRepo) -> None:
    repo.write(path, data)
    seen = memrepo_process(repo.path, "validate", "--json")
    assert seen.code == 1
    assert seen.out == memrepo(repo, "validate", "--json").out
    repo.git("reset", "--quiet", "--hard")
