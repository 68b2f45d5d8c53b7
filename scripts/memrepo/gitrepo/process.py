"""Starting Git: one clean environment, plain words for every way in which it fails.

Git run from inside a hook inherits variables that point it at another repository or
another index. Those are dropped; what a person sets on purpose (identity, transport,
configuration) stays. Arguments are a list and never meet a shell.
"""

from __future__ import annotations

import os
import subprocess
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

import msgspec

from memrepo.errors import (
    GitFailed,
    MemrepoError,
    NotAMemoryRepo,
    PermissionDenied,
    RemoteFailed,
)

_KEPT = frozenset(
    {
        "GIT_ALLOW_PROTOCOL",
        "GIT_ASKPASS",
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
        "GIT_PROTOCOL_FROM_USER",
        "GIT_TEMPLATE_DIR",
    }
)
_KEPT_PREFIXES = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_CURL_",
    "GIT_HTTP_",
    "GIT_PROXY_",
    "GIT_SSH",
    "GIT_SSL_",
    "GIT_TRACE",
)
_FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",  # a path from memory is never pathspec magic
    "GIT_NO_REPLACE_OBJECTS": "1",  # what is stored, not what a replace ref shows instead
    "GIT_OPTIONAL_LOCKS": "0",  # reading never rewrites the index
}

_DENIED = (
    "permission denied",
    "authentication failed",
    "could not read username",
    "could not read password",
    "terminal prompts disabled",
    "invalid credentials",
    "the requested url returned error: 401",
    "the requested url returned error: 403",
    "host key verification failed",
    "access denied",
    "operation not permitted",
    "read-only file system",
)
_REMOTE = (
    "could not read from remote repository",
    "does not appear to be a git repository",
    "unable to access",
    "could not resolve host",
    "connection refused",
    "connection timed out",
    "connection reset",
    "the remote end hung up",
    "unable to connect",
    "early eof",
    "repository not found",
    "no such remote",
    "couldn't find remote ref",
    "unexpected disconnect",
    "rpc failed",
    "transport '",
)


class GitResult(msgspec.Struct, frozen=True):
    """What one Git process left: exit code, standard output and standard error as bytes."""

    code: int
    out: bytes
    err: bytes


def git_env(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for Git: the caller's, without what names another repository."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or key in _KEPT or key.startswith(_KEPT_PREFIXES)
    }
    env.update(_FIXED)
    if extra:
        env.update(extra)
    return env


def run_git(
    args: Sequence[str],
    *,
    cwd: Path,
    input: bytes | None = None,  # noqa: A002 (the name that subprocess uses)
    env: Mapping[str, str] | None = None,
    check: bool = True,
    timeout: float | None = None,
) -> GitResult:
    """Run ``git ARGS`` in ``cwd`` and return what it left.

    ``env`` is added to the cleaned environment; ``timeout`` is in seconds. With
    ``check``, a failure raises the class that fits: NotAMemoryRepo, PermissionDenied,
    RemoteFailed or GitFailed. A missing ``git`` or ``cwd`` always raises.
    """
    command = ["git", *args]
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            env=git_env(env),
            timeout=timeout,
        )
    except OSError as error:
        raise start_failure(error, cwd) from None
    except subprocess.TimeoutExpired:
        raise RemoteFailed(
            f"git {verb(args)} gave no answer within {timeout:.0f} seconds",
            "check the connection to the remote, then run the command again",
        ) from None
    result = GitResult(done.returncode, done.stdout, done.stderr)
    if check and result.code != 0:
        raise failure(args, result, cwd)
    return result


class Running:
    """A Git process that stays: what it reads, what it prints, and how to end it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.stdin = cast(IO[bytes], process.stdin)
        self.stdout = cast(IO[bytes], process.stdout)

    def finish(self) -> GitResult:
        """Wait for its end: the exit code and what it said on standard error."""
        err = self._process.stderr.read() if self._process.stderr else b""
        self.stop()
        return GitResult(self._process.returncode, b"", err)

    def stop(self) -> None:
        """End it, whatever it is doing."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def start_git(args: Sequence[str], *, cwd: Path, stderr: bool = False) -> Running:
    """Start a Git process that stays, with pipes (for standard error only when asked)."""
    try:
        return Running(
            subprocess.Popen(
                ["git", *args],
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if stderr else subprocess.DEVNULL,
                env=git_env(),
                bufsize=1 << 16,
            )
        )
    except OSError as error:
        raise start_failure(error, cwd) from None


def caller_value(name: str) -> str:
    """A variable of the caller's environment, or "" (no other module of this room reads it)."""
    return os.environ.get(name, "")


def caller_values(prefix: str) -> list[str]:
    """What every variable of the caller's environment whose name begins so holds."""
    return [value for name, value in sorted(os.environ.items()) if name.startswith(prefix)]


def start_failure(error: OSError, cwd: Path) -> MemrepoError:
    """The words for a process that could not even start."""
    if not Path(cwd).is_dir():
        return NotAMemoryRepo(f"{plain(str(cwd))} is not a folder", "check the path")
    if isinstance(error, FileNotFoundError):
        return GitFailed("git was not found on PATH", "install Git 2.34 or newer")
    if isinstance(error, PermissionError):
        return PermissionDenied(
            f"git could not be started in {plain(str(cwd))}: permission denied",
            "check who owns the folder and the git program",
        )
    return GitFailed(f"git could not be started: {plain(str(error))}")


def failure(args: Sequence[str], result: GitResult, cwd: Path) -> MemrepoError:
    """The error class and the words for a Git process that ended with a failure."""
    text = result.err.decode("utf-8", "replace").strip()
    low = text.lower()
    what = f"git {verb(args)} failed: {reason(text) or f'exit code {result.code}'}"
    if "dubious ownership" in low or "unsafe repository" in low:
        place = plain(str(cwd))
        return PermissionDenied(
            f"the repository at {place} belongs to another user, so Git refuses to read it",
            f"if you trust it: git config --global --add safe.directory {place}",
        )
    if "not a git repository" in low and "remote" not in low:
        return NotAMemoryRepo(
            f"{plain(str(cwd))} is not inside a Git repository",
            "run memrepo init there, or give the right --repo-path",
        )
    if any(word in low for word in _DENIED):
        return PermissionDenied(what, "check your access rights and credentials")
    if any(word in low for word in _REMOTE):
        return RemoteFailed(what, "check the remote's address and that it can be reached")
    return GitFailed(what)


def verb(args: Sequence[str]) -> str:
    """The Git subcommand in ``args``, past ``-c name=value`` and other leading options."""
    index = 0
    while index < len(args) and args[index].startswith("-"):
        index += 2 if args[index] in ("-c", "-C") else 1
    return args[index] if index < len(args) else ""


def reason(text: str) -> str:
    """The line of Git's own text that says why, shortened and made safe to print."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for mark in ("fatal: ", "error: ", "remote: "):
        for line in lines:
            if line.startswith(mark):
                return plain(line[len(mark) :])
    return plain(lines[-1]) if lines else ""


def plain(text: str, limit: int = 400) -> str:
    """Text from elsewhere on one line: control, format and surrogate characters shown as U+XXXX."""
    shown = "".join(
        char
        if char == " " or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else f"<U+{ord(char):04X}>"
        for char in text[:limit]
    )
    return shown if len(text) <= limit else shown + "…"
