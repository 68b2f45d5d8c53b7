"""Where the demo plays: a folder of its own, and commands that are shown before they run."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "demo"
MARKER = ".made-by-scripts-demo"

# A person's own Git settings (signing, hooks, another default branch) would change the story.
_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "init.defaultBranch",
    "GIT_CONFIG_VALUE_0": "main",
    "GIT_AUTHOR_NAME": "Demo Person",
    "GIT_AUTHOR_EMAIL": "demo@example.org",
    "GIT_COMMITTER_NAME": "Demo Person",
    "GIT_COMMITTER_EMAIL": "demo@example.org",
    "GIT_TERMINAL_PROMPT": "0",
}


class Failed(Exception):
    """The demo did not go as the story says."""


def prepare() -> Path:
    """An empty ``build/demo``; what an earlier demo left there is deleted, nothing else ever is."""
    if FOLDER.is_symlink() or (FOLDER.exists() and not (FOLDER / MARKER).is_file()):
        raise Failed(f"{FOLDER} is there, and no demo made it: move it away, then try again")
    if FOLDER.exists():
        shutil.rmtree(FOLDER)
    FOLDER.mkdir(parents=True)
    (FOLDER / MARKER).write_text("scripts/demo deletes this folder when it runs again.\n")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    os.environ.update(_GIT)
    # The story says "memrepo", and means the one of this checkout.
    os.environ["PATH"] = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    os.chdir(ROOT)
    return FOLDER.relative_to(ROOT)


def say(text: str) -> None:
    """Tell a part of the story."""
    print(f"\n# {text}", flush=True)


def run(*command: str, expect: int = 0, lines: int = 14) -> str:
    """Show a command, run it, show the first ``lines`` of what it prints, and answer all of it.

    Raises ``Failed`` when it ends with another exit code than ``expect``.
    """
    print(f"$ {shlex.join(command)}", flush=True)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
    )
    shown = done.stdout.splitlines()
    cut = lines if done.returncode == expect else len(shown)
    print("".join(f"{line}\n" for line in shown[:cut]), end="")
    if len(shown) > cut:
        print(f"[{len(shown) - cut} more lines]")
    sys.stdout.flush()
    if done.returncode != expect:
        raise Failed(f"the command above ended with exit code {done.returncode}, not {expect}")
    return done.stdout


def read(*command: str) -> bytes:
    """What a command prints, without showing it; for the demo's own checks."""
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(command)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def check(holds: bool, what: str) -> None:
    """Say that something was looked at and holds; raises ``Failed`` when it does not."""
    if not holds:
        raise Failed(f"this does not hold: {what}")
    print(f"  checked: {what}", flush=True)
