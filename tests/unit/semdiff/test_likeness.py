from __future__ import annotations

from memrepo.semdiff.likeness import Sketch, likeness


def alike(one: str, other: str) -> float:
    assert likeness(Sketch(one), Sketch(other)) == likeness(Sketch(other), Sketch(one))
    return likeness(Sketch(one), Sketch(other))


def test_equal_texts_are_wholly_alike() -> None:
    assert alike("", "") == 1.0
    assert alike("Book a flight", "Book a flight") == 1.0


def test_one_changed_word_leaves_texts_alike() -> None:
    assert alike("My booking is HAT001.", "My booking is HAT002.") > 0.7
    assert alike("Move or rename a file.", "Move or rename one file.") > 0.7
    long = "The customer asked whether the flight could be moved to another day. " * 5
    assert alike(long, long.replace("another", "some other", 1)) > 0.9


def test_other_texts_are_not_alike() -> None:
    assert alike("Create a directory.", "Search the web for news.") < 0.3
    assert alike("yes", "no") == 0.0
    assert alike("short", "a very much longer text than that") == 0.0
    assert alike("", "something") == 0.0


def test_long_texts_are_judged_by_their_ends() -> None:
    long = " ".join(f"word{i}" for i in range(50_000))
    assert alike(long, long + " more") > 0.9
