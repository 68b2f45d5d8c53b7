"""Run every question and write the table in README.md anew.

With names, only the rows of those questions are replaced. A try-out (``--small``) is printed
and not written.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from . import measure

README = Path(__file__).resolve().parent / "README.md"
#: In the order of the table.
QUESTIONS = (
    "validate",
    "history",
    "review",
    "commit",
    "bulk",
    "revert",
    "concurrent_push",
    "archive",
    "merge",
    "knowledge",
    "rollout",
    "records",
    "mcp_answers",
    "cold_start",
)
_TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end -->)", re.DOTALL)


def ask(name: str, options: list[str]) -> list[measure.Row]:
    """The rows of one question, asked in a process of its own."""
    print(f"== {name}", file=sys.stderr, flush=True)
    began = time.monotonic()
    command = [sys.executable, "-m", f"bench.{name}", "--json", *options]
    done = subprocess.run(command, cwd=measure.ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed with exit {done.returncode}")
    print(f"-- {name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return [msgspec.json.decode(line, type=measure.Row) for line in done.stdout.splitlines()]


def lines_of(table: str, question: str) -> list[str]:
    """The lines of a written table that answer ``question``."""
    return [line for line in table.splitlines() if line.startswith(f"| {question} |")]


def surroundings() -> str:
    """What the numbers were measured with."""
    version = measure.call("git", "--version").decode().split()[2]
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, Git {version}."


def main() -> None:
    """Parse, ask, write."""
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(QUESTIONS))
    parser.add_argument("--small", action="store_true", help="a try-out")
    parser.add_argument("--rounds", type=int, help="how often each way takes its turn")
    given = parser.parse_args()
    unknown = sorted(set(given.names) - set(QUESTIONS))
    if unknown:
        parser.error(f"no question {', '.join(unknown)}; there are {', '.join(QUESTIONS)}")
    options = ["--small"] if given.small else []
    options += ["--rounds", str(given.rounds)] if given.rounds else []
    for name in given.names or QUESTIONS:
        rows = ask(name, options)
        print(measure.table(rows), flush=True)
        if not given.small:
            write(name, rows)


def write(name: str, rows: list[measure.Row]) -> None:
    """Put the rows of one question in the place of its old ones."""
    text = README.read_text(encoding="utf-8")
    found = _TABLE.search(text)
    if found is None:
        raise SystemExit(f"{README} has lost the marks of its table")
    heading, rule, *lines = measure.table(rows).splitlines()
    kept = [
        line
        for question in QUESTIONS
        for line in (lines if question == name else lines_of(found.group(), title(question)))
    ]
    table = "\n".join([surroundings(), "", heading, rule, *kept, ""])
    README.write_text(_TABLE.sub(lambda _: table, text), encoding="utf-8")


def title(name: str) -> str:
    """A question's name as the table writes it."""
    return name.replace("_", " ")


if __name__ == "__main__":
    main()
