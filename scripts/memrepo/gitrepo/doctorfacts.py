"""What ``doctor`` asks Git about a clone. Reads only, but for ``set_local``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .paths import path_bytes, path_text
from .process import failure, run_git

if TYPE_CHECKING:
    from .repository import Repository

_NO_IDENTITY = ["-c", "user.useConfigOnly=true", "var"]


def attributes(
    repo: Repository, paths: Iterable[str], names: Sequence[str]
) -> dict[str, dict[str, str]]:
    """For each path the value of each attribute: "set", "unset", "unspecified", or its text."""
    asked = ["check-attr", "-z", "--stdin", *names]
    parts = _paths(run_git(asked, cwd=repo.path, input=_lines(paths)).out)
    step = 3 * len(names)
    return {
        parts[at]: dict(zip(names, parts[at + 2 : at + step : 3], strict=True))
        for at in range(0, len(parts), step)
    }


def ignored(repo: Repository, paths: Iterable[str]) -> dict[str, str]:
    """The paths that an ignore rule covers, each with ``file:line:pattern`` of that rule.

    Whether a path is tracked or exists makes no difference. Needs a worktree.
    """
    asked = ["check-ignore", "-z", "--stdin", "--no-index", "--verbose"]
    env = {"GIT_LITERAL_PATHSPECS": "0"}  # check-ignore takes paths only, and refuses the word
    done = run_git(asked, cwd=repo.path, input=_lines(paths), env=env, check=False)
    if done.code > 1:  # 1 says that none is ignored
        raise failure(asked, done, repo.path)
    parts = _paths(done.out)
    rules = zip(parts[::4], parts[1::4], parts[2::4], parts[3::4], strict=True)
    return {
        path: f"{source}:{line}:{pattern}"
        for source, line, pattern, path in rules
        if not pattern.startswith("!")
    }


def untracked_files(
    repo: Repository, folders: Sequence[str], *, ignored: bool = False
) -> list[str]:
    """Files of the worktree in ``folders`` that Git does not know; ``ignored``: only those."""
    which = ["--ignored", "--exclude-standard"] if ignored else []
    asked = ["ls-files", "-z", "--others", *which, "--", *folders]
    return _paths(run_git(asked, cwd=repo.path).out)


def crlf_files(repo: Repository, folder: str) -> dict[str, str]:
    """The files below ``folder`` that have CRLF in the worktree, with the index's blob id.

    The id is "" for a file that is not tracked, or that a merge has left undecided.
    """
    asked = ["ls-files", "-z", "--eol", "--stage", "--cached", "--others", "--", folder]
    found: dict[str, str] = {}
    for line in run_git(asked, cwd=repo.path).out.split(b"\0")[:-1]:
        stage, rest = (b"", line) if line.startswith(b"i/") else line.split(b"\t", 1)
        ends, _, path = rest.partition(b"\t")
        if b" w/crlf " in ends or b" w/mixed " in ends:
            _mode, oid, number = stage.split() if stage else (b"", b"", b"0")
            found[path_text(path)] = oid.decode() if number == b"0" else ""
    return found


def expiry_times(repo: Repository, keys: Sequence[str]) -> dict[str, int | None]:
    """When things expire by each configured key, in seconds since 1970.

    0 is never; ``now`` is a time far ahead; None is a value that Git cannot read.
    """
    found: dict[str, int | None] = {}
    for key in keys:
        asked = ["config", "--type=expiry-date", "--get", key]
        done = run_git(asked, cwd=repo.path, check=False)
        text = done.out.decode("ascii", "replace").strip()
        found[key] = int(text) if done.code == 0 and text.isdigit() else None
    return found


def config_origin(repo: Repository, key: str) -> str:
    """The file that gives ``key`` its value, as Git names it (``file:…``); "" when not set."""
    asked = ["config", "-z", "--show-origin", "--get", key]
    done = run_git(asked, cwd=repo.path, check=False)
    return path_text(done.out.split(b"\0")[0]) if done.code == 0 else ""


def knows_identity(repo: Repository) -> bool:
    """Whether Git has a configured name and address to commit with."""
    return all(
        run_git([*_NO_IDENTITY, f"GIT_{role}_IDENT"], cwd=repo.path, check=False).code == 0
        for role in ("AUTHOR", "COMMITTER")
    )


def set_local(repo: Repository, settings: Mapping[str, str]) -> None:
    """Give each key this one value in the clone's own configuration."""
    for key, value in settings.items():
        run_git(["config", "--local", "--replace-all", key, value], cwd=repo.path)
    repo.forget_config()


def _lines(paths: Iterable[str]) -> bytes:
    return b"".join(path_bytes(path) + b"\0" for path in paths)


def _paths(out: bytes) -> list[str]:
    return [path_text(part) for part in out.split(b"\0")[:-1]]
