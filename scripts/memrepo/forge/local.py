"""Pull requests in a local folder: the forge of a repository that has no other.

::

    labels.yml
    pulls/0001/pull.yml                  title, state, branches, labels, …
    pulls/0001/body.md
    pulls/0001/comments/0001-anna.md     who and when, then the text

All of it is for people to read, and to edit: a pull request is closed by writing
``state: closed``, a comment is added by adding a file.
"""

from __future__ import annotations

from .disk.comments import Comments
from .disk.labels import Labels
from .disk.pulls import PullRequests


class LocalForge(PullRequests, Labels, Comments):
    """A :class:`memrepo.forge.forge.Forge` in a folder."""
