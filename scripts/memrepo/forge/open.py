"""A forge made from a choice; what a forge needs is imported only when it is chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .choose import Choice

if TYPE_CHECKING:
    from .forge import Forge


def open_forge(
    choice: Choice,
    *,
    token: str = "",
    api_url: str = "",
    login: str = "",
    beside: Path | None = None,
    tip: Callable[[str], str | None] = lambda _branch: None,
    seconds_between_writes: float = 0.2,
    user_agent: str = "memrepo",
    tell: Callable[[str], None] = lambda _line: None,
) -> Forge:
    """The forge that was chosen.

    For GitHub: ``token``; ``api_url`` where the runner names it (otherwise it follows from
    the server); ``login`` where it is known whom the token writes as. For a folder:
    ``beside``, the folder to use where the choice names none; ``login``, whom it writes as;
    ``tip``, the commit a branch is at. Raises UsageError when one of these is missing.
    """
    if choice.kind == "local":
        from memrepo.errors import UsageError

        from .local import LocalForge

        root = Path(choice.path) if choice.path else beside
        if root is None:
            raise UsageError("the local forge has no folder", "write --forge local:PATH")
        return LocalForge(root, login=login or "memrepo", tip=tip, tell=tell)

    from .github import GitHubForge

    return GitHubForge(
        choice.repository,
        token,
        api_url=api_url or choice.api_url,
        server_url=choice.server_url,
        login=login,
        seconds_between_writes=seconds_between_writes,
        user_agent=user_agent,
        tell=tell,
    )
