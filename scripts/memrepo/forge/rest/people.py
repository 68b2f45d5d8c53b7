"""What people may do in a repository on GitHub."""

from __future__ import annotations

import re

from memrepo.forge.failure import Attempt, plain
from memrepo.forge.forge import Permission

from .requester import GithubFailed, understood
from .session import Session

# Of an enterprise's own users too; an app's login ends in [bot], and an app is no collaborator.
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})")
# GitHub answers with the first four; the others are names of roles, in case a server does.
_KNOWN: dict[str, Permission] = {
    "admin": "admin",
    "write": "write",
    "read": "read",
    "none": "none",
    "maintain": "write",
    "triage": "read",
}


class People(Session):
    """The part of :class:`memrepo.forge.forge.Forge` that is about people."""

    def permission_of(self, login: str) -> Permission:
        """What ``login`` may do, by whatever way: owner, team, collaborator, or everyone's.

        https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user
        """
        if not _LOGIN.fullmatch(login):
            return "none"

        def look() -> Permission:
            try:
                with understood():
                    said = self._repo.get_collaborator_permission(login)
            except GithubFailed as error:
                if error.failure.status != 404:
                    raise
                return "none"
            return _KNOWN.get(said, "none")

        return self._read(look, Attempt(f"ask what {plain(login, 60)} may do", "metadata: read"))
