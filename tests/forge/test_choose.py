"""Which forge is used, and what a remote's address says."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import UsageError
from memrepo.forge.address import Address, api_url_for, is_on, parse_remote, parse_slug
from memrepo.forge.choose import Choice, choose
from memrepo.forge.open import open_forge

GHES = "https://ghes.example.com"
HUB = "https://github.com/acme/memory.git"


def chosen(spec: str | None = None, **facts: object) -> Choice:
    known: dict[str, object] = {
        "in_workflow": False,
        "remote_url": None,
        "has_token": False,
        **facts,
    }
    return choose(spec, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/memory",
        "https://github.com/acme/memory.git",
        "https://github.com/acme/memory/",
        "https://GitHub.com:443/acme/memory.git",
        "https://anna@github.com/acme/memory",
        "https://x-access-token:s3cret@github.com/acme/memory.git",
        "http://github.com/acme/memory",
        "git://github.com/acme/memory.git",
        "ssh://git@github.com/acme/memory.git",
        "ssh://git@github.com:22/acme/memory.git",
        "git+ssh://git@github.com/acme/memory",
        "git@github.com:acme/memory.git",
        "git@github.com:/acme/memory.git",
        "github.com:acme/memory",
        "org-123@github.com:acme/memory.git",
    ],
)
def test_every_spelling_of_a_remote(url: str) -> None:
    found = parse_remote(url)
    assert found == Address("github.com", "acme", "memory")
    assert found.slug == "acme/memory"
    assert is_on(found, "https://github.com")
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/git/memory.git",
        "../memory",
        "./acme:memory/x",
        "file:///srv/acme/memory",
        "C:\\work\\memory",
        "C:/acme/memory",
        "https://github.com/acme",
        "https://github.com/acme/memory/tree/main",
        "https://github.com/acme/..",
        "https://github.com/acme/memory?x=1 y",
        "https://github.com:port/acme/memory",
        "https://[::1/acme/memory",
        "https:///acme/memory",
        "ext::sh -c touch% x",
        "git@github.com:acme/$(touch x)",
        "-oProxyCommand=x:acme/memory;",
    ],
)
def test_what_is_no_repository_on_a_forge(url: str) -> None:
    found = parse_remote(url)
    assert found is None or found.slug == "acme/memory"
    assert found is None or "?" in url


@pytest.mark.parametrize(
    ("url", "server", "on"),
    [
        ("git@ssh.github.com:acme/memory", "https://github.com", True),
        ("ssh://git@ssh.github.com:443/acme/memory", "https://github.com", True),
        ("https://www.github.com/acme/memory", "https://github.com", True),
        ("git@github.com.evil.example:acme/memory", "https://github.com", False),
        ("https://github.com@evil.example/acme/memory", "https://github.com", False),
        ("https://notgithub.com/acme/memory", "https://github.com", False),
        ("git@ghes.example.com:acme/memory", GHES, True),
        ("ssh://git@ghes.example.com:2222/acme/memory", GHES, True),
        ("https://github.com/acme/memory", GHES, False),
        ("http://127.0.0.1:8080/acme/memory", "http://127.0.0.1:8080", True),
        ("http://127.0.0.1:8081/acme/memory", "http://127.0.0.1:8080", False),
        ("git@ghes.example.com:acme/memory", "https://ghes.example.com:8443", True),
        ("https://github.com/acme/memory", "nonsense", False),
    ],
)
def test_which_server_a_remote_is_on(url: str, server: str, on: bool) -> None:
    address = parse_remote(url)
    assert address is not None
    assert is_on(address, server) is on


@pytest.mark.parametrize(
    ("server", "api"),
    [
        ("https://github.com", "https://api.github.com"),
        ("https://github.com/", "https://api.github.com"),
        ("https://acme.ghe.com", "https://api.acme.ghe.com"),
        (GHES, f"{GHES}/api/v3"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/api/v3"),
    ],
)
def test_where_the_api_is(server: str, api: str) -> None:
    assert api_url_for(server) == api


def test_the_forge_that_fits() -> None:
    hub = chosen(remote_url=HUB, has_token=True)
    assert (hub.kind, hub.repository, hub.path) == ("github", "acme/memory", "")
    assert (hub.server_url, hub.api_url) == ("https://github.com", "https://api.github.com")
    local = chosen(remote_url=HUB)
    assert (local.kind, local.path) == ("local", "")
    assert "no token" in local.why
    assert chosen(has_token=True).kind == "local"
    assert chosen(has_token=True, remote_url="/srv/memory.git").kind == "local"
    assert chosen(has_token=True, remote_url="https://gitlab.com/acme/memory").kind == "local"
    assert chosen(has_token=True, remote_url=HUB, server_url=GHES).kind == "local"
    ghes = chosen(
        has_token=True, remote_url="git@ghes.example.com:acme/memory.git", server_url=f"{GHES}/"
    )
    assert (ghes.kind, ghes.server_url, ghes.api_url) == ("github", GHES, f"{GHES}/api/v3")


def test_in_a_workflow_it_is_github() -> None:
    job = chosen(in_workflow=True, has_token=True, repository="acme/app")
    assert (job.kind, job.repository) == ("github", "acme/app")
    other = chosen(in_workflow=True, has_token=True, repository="acme/app", remote_url=HUB)
    assert other.repository == "acme/memory"
    away = chosen(
        in_workflow=True, has_token=True, repository="acme/app", remote_url="/srv/memory.git"
    )
    assert away.repository == "acme/app"
    with pytest.raises(UsageError, match="token") as caught:
        chosen(in_workflow=True, repository="acme/app")
    assert "github-token" in caught.value.hint
    with pytest.raises(UsageError, match="no repository"):
        chosen(in_workflow=True, has_token=True)


def test_what_is_asked_for_wins() -> None:
    local = chosen("local:/srv/a b: c", in_workflow=True, has_token=True, repository="acme/app")
    assert (local.kind, local.path) == ("local", "/srv/a b: c")
    assert chosen("local", in_workflow=True, has_token=True, repository="acme/app").path == ""
    assert chosen("github", has_token=True, remote_url=HUB).repository == "acme/memory"
    assert chosen("", remote_url=HUB).kind == "local"
    with pytest.raises(UsageError, match="token"):
        chosen("github", remote_url=HUB)
    with pytest.raises(UsageError, match="no repository"):
        chosen("github", has_token=True, remote_url="https://gitlab.com/acme/memory")


@pytest.mark.parametrize(
    "spec", ["gitlab", "local:", "GitHub", "github:acme/memory", "localhost:x"]
)
def test_a_forge_that_is_none(spec: str) -> None:
    with pytest.raises(UsageError, match="forge"):
        chosen(spec, has_token=True, remote_url=HUB)


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    for url in (text, f"https://{text}", f"git@{text}:{text}", f"https://github.com/{text}"):
        found = parse_remote(url)
        assert found is None or parse_slug(found.slug) == (found.owner, found.repo)
        assert found is None or isinstance(is_on(found, f"https://{text}"), bool)


def test_github_is_opened_on_the_chosen_server() -> None:
    choice = chosen(has_token=True, remote_url=f"{GHES}/acme/memory", server_url=GHES)
    forge = open_forge(choice, token="t", login="me")
    assert (forge.place, forge.me()) == ("ghes.example.com/acme/memory", "me")
    forge.close()


def test_choosing_a_folder_does_not_bring_pygithub() -> None:
    code = (
        "import sys, memrepo.forge.choose, memrepo.forge.open, memrepo.forge.local;"
        "sys.exit(any(name in sys.modules for name in ('github', 'requests', 'yaml')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
