"""Where ``scripts/install-rig`` has put what the rig runs, and how it is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
RIG = ROOT / "build" / "rig"
BIN = RIG / "venv" / "bin"
ACT = BIN / "act"
# A folder that holds uv and nothing else, for the PATH of jobs that are to have it.
UV = RIG / "uv"
EMULATE = RIG / "node" / "node_modules" / "emulate" / "dist" / "api.js"
LANGUAGE_SERVICE = RIG / "node" / "language-service.cjs"
STANDINS = ROOT / "tests" / "actions" / "standins"
# RUNNER_TOOL_CACHE of the jobs: kept from run to run, as on a self-hosted runner.
TOOL_CACHE = RIG / "tool_cache"

# What a job's environment takes over from this machine: the language, and where packages come
# from. All else would leak into the steps.
_TAKEN_OVER = ("LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_TAKEN_OVER_FAMILIES = ("PIP_", "UV_")


def missing() -> str:
    """Why the rig cannot run here, for a person; empty where it can."""
    if shutil.which("node") is None:
        return "node was not found (install node 20 or newer and npm, then run scripts/install-rig)"
    if not (RIG / "complete").is_file():
        return "the rig is not set up (run scripts/install-rig)"
    return ""


def machine_environment(*folders: Path) -> dict[str, str]:
    """An environment with nothing of the caller's but a PATH, led by ``folders``."""
    environ = {
        name: value
        for name, value in os.environ.items()
        if name.upper() in _TAKEN_OVER or name.startswith(_TAKEN_OVER_FAMILIES)
    }
    own = [part for part in os.get_exec_path() if not Path(part).is_relative_to(ROOT)]
    return {**environ, "PATH": os.pathsep.join([*map(str, folders), *own])}


def run(
    *command: str | Path, cwd: Path, env: Mapping[str, str] | None = None, check: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and answer what it said; ``check`` makes a failure a test error."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise AssertionError(f"{' '.join(map(str, command))}: {said}")
    return done


def git(cwd: Path, *args: str, text: bytes | None = None, check: bool = True) -> bytes:
    """What Git prints; the configuration of this machine has no say. ``text`` is its input."""
    environ = {
        **machine_environment(),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": str(cwd),
        "TZ": "UTC",
    }
    done = subprocess.run(["git", *args], cwd=cwd, env=environ, input=text, capture_output=True)
    if check and done.returncode != 0:
        raise AssertionError(
            f"git {' '.join(args)}: {done.stderr.decode(errors='replace').strip()}"
        )
    return done.stdout


def git_line(cwd: Path, *args: str, check: bool = True) -> str:
    """The same as text, without the blank at its end; empty where ``check`` is off and it fails."""
    return git(cwd, *args, check=check).decode().strip()
