"""Addresses of repositories and of the servers they are on, as words of text."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

import msgspec

# An owner may hold an underscore: managed users are called user_company.
_OWNER = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9_-])?"
_REPO = r"[A-Za-z0-9._-]{1,100}"
_SLUG = re.compile(f"({_OWNER})/({_REPO})")
_SCP_LIKE = re.compile(r"(?:[^@/:\s]+@)?([^@/:\s\[\]]{2,}):(?!//)(.+)")
_SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "git+https")


class Address(msgspec.Struct, frozen=True):
    """A repository on a server. ``host`` is in lower case, with a port where one is given.

    Nothing else of the remote's URL is kept: it may hold a password.
    """

    host: str
    owner: str
    repo: str

    @property
    def slug(self) -> str:
        """``owner/repo``."""
        return f"{self.owner}/{self.repo}"


def parse_slug(text: str) -> tuple[str, str] | None:
    """Owner and repository of ``owner/repo``; None when it is not of that form."""
    found = _SLUG.fullmatch(text)
    if found is None or found[2] in (".", ".."):
        return None
    return found[1], found[2]


def parse_remote(url: str) -> Address | None:
    """The repository that a Git remote names; None for a path or a form that no forge has.

    Reads ``https://``, ``ssh://`` and ``git://`` URLs and the scp-like ``git@host:owner/repo``,
    with or without ``.git``, with or without a user and a password.
    """
    if "://" in url:
        parts = _split(url)
        if parts is None or parts.scheme.lower() not in _SCHEMES:
            return None
        host, path = _host(parts), parts.path
    else:
        found = _SCP_LIKE.fullmatch(url)
        if found is None:
            return None
        host, path = found[1].lower(), found[2]
    slug = parse_slug(path.strip("/").removesuffix(".git"))
    return Address(host, *slug) if host and slug else None


def server_host(server_url: str) -> str:
    """The host of a server's URL as :class:`Address` spells it; "" when there is none."""
    parts = _split(server_url)
    return _host(parts) if parts else ""


def is_on(address: Address, server_url: str) -> bool:
    """Whether a repository is on that server.

    SSH goes by another port, and by ``ssh.`` before the name where port 22 is closed.
    """
    parts = _split(server_url)
    if parts is None or not parts.hostname:
        return False
    if address.host == _host(parts):
        return True
    name = address.host.rpartition(":")[0] or address.host
    return name.removeprefix("ssh.").removeprefix("www.") == parts.hostname and (
        parts.port is None or ":" not in address.host
    )


def api_url_for(server_url: str) -> str:
    """Where the REST API of a server is: its own host for the cloud, ``/api/v3`` elsewhere."""
    url = server_url.rstrip("/")
    host = server_host(url)
    if host == "github.com" or host.endswith(".ghe.com"):
        return f"https://api.{host}"
    return f"{url}/api/v3"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts


def _host(parts: SplitResult) -> str:
    name = (parts.hostname or "").lower()
    usual = {"https": 443, "http": 80, "ssh": 22}.get(parts.scheme.lower())
    return name if parts.port in (None, usual) else f"{name}:{parts.port}"
