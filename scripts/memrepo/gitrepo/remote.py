"""One exchange with a remote: fetch a branch's tip, push a commit, and what the answer means."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from memrepo.errors import BadInput, MemrepoError, PermissionDenied, RemoteFailed

from .process import GitResult, failure, plain, run_git

if TYPE_CHECKING:
    from .repository import Repository

_TIMEOUT = 300.0
_QUIET = ["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.hooksPath=/dev/null"]
_RACE = (
    "fetch first",
    "non-fast-forward",
    "stale info",
    "cannot lock ref",
    "failed to update ref",
    "failed to lock",
    "incorrect old value",
    "reference already exists",
    "remote ref updated since",
)
_DENIED = ("protected branch", "permission", "not allowed", "denied", "unauthorized", "forbidden")

Outcome = Literal["pushed", "behind"]


class Remote(msgspec.Struct, frozen=True):
    """A configured remote: its name, and the address that pushes go to.

    ``incarnation`` tells a local repository from another that was made later in its place.
    """

    name: str
    url: str
    incarnation: str


def find_remote(repo: Repository, name: str) -> Remote:
    """The remote called ``name``.  Raises BadInput for no name, RemoteFailed for no remote."""
    if name.startswith("-") or not name:
        raise BadInput(f"{plain(name)!r} is no valid remote name")
    known = repo.config()
    urls = known.get(f"remote.{name}.pushurl") or known.get(f"remote.{name}.url")
    if not urls:
        raise RemoteFailed(
            f"this repository has no remote called {plain(name)}",
            f"add it with git remote add {plain(name)} <address>",
        )
    url = urls[0]
    if "://" in url or re.match(r"[^/]+:", url):
        return Remote(name, url, "")
    url = os.path.realpath(repo.path / url)
    for config in (Path(url, "config"), Path(url, ".git", "config")):
        with suppress(OSError):
            found = config.stat()
            return Remote(name, url, f"{found.st_ino}-{found.st_mtime_ns}")
    return Remote(name, url, "")


def known_ref(remote: Remote, branch: str) -> str:
    """Where the last tip that was seen on the remote is kept, safe from gc."""
    return f"refs/memrepo/remote/{remote.name}/{branch}"


def fetch_tip(repo: Repository, remote: Remote, branch: str, *, deepen: bool = False) -> str | None:
    """Fetch ``branch`` and return the remote's tip; None when the remote has no such branch.

    ``deepen`` brings the whole history into a shallow clone. Raises RemoteFailed or
    PermissionDenied.
    """
    into = known_ref(remote, branch)
    return _fetch(repo, remote, f"refs/heads/{branch}", into, ["--unshallow"] if deepen else [])


def fetch_ref(repo: Repository, remote: Remote, ref: str) -> str | None:
    """Fetch any ref by its full name and return its commit; None when the remote has none."""
    return _fetch(repo, remote, ref, known_ref(remote, ref), [])


def _fetch(repo: Repository, remote: Remote, ref: str, into: str, depth: list[str]) -> str | None:
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", *depth]
    args = [*_QUIET, "fetch", *options, "--", remote.name, f"+{ref}:{into}"]
    done = run_git(args, cwd=repo.path, check=False, timeout=_TIMEOUT)
    if done.code:
        if b"couldn't find remote ref" in done.err:
            return None
        raise _remote_failure(args, done, repo, remote)
    if depth:
        repo.is_shallow = False
    return repo.tip(into)


def push_commit(
    repo: Repository, remote: Remote, branch: str, commit: str, expected: str | None = None
) -> Outcome:
    """Push ``commit`` as the remote's ``branch``: it only ever adds to what is there.

    With ``expected``, an ancestor of ``commit``, only if the remote is at exactly that.
    "behind" when it is not, or has something that ``commit`` does not build on. A pre-push
    hook runs, as the person who installed it expects. Raises RemoteFailed or
    PermissionDenied with the remote's own words when it refuses.
    """
    options = ["--porcelain", "--no-follow-tags", "--recurse-submodules=no"]
    if expected:
        options.append(f"--force-with-lease=refs/heads/{branch}:{expected}")
    args = ["push", *options, "--", remote.name, f"{commit}:refs/heads/{branch}"]
    done = run_git(args, cwd=repo.path, check=False, timeout=_TIMEOUT)
    if done.code == 0:
        return "pushed"
    status = next(
        (
            line.split("\t")[-1]
            for line in done.out.decode("utf-8", "replace").splitlines()
            if line.startswith("!\t")
        ),
        "",
    )
    if any(word in status for word in _RACE):
        return "behind"
    if status:
        raise _refusal(status, done, remote, branch)
    raise _remote_failure(args, done, repo, remote)


def has_push_hook(repo: Repository) -> bool:
    """Whether a pre-push hook may run here, which then has to see every push of this clone."""
    folder = repo.config_value("core.hookspath")
    return bool(folder) or (repo.common_dir / "hooks" / "pre-push").exists()


def _refusal(status: str, done: GitResult, remote: Remote, branch: str) -> MemrepoError:
    """The words for a push that reached the remote and was turned down by a rule of its own."""
    said = [
        line.removeprefix("remote:").strip()
        for line in done.err.decode("utf-8", "replace").splitlines()
        if line.startswith("remote:")
    ]
    words = plain("; ".join(line for line in said if line)) or plain(status)
    message = f"{plain(remote.name)} refused the push to {plain(branch)}: {words}"
    if any(word in f"{status} {words}".lower() for word in _DENIED):
        return PermissionDenied(message, "push to another branch and open a pull request")
    return RemoteFailed(message, f"the remote said {plain(status)}; your commits are kept here")


def _remote_failure(
    args: list[str], done: GitResult, repo: Repository, remote: Remote
) -> MemrepoError:
    error = failure(args, done, repo.path)
    if isinstance(error, PermissionDenied):
        return PermissionDenied(f"{plain(remote.name)}: {error.message}", error.hint)
    hint = "check the remote's address and the connection; your commits are kept here"
    return RemoteFailed(f"{plain(remote.name)}: {error.message}", hint)
