"""Labels of pull requests on GitHub."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from memrepo.forge.failure import Attempt
from memrepo.forge.forge import Label, checked_labels

from .requester import GithubFailed
from .session import READ, WRITE, Session


class Labels(Session):
    """The part of :class:`memrepo.forge.forge.Forge` that is about labels."""

    def add_labels(self, number: int, labels: Sequence[Label]) -> tuple[str, ...]:
        """Put labels on, making those GitHub does not know; the names then on it, sorted."""
        have = self._labels_on(number)
        missing = [label for label in labels if label.name.casefold() not in _folded(have)]
        if not missing:
            return have
        attempt = Attempt(f"label pull request {number}", WRITE, f"pull request {number}")
        for label in missing:
            self._ensure_label(label, attempt)
        names = [label.name for label in missing]

        def send() -> bool:
            # PyGithub's own way sends a bare list, which GitHub's description does not have.
            place = f"{self._repo.url}/issues/{number}/labels"
            self._requester.requestJsonAndCheck("POST", place, input={"labels": names})
            return True

        def look() -> bool | None:
            return set(_folded(names)) <= set(_folded(self._labels_on(number))) or None

        self._write_or_raise(send, look, attempt)
        return tuple(sorted({*have, *names}))

    def remove_labels(self, number: int, names: Sequence[str]) -> tuple[str, ...]:
        """Take labels off; the names then on it, sorted. One that is not on it is no error."""
        have = self._labels_on(number)
        gone = [name for name in have if name.casefold() in _folded(names)]
        for name in gone:
            self._remove_label(number, name)
        return tuple(name for name in have if name not in gone)

    def set_labels_in(self, number: int, prefix: str, wanted: Sequence[Label]) -> tuple[str, ...]:
        """Make ``wanted`` the only labels that start with ``prefix``; others stay as they are."""
        checked_labels(prefix, wanted)
        names = _folded(label.name for label in wanted)
        have = self.add_labels(number, wanted)
        start = prefix.casefold()
        extra = [n for n in have if n.casefold().startswith(start) and n.casefold() not in names]
        return self.remove_labels(number, extra) if extra else have

    def _labels_on(self, number: int) -> tuple[str, ...]:
        def look() -> tuple[str, ...]:
            labels = self._repo.get_issue(number).get_labels()
            return tuple(sorted(label.name for label in labels))

        return self._read(
            look,
            Attempt(f"read the labels of pull request {number}", READ, f"pull request {number}"),
        )

    def _ensure_label(self, label: Label, attempt: Attempt) -> None:
        def look() -> bool | None:
            try:
                self._repo.get_label(label.name).complete()
            except GithubFailed as error:
                if error.failure.status == 404:
                    return None
                raise
            return True

        def send() -> bool:
            self._repo.create_label(label.name, label.colour, label.description[:100])
            return True

        if label.name in self._known_labels:
            return
        if not self._read(look, attempt):
            try:
                self._write(send, look)
            except GithubFailed as error:
                if "already_exists" not in error.failure.words:
                    raise self._error(error, attempt) from None
        self._known_labels.add(label.name)

    def _remove_label(self, number: int, name: str) -> None:
        def send() -> bool:
            try:
                # PyGithub's own way leaves a "/" of the name in the path.
                place = f"{self._repo.url}/issues/{number}/labels/{quote(name, safe='')}"
                self._requester.requestJsonAndCheck("DELETE", place)
            except GithubFailed as error:
                if error.failure.status != 404:
                    raise
            return True

        def look() -> bool | None:
            return None if name in self._labels_on(number) else True

        attempt = Attempt(f"unlabel pull request {number}", WRITE, f"pull request {number}")
        self._write_or_raise(send, look, attempt)


def _folded(names: Iterable[str]) -> set[str]:
    """GitHub tells labels apart by their letters, not by case."""
    return {name.casefold() for name in names}
