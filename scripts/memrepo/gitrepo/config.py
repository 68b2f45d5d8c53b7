"""Changing Git's configuration. Reading it is ``Repository.config``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from memrepo.errors import BadInput

from .process import failure, plain, run_git

if TYPE_CHECKING:
    from .repository import Repository

_WAS_NOT_SET = 5


def set_config(
    repo: Repository, key: str, value: str | None, *, scope: Literal["local", "global"] = "local"
) -> None:
    """Set ``key`` (None: unset it).  Raises BadInput, PermissionDenied or GitFailed."""
    if key.startswith("-") or "." not in key or "\n" in key:
        raise BadInput(f"{plain(key)!r} is no valid configuration key")
    change = ["--unset-all", key] if value is None else ["--replace-all", key, value]
    args = ["config", f"--{scope}", *change]
    done = run_git(args, cwd=repo.path, check=False)
    if done.code != 0 and not (value is None and done.code == _WAS_NOT_SET):
        raise failure(args, done, repo.path)
    repo.forget_config()
