"""The code that records cite, where it lies in the very repository of the memory."""

from __future__ import annotations

from memrepo.forge.address import parse_remote
from memrepo.gitrepo.codecheckout import CodeCheckout
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.record import Record


class OwnCode:
    """The code of one commit; there is some only for records of this repository's address.

    That is the one of its remote ``origin``: a record of ``acme/web`` is checked in
    ``https://github.com/acme/web.git``. Other code is elsewhere, and the gate fetches none.
    """

    def __init__(self, repo: Repository, commit: str | None) -> None:
        remote = parse_remote(repo.config_value("remote.origin.url"))
        self._project = remote.slug.lower() if remote else ""
        self._code = _CodeAt(repo, commit) if commit and remote else None

    def of(self, record: Record) -> CodeCheckout | None:
        """The code that ``record`` cites, or None where it is not here."""
        address = record.address
        return self._code if f"{address.org}/{address.repo}" == self._project else None


class _CodeAt(CodeCheckout):
    """The code as one commit has it, whatever branch a record names."""

    def __init__(self, repo: Repository, commit: str) -> None:
        self._repo = repo
        self._at = commit
        self._listed = {}

    def _commit(self, branch: str) -> str | None:  # noqa: ARG002
        return self._at
