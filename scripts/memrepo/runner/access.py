"""The token's two uses: the forge of the workflow's repository, and its Git remote."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memrepo.errors import UsageError
from memrepo.forge.address import is_on, parse_remote
from memrepo.gitrepo.branches import default_remote
from memrepo.runner.job import Job
from memrepo.runner.log import say

if TYPE_CHECKING:
    from memrepo.forge.forge import Forge
    from memrepo.forge.rest.artifacts import Artifacts
    from memrepo.gitrepo.repository import Repository


def open_workflow_forge(job: Job, token: str) -> Forge:
    """The repository that the workflow belongs to, on the server that runs it."""
    from memrepo.forge.choose import choose
    from memrepo.forge.open import open_forge

    choice = choose(
        "github",
        in_workflow=True,
        remote_url=None,
        has_token=bool(token),
        server_url=job.server_url,
        repository=job.repository,
    )
    return open_forge(choice, token=token, api_url=job.api_url, tell=say)


def open_artifacts(job: Job, token: str) -> Artifacts:
    """The artifacts of the runs of the workflow's repository."""
    from memrepo.forge.address import api_url_for
    from memrepo.forge.choose import DEFAULT_SERVER_URL
    from memrepo.forge.rest.artifacts import Artifacts

    if not token:
        raise UsageError("GitHub needs a token", "give the input github-token")
    server = job.server_url or DEFAULT_SERVER_URL
    api_url = job.api_url or api_url_for(server)
    return Artifacts(job.repository, token, api_url=api_url, server_url=server, tell=say)


def remote_of(repo: Repository) -> str | None:
    """The remote that the checkout came from."""
    return default_remote(repo)


@contextmanager
def git_may_use(job: Job, repo: Repository, token: str) -> Iterator[None]:
    """Let Git use the token for the workflow's server, where the checkout keeps none itself.

    By way of the environment: no URL, argument or file holds it, and it ends with the block.
    """
    remote = remote_of(repo)
    config = repo.config()
    url = repo.config_value(f"remote.{remote}.url") if remote else ""
    added: dict[str, str] = {}
    address = parse_remote(url)
    is_ours = address is not None and url.startswith("http") and is_on(address, job.server_url)
    if token and is_ours and not _has_credentials(config, job.server_url):
        count = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
        login = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        added = {
            "GIT_CONFIG_COUNT": str(count + 1),
            f"GIT_CONFIG_KEY_{count}": f"http.{job.server_url}/.extraheader",
            f"GIT_CONFIG_VALUE_{count}": f"AUTHORIZATION: basic {login}",
        }
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _has_credentials(config: Mapping[str, list[str]], server_url: str) -> bool:
    """Whether Git was told how to sign in to just this server.

    A helper for all servers is no sign: some machines come with one that knows nothing.
    """
    ours = (f"http.{server_url}", f"credential.{server_url}")
    return any(key.startswith(ours) and key.endswith((".extraheader", ".helper")) for key in config)
