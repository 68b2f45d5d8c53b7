"""Pull requests and releases on GitHub, by way of PyGithub.

Every write is sent, and where its answer is lost, looked for before it is sent once more.
Importing this brings PyGithub, which takes a fifth of a second: import it where it is used.
"""

from __future__ import annotations

from .rest.comments import Comments
from .rest.labels import Labels
from .rest.people import People
from .rest.pulls import PullRequests
from .rest.releases import Releases


class GitHubForge(PullRequests, Labels, Comments, Releases, People):
    """A :class:`memrepo.forge.forge.Forge` on github.com or a GitHub Enterprise server."""
