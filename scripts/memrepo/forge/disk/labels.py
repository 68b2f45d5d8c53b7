"""Labels of a local forge's pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memrepo.forge.forge import Label, checked_labels

from .formats import read_labels, write_labels
from .store import Store


class Labels(Store):
    """The part of :class:`memrepo.forge.forge.Forge` that is about labels."""

    def add_labels(self, number: int, labels: Sequence[Label]) -> tuple[str, ...]:
        """Put labels on, adding those to ``labels.yml`` that it lacks; the names then on it."""
        with self._folder.lock():
            have = self.get_pull_request(number).labels
            return self._label(number, {*have, *self._known(labels)})

    def remove_labels(self, number: int, names: Sequence[str]) -> tuple[str, ...]:
        """Take labels off; the names then on it, sorted. One that is not on it is no error."""
        gone = {name.casefold() for name in names}
        with self._folder.lock():
            have = self.get_pull_request(number).labels
            return self._label(number, (name for name in have if name.casefold() not in gone))

    def set_labels_in(self, number: int, prefix: str, wanted: Sequence[Label]) -> tuple[str, ...]:
        """Make ``wanted`` the only labels that start with ``prefix``; others stay as they are."""
        checked_labels(prefix, wanted)
        with self._folder.lock():
            have = self.get_pull_request(number).labels
            start = prefix.casefold()
            kept = {name for name in have if not name.casefold().startswith(start)}
            return self._label(number, kept | self._known(wanted))

    def _known(self, labels: Sequence[Label]) -> set[str]:
        """The labels' names as ``labels.yml`` spells them, with the new ones added to it."""
        data = self._folder.read("labels.yml") or b""
        known = read_labels(data, self._folder.where("labels.yml"))
        spelt = {name.casefold(): name for name in known}
        new = [label for label in labels if label.name.casefold() not in spelt]
        if new:
            before = data if data.endswith(b"\n") or not data else data + b"\n"
            self._folder.write("labels.yml", before + write_labels(new))
        return {spelt.get(label.name.casefold(), label.name) for label in labels}

    def _label(self, number: int, names: Iterable[str]) -> tuple[str, ...]:
        wanted = tuple(sorted(names))
        if wanted != self.get_pull_request(number).labels:
            self._edit(number, {"labels": wanted})
        return wanted
