"""Which forge a repository's pull requests are on. Pure: a choice is a value."""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.errors import UsageError

from .address import api_url_for, is_on, parse_remote, parse_slug, server_host

DEFAULT_SERVER_URL = "https://github.com"


class Choice(msgspec.Struct, frozen=True):
    """The forge to use, and why.

    For GitHub: ``repository`` (``owner/repo``), ``server_url`` and ``api_url``. For a local
    folder: ``path``, "" for the one beside the repository.
    """

    kind: Literal["github", "local"]
    why: str
    repository: str = ""
    server_url: str = ""
    api_url: str = ""
    path: str = ""


def choose(
    spec: str | None,
    *,
    in_workflow: bool,
    remote_url: str | None,
    has_token: bool,
    server_url: str = "",
    repository: str = "",
) -> Choice:
    """The forge that ``spec`` names, or the one that fits where memrepo runs.

    ``spec``: "github", "local" or "local:PATH"; None or "" is GitHub in a workflow, and
    where ``remote_url`` is on ``server_url`` and there is a token, and a local folder
    otherwise. ``repository`` (``owner/repo``) is the workflow's own; a remote on the server
    comes first, since a workflow may check out another repository. ``server_url`` "" is
    github.com. Raises UsageError for a spec that is none, and for GitHub without what it
    needs.
    """
    server = server_url or DEFAULT_SERVER_URL
    if spec and spec.partition(":")[0] == "local":
        path = spec.partition(":")[2]
        if spec == "local:":
            raise UsageError("--forge local: names no folder", "write --forge local:PATH")
        return Choice("local", "asked for", path=path)
    if spec and spec != "github":
        raise UsageError(
            f"--forge {spec[:60]!r} is no forge", "write --forge github or --forge local:PATH"
        )
    on_server = _on_server(remote_url, server)
    if not spec and not in_workflow and not (on_server and has_token):
        return Choice("local", _why_local(bool(on_server), server))
    found = on_server or ("/".join(parse_slug(repository) or ()))
    if not found:
        raise UsageError(
            f"no repository on {server_host(server) or 'GitHub'} is known for this one",
            "add its remote with git remote add origin URL, or use --forge local:PATH",
        )
    if not has_token:
        raise UsageError(
            f"GitHub needs a token to work on {found}",
            "set GITHUB_TOKEN (in a workflow: the input github-token), or use --forge local:PATH",
        )
    why = "asked for" if spec else "in a workflow" if in_workflow else "the remote is there"
    return Choice("github", why, found, server.rstrip("/"), api_url_for(server))


def _on_server(remote_url: str | None, server: str) -> str:
    address = parse_remote(remote_url) if remote_url else None
    return address.slug if address and is_on(address, server) else ""


def _why_local(on_server: bool, server: str) -> str:
    host = server_host(server) or "GitHub"
    if on_server:
        return f"the remote is on {host}, but no token is set"
    return f"no remote on {host}"
