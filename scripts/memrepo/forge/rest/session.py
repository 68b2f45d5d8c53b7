"""One repository on GitHub: requests to it, and what to do when their answer is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from github.AuthenticatedUser import AuthenticatedUser
from github.Repository import Repository

from memrepo.errors import MemrepoError, UsageError
from memrepo.forge.address import server_host
from memrepo.forge.failure import Attempt, error_for
from memrepo.forge.forge import WORKFLOW_LOGIN
from memrepo.forge.patience import Patience

from .requester import GithubFailed, PatientRequester, Turns, understood

T = TypeVar("T")

WRITE = "pull-requests: write"
READ = "pull-requests: read"


class Session:
    """A token's access to one repository on github.com or a GitHub Enterprise server.

    ``repository`` is ``owner/repo``; ``api_url`` the REST API's address. ``login`` is whom
    the token's writes go by, where the caller knows it. ``timeout`` is in seconds, and so is
    ``seconds_between_writes`` (GitHub asks for one where many follow each other; here it is a
    handful). ``tell`` gets a line for each wait.
    """

    def __init__(
        self,
        repository: str,
        token: str,
        *,
        api_url: str,
        server_url: str,
        login: str = "",
        timeout: int = 30,
        seconds_between_writes: float = 0.2,
        patience: Patience | None = None,
        user_agent: str = "memrepo",
        tell: Callable[[str], None] = lambda _line: None,
    ) -> None:
        token = token.strip()  # a secret is easily pasted with its line's end
        if not token or not token.isascii() or not token.isprintable():
            raise UsageError("GitHub needs a token, one word of ASCII", "set GITHUB_TOKEN")
        if not server_host(api_url):
            raise UsageError(f"{api_url!r} is no address of an API", "check GITHUB_API_URL")
        self._host = server_host(server_url) or server_host(api_url)
        self._slug = repository
        self._login = login
        self._patience = patience or Patience()
        self._tell = tell
        self._known_labels: set[str] = set()
        self._requester = PatientRequester(
            token=token,
            api_url=api_url.rstrip("/"),
            user_agent=user_agent,
            timeout=timeout,
            seconds_between_writes=seconds_between_writes,
            patience=self._patience,
            tell=tell,
        )
        self._repo = Repository(self._requester, url=f"/repos/{repository}")

    @property
    def place(self) -> str:
        """``github.com/owner/repo``."""
        return f"{self._host}/{self._slug}"

    def close(self) -> None:
        """Close the connections."""
        self._requester.close()

    def me(self) -> str:
        """The token's login; ``github-actions[bot]`` for an app's token, which may not ask.

        Once a comment was made, it is the login that GitHub put under it.
        """
        if not self._login:
            try:
                with understood():
                    self._login = AuthenticatedUser(self._requester, url="/user").login
            except GithubFailed as error:
                if error.failure.status not in (403, 404) or error.failure.kind != "refused":
                    raise self._error(error, Attempt("say whose token this is", "")) from None
            self._login = self._login or WORKFLOW_LOGIN
        return self._login

    def _read(self, look: Callable[[], T], attempt: Attempt) -> T:
        try:
            with understood():
                return look()
        except GithubFailed as error:
            raise self._error(error, attempt) from None

    def _write(self, send: Callable[[], T], look: Callable[[], T | None]) -> T:
        """Send a write, at most twice where nobody knows whether it was done.

        ``look`` returns what the write makes, if it is there. Raises GithubFailed when it
        was refused, or not done.
        """
        turns = Turns(self._patience, self._tell)
        lost = 0
        while True:
            try:
                with understood():
                    return send()
            except GithubFailed as error:
                failed = error
            patient = turns.wait_after(failed.failure)
            if failed.failure.kind == "failed":
                lost += 1
                with understood():
                    found = look()
                if found is not None:
                    return found
            if not patient or lost == 2:
                raise failed

    def _write_or_raise(
        self, send: Callable[[], T], look: Callable[[], T | None], attempt: Attempt
    ) -> T:
        try:
            return self._write(send, look)
        except GithubFailed as error:
            raise self._error(error, attempt) from None

    def _error(self, error: GithubFailed, attempt: Attempt) -> MemrepoError:
        return error_for(error.failure, attempt, self._host, self._slug)
