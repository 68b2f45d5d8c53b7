"""Reads the Markdown pages and plays them: every command they show is run, for real.

What a page may hold, and what is done with it (docs/README.md tells the writers):

- A ``console`` block: lines that begin with ``$ `` are commands, ``> `` continues one, and the
  rest is what it prints. All blocks of a page run in one shell on a terminal of 88 columns, in
  an empty folder. A command that fails is followed by ``$ echo $?`` and its exit code.
- Any other block under a line that ends in `` `some/path`: `` is that file, and is written.
- A ``python`` block runs where the shell stands, after those before it; a ``text`` block right
  below it is what it prints.
- ``<!-- setup`` begins commands, one a line, that a reader does not see; ``-->`` ends them.
- ``<!-- goes on from other.md -->``: that page is played first.

Of what is printed, ``…`` stands for anything, alone in a line (or ``# …``) for any lines. A
commit id stands for whatever id is there, the same each time, also in later commands. A time of
this very hour may be any other in the page; any other time stands for itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
COLUMNS = 88

_FENCE = re.compile(r"```(\w*)\s*")
_GOES_ON = re.compile(r"<!-- goes on from (\S+) -->")
_LABEL = re.compile(r"`([^`\s]+)`:$")
_ID = r"(?=\d*[a-f])[0-9a-f]{7,64}"
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)"
_STAMP = r"\d{8}-\d{6}"
_TOKEN = re.compile(rf"…|\b(?:{_TIME}|{_STAMP}|{_ID})\b")
_END = "\x1e"


class Block(msgspec.Struct, frozen=True):
    """One fenced block: ``kind`` is its language, ``path`` the file it is, "" for none."""

    kind: str
    text: str
    line: int
    path: str = ""
    after_python: bool = False


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page in order.

    ``kind`` is "setup" for what a reader does not see, "after" for the name of another page.
    """
    found: list[Block] = []
    inside: list[str] | None = None
    kind, start, last = "", 0, ""
    label: re.Match[str] | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if inside is not None:
            if line == ("-->" if kind == "setup" else "```"):
                text = "".join(f"{one}\n" for one in inside)
                path = label[1] if label and kind != "console" else ""
                found.append(Block(kind, text, start, path, last == "python"))
                last, label, inside = kind, None, None
            else:
                inside.append(line)
        elif line == "<!-- setup":
            inside, kind, start = [], "setup", number
        elif other := _GOES_ON.fullmatch(line):
            found.append(Block("after", other[1], number))
        elif fence := _FENCE.fullmatch(line):
            inside, kind, start = [], fence[1], number
        elif line.strip():
            label, last = _LABEL.search(line), ""
    assert inside is None, f"{page.name}:{start}: this block has no end"
    return found


class Command(msgspec.Struct):
    """One command of a console block and the lines it is said to print."""

    text: str
    line: int
    output: list[str]


def commands(block: Block) -> list[Command]:
    """What a console block runs."""
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if line.startswith("$ "):
            found.append(Command(line[2:], number, []))
        elif (line.startswith("> ") or line == ">") and found and not found[-1].output:
            found[-1].text += f"\n{line[2:]}"
        else:
            assert found, f"line {number}: output before any command"
            found[-1].output.append(line)
    return found


class Shell:
    """One bash on a terminal of its own, whose folder and variables last."""

    def __init__(self, folder: Path) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        modes = termios.tcgetattr(theirs)
        modes[1] &= ~termios.OPOST
        termios.tcsetattr(theirs, termios.TCSANOW, modes)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "NO_COLOR": "1", "GIT_PAGER": "cat", "TERM": "dumb"}
        self.folder = folder
        self._ours = ours
        self._bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=folder,
            env={**env, "COLUMNS": str(COLUMNS)},
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=theirs,
            text=True,
        )
        os.close(theirs)

    def run(self, command: str) -> tuple[list[str], int]:
        """What a command prints, as lines, and its exit code."""
        assert self._bash.stdin
        last = "__status=$?"
        quoted = "'" + command.replace("'", "'\\''") + "'"
        self._bash.stdin.write(f"(exit $__status); eval {quoted} </dev/null\n{last}\n")
        self._bash.stdin.write(f'printf \'{_END}%s %s{_END}\' "$__status" "$PWD"\n')
        self._bash.stdin.flush()
        printed = b""
        while printed.count(_END.encode()) < 2:
            printed += os.read(self._ours, 65536)
        text, told, _ = printed.decode("utf-8", "replace").split(_END)
        status, _, folder = told.partition(" ")
        self.folder = Path(folder)
        return text.rstrip().splitlines(), int(status)

    def close(self) -> None:
        """End the shell."""
        assert self._bash.stdin
        self._bash.stdin.close()
        self._bash.wait()
        os.close(self._ours)


class Player:
    """Plays one page in an empty folder and says what did not go as it says."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.shell = Shell(folder)
        self.known: dict[str, str] = {}
        self.names: dict[str, Any] = {}

    def play(self) -> str:
        """The first difference between the page and what happens; "" where all is as shown."""
        try:
            return next(self._play(self.page), "")
        finally:
            self.shell.close()

    def _play(self, page: Path) -> Iterator[str]:
        for block in blocks(page):
            self.page = page
            yield from self._block(block)

    def _block(self, block: Block) -> Iterator[str]:
        if block.path:
            target = self.shell.folder / block.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8", newline="\n")
        elif block.kind == "console":
            yield from self._console(block)
        elif block.kind == "after":
            yield from self._play(self.page.parent / block.text)
        elif block.kind == "setup":
            for line in block.text.splitlines():
                printed, status = self.shell.run(line)
                if status:
                    yield self._said(block.line, f"the set-up failed at {line!r}", printed)
        elif block.kind == "python":
            self._python(block)
        elif block.kind == "text" and block.after_python:
            yield from self._compared(
                block.line, block.text.splitlines(), self.names["__printed__"]
            )

    def _console(self, block: Block) -> Iterator[str]:
        listed = commands(block)
        for place, command in enumerate(listed):
            printed, status = self.shell.run(self._translated(command.text))
            following = listed[place + 1].text if place + 1 < len(listed) else ""
            if status and following != "echo $?":
                yield self._said(command.line, f"ends with {status}, which is not shown", printed)
            yield from self._compared(command.line, command.output, printed)

    def _python(self, block: Block) -> None:
        printed = io.StringIO()
        code = compile("\n" * block.line + block.text, str(self.page), "exec")
        with contextlib.chdir(self.shell.folder), contextlib.redirect_stdout(printed):
            exec(code, self.names)  # noqa: S102 (the page is ours)
        self.names["__printed__"] = printed.getvalue().splitlines()

    def _compared(self, line: int, expected: list[str], printed: list[str]) -> Iterator[str]:
        while expected and not expected[-1].strip():
            expected = expected[:-1]
        if not self._fits(expected, printed):
            yield self._said(line, "prints something else", printed)

    def _said(self, line: int, what: str, printed: list[str]) -> str:
        return "\n".join([f"{self.page.name}:{line}: {what}:", *printed])

    def _fits(self, expected: list[str], printed: list[str]) -> bool:
        place, skipping = 0, False
        for line in expected:
            if line.strip() in ("…", "# …"):
                skipping = True
                continue
            while place < len(printed) and skipping and not self._line_fits(line, printed[place]):
                place += 1
            if place == len(printed) or not self._line_fits(line, printed[place]):
                return False
            place, skipping = place + 1, False
        return skipping or place == len(printed)

    def _line_fits(self, expected: str, printed: str) -> bool:
        pattern, tokens, end = "", [], 0
        for token in _TOKEN.finditer(expected):
            pattern += re.escape(expected[end : token.start()])
            end = token.end()
            word = token[0]
            if word == "…":
                pattern += ".*?"
                continue
            tokens.append(word)
            shape = _TIME if re.fullmatch(_TIME, word) else _STAMP
            if re.fullmatch(_ID, word):
                shape = rf"[0-9a-f]{{{len(word)}}}"
            pattern += f"({shape})"
        found = re.fullmatch(pattern + re.escape(expected[end:].rstrip()), printed.rstrip())
        if not found:
            return False
        met = dict(zip(tokens, found.groups(), strict=True))
        if not all(self._same(word, real) for word, real in met.items()):
            return False
        self.known.update({w: r for w, r in met.items() if re.fullmatch(_ID, w)})
        return True

    def _same(self, word: str, real: str) -> bool:
        if not re.fullmatch(_ID, word):
            return word == real or _is_now(real)
        for other, known in self.known.items():
            length = min(len(word), len(other))
            if (word[:length] == other[:length]) != (real[:length] == known[:length]):
                return False
        return True

    def _translated(self, command: str) -> str:
        """The command with the page's ids replaced by those that are there."""

        def real(match: re.Match[str]) -> str:
            word = match[0]
            longer = (r[: len(word)] for w, r in self.known.items() if w.startswith(word))
            return next(longer, word)

        return re.sub(rf"\b{_ID}\b", real, command)


def _is_now(text: str) -> bool:
    if re.fullmatch(_STAMP, text):
        when = datetime.strptime(text, "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    else:
        when = datetime.fromisoformat(text)
    return abs(when - datetime.now(UTC)) < timedelta(hours=1)
