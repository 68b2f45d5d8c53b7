"""The one place where requests to GitHub are sent: PyGithub's, with another patience.

PyGithub by itself sends a POST again when its answer was lost (two comments), never sends a
PATCH again, does not notice half an answer, and waits for rate limits without end. Here,
whatever only reads is sent again within :class:`Patience`; a write is sent as often as it is
called for, since only the caller can look whether it was done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import requests
from github import Auth
from github.GithubException import BadAttributeException, GithubException
from github.Requester import Requester

from memrepo.forge.failure import MOVED, Failure
from memrepo.forge.patience import Patience

_READS = ("GET", "HEAD")
PAGE = 100  # the most that GitHub gives at once


class GithubFailed(Exception):
    """A request failed; what PyGithub and requests raise comes out of here as this."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.words)
        self.failure = failure


class PatientRequester(Requester):
    """PyGithub's transport; every object that is made with it is lazy.

    Raises :class:`GithubFailed`, and nothing else, for what GitHub or the network do.
    """

    def __init__(
        self,
        *,
        token: str,
        api_url: str,
        user_agent: str,
        timeout: int,
        seconds_between_writes: float,
        patience: Patience,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(
            auth=Auth.Token(token),
            base_url=api_url,
            timeout=timeout,
            user_agent=user_agent,
            per_page=PAGE,
            verify=True,
            retry=0,
            pool_size=None,
            seconds_between_writes=seconds_between_writes,
            lazy=True,
        )
        self._patience = patience
        self._tell = tell
        self.seconds = timeout
        self.user_agent = user_agent

    def requestJsonAndCheck(  # noqa: N802 (PyGithub's name)
        self,
        verb: str,
        url: str,
        parameters: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        input: Any | None = None,  # noqa: A002 (PyGithub's name)
        follow_302_redirect: bool = False,
    ) -> tuple[dict[str, Any], Any]:
        """Send a request; one that only reads as often as patience allows."""

        def send() -> tuple[dict[str, Any], Any]:
            with understood():
                answer = super(PatientRequester, self).requestJsonAndCheck(
                    verb, url, parameters, dict(headers or {}), input, follow_302_redirect
                )
            if verb != "DELETE":
                checked_answer(answer[1])
            return answer

        if verb not in _READS:
            return send()
        turns = Turns(self._patience, self._tell)
        while True:
            try:
                return send()
            except GithubFailed as error:
                if not turns.wait_after(error.failure):
                    raise


def checked_answer(data: Any) -> None:
    """Raises GithubFailed for the body of an answer that is none."""
    if not isinstance(data, dict | list):
        raise GithubFailed(Failure(0, "an empty answer"))
    if isinstance(data, dict) and str(data.get("message", "")).startswith("Moved"):
        # What PyGithub makes of a redirected write.
        raise GithubFailed(Failure(MOVED, "it has another name now"))


class Turns:
    """Counts how often one request was sent, and waits between."""

    def __init__(self, patience: Patience, tell: Callable[[str], None]) -> None:
        self._patience = patience
        self._tell = tell
        self._sent = 0
        self._waited = 0.0

    def wait_after(self, failure: Failure) -> bool:
        """Wait as long as ``failure`` calls for; False when it is time to give up."""
        self._sent += 1
        pause = self._patience.wait(failure, self._sent, self._waited, time.time())
        if pause is None:
            return False
        self._waited += pause
        self._tell(f"GitHub: {failure.words or failure.status}; asking again in {pause:.0f} s")
        time.sleep(pause)
        return True


@contextmanager
def understood() -> Iterator[None]:
    """Raises :class:`GithubFailed` for whatever PyGithub and requests raise inside."""
    try:
        yield
    except GithubException as error:
        raise GithubFailed(_refusal(error)) from None
    except requests.RequestException as error:
        raise GithubFailed(Failure(0, _lost(error))) from None
    except BadAttributeException:
        raise GithubFailed(Failure(0, "an answer of another shape than GitHub's")) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        # Half an answer: PyGithub takes it apart without a look.
        raise GithubFailed(Failure(0, "an answer that breaks off")) from None
    except (RuntimeError, AssertionError):
        # PyGithub follows no redirect and no link to another host.
        raise GithubFailed(Failure(0, "an answer that points to another server")) from None


def _refusal(error: GithubException) -> Failure:
    data = error.data if isinstance(error.data, dict) else {}
    message = data.get("message") or error.message or ""
    listed = data.get("errors")
    details = tuple(_detail(item) for item in listed[:5]) if isinstance(listed, list) else ()
    headers = {str(name).lower(): str(value) for name, value in (error.headers or {}).items()}
    return Failure(error.status, str(message), headers, details)


def _detail(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    said = item.get("message")
    return str(said) if said else " ".join(str(item.get(key, "")) for key in ("field", "code"))


def _lost(error: requests.RequestException) -> str:
    # Their own texts name addresses and proxies, which may hold a password.
    kinds: tuple[tuple[type[Exception], str], ...] = (
        (requests.Timeout, "no answer in time"),
        (requests.exceptions.ProxyError, "the proxy did not let it through"),
        (requests.exceptions.SSLError, "the server's certificate was not accepted"),
        (requests.ConnectionError, "the connection was cut or refused"),
    )
    return next((words for kind, words in kinds if isinstance(error, kind)), "a broken answer")
