"""Pull requests and releases in a local folder: the forge of a repository that has no other.

::

    labels.yml
    pulls/0001/pull.yml                  title, state, branches, labels, …
    pulls/0001/body.md
    pulls/0001/comments/0001-anna.md     who and when, then the text
    releases/0001-TAG/release.json       tag, commit, draft, the assets' sizes and digests, …
    releases/0001-TAG/body.md
    releases/0001-TAG/assets/…           the files

All of it is for people to read, and to edit: a pull request is closed by writing
``state: closed``, a comment is added by adding a file. A published release is the exception:
memrepo never changes it, and neither should a person.
"""

from __future__ import annotations

from .disk.comments import Comments
from .disk.labels import Labels
from .disk.pulls import PullRequests
from .disk.releases import Releases


class LocalForge(PullRequests, Labels, Comments, Releases):
    """A :class:`memrepo.forge.forge.Forge` in a folder."""
