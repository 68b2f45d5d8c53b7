"""Two clones of one remote, step by step: who is active in the end, and who is told what."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memrepo.errors import GateRefused, NeedsPerson, RemoteFailed
from memrepo.gitrepo.repository import Repository
from memrepo.gitrepo.sync import push_head
from memrepo.records.values import Filters
from recordstores import Clock, a_store, codes, make_key, new, policy_of
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]


@pytest.fixture
def remote(memory_repo: MakeRepo, bare_remote: MakeRepo) -> GitRepo:
    return bare_remote(memory_repo("agent-1"))


@pytest.fixture
def one(remote: GitRepo, clone: MakeRepo) -> GitRepo:
    return clone(remote, "one")


@pytest.fixture
def two(remote: GitRepo, clone: MakeRepo) -> GitRepo:
    return clone(remote, "two")


def in_order(remote: GitRepo, clone: MakeRepo, **options: Any) -> Any:
    """The active conclusion on the remote, all records being in order there."""
    fresh = clone(remote, f"fresh-{remote.head()[:8]}")
    with a_store(fresh, **options) as store:
        assert [f for f in store.verify() if f.severity == "error"] == []
        [active] = store.list(Filters(key="pool-size"))
        return active.summary


def test_a_write_that_meets_another_one_supersedes_it_and_says_so(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo
) -> None:
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        theirs = first.write(new(summary="first"), push=True)
        mine = second.write(new(summary="second"), push=True)
    assert (theirs.pushed, theirs.notes) == (True, ())
    assert mine.pushed
    assert mine.superseded == theirs.answer.record.id
    assert "of another writer was first" in mine.notes[0]
    assert mine.commit == remote.head() == two.head()
    assert two.git("status", "--short") == ""
    assert in_order(remote, clone) == "second"


def test_the_one_of_less_trust_is_kept_and_its_writer_is_told(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo, tmp_path: Path
) -> None:
    key = make_key(tmp_path)
    policy = policy_of(ann=(key, "human"))
    with (
        a_store(one, trust="human", signing_key=key, policy=policy) as person,
        a_store(two, policy=policy) as session,
    ):
        theirs = person.write(new(summary="of a person"), push=True).answer.record
        mine = session.write(new(summary="of a session"), push=True)
        assert mine.answer.record.lifecycle.superseded_by == theirs.id
        assert f"{theirs.id} of another writer was first and stays" in mine.notes[0]
        assert session.read("pool-size").record.id == theirs.id
    assert in_order(remote, clone, policy=policy) == "of a person"


def test_the_one_of_more_trust_supersedes_although_it_comes_late(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo, tmp_path: Path
) -> None:
    key = make_key(tmp_path)
    policy = policy_of(ann=(key, "human"))
    with (
        a_store(one, policy=policy) as session,
        a_store(two, trust="human", signing_key=key, policy=policy) as person,
    ):
        session.write(new(summary="of a session"), push=True)
        mine = person.write(new(summary="of a person"), push=True)
        assert mine.answer.trust == "human"
        session.sync()
        assert session.read("pool-size").record == mine.answer.record
    assert in_order(remote, clone, policy=policy) == "of a person"


def test_a_signed_one_is_signed_again_for_its_new_place(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo, tmp_path: Path
) -> None:
    keys = make_key(tmp_path, "ann"), make_key(tmp_path, "bob")
    policy = policy_of(ann=(keys[0], "human"), bob=(keys[1], "human"))
    with (
        a_store(one, trust="human", signing_key=keys[0], policy=policy) as ann,
        a_store(two, trust="human", signing_key=keys[1], policy=policy) as bob,
    ):
        theirs = ann.write(new(summary="ann's"), push=True).answer.record
        mine = bob.write(new(summary="bob's"), push=True)
        assert mine.answer.record.lifecycle.supersedes == theirs.id
        assert mine.answer.trust == "human"
    assert in_order(remote, clone, policy=policy) == "bob's"


def test_nobody_signs_what_another_wrote_in_the_same_clone(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo, tmp_path: Path
) -> None:
    keys = make_key(tmp_path, "ann"), make_key(tmp_path, "bob")
    policy = policy_of(ann=(keys[0], "human"), bob=(keys[1], "human"))
    with (
        a_store(one, policy=policy) as session,
        a_store(two, agent="bob", trust="human", signing_key=keys[1], policy=policy) as bob,
        a_store(two, agent="ann", trust="human", signing_key=keys[0], policy=policy) as ann,
    ):
        theirs = session.write(new(summary="of a session"), push=True).answer.record
        mine = bob.write(new(summary="bob's")).answer.record
        ann.sync()
        assert ann.read("pool-size").record == mine
        assert ann.read(theirs.id).record.lifecycle.superseded_by == mine.id
    assert in_order(remote, clone, policy=policy) == "bob's"


def test_what_another_writer_said_first_is_left_out(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo
) -> None:
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        theirs = first.write(new(), push=True).answer.record
        local = second.write(new()).answer.record
        again = second.write(new(summary="Thirty.")).answer.record
        assert again.lifecycle.supersedes == local.id
        done = second.sync()
        assert {o.record_id: o.kept for o in done.outcomes} == {local.id: False, again.id: True}
        assert second.read("pool-size").record.lifecycle.supersedes == theirs.id
        mine = first.write(new("other"), push=True)
        same = second.write(new("other"), push=True)
        assert (same.changed, same.answer.record.id) == (False, mine.answer.record.id)
    assert in_order(remote, clone) == "Thirty."


def test_compare_and_swap_holds_across_clones(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo
) -> None:
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        base = first.write(new(summary="base"), push=True).answer.record.id
        second.pull()
        first.write(new(summary="first", expect=base), push=True)
        with pytest.raises(GateRefused) as refused:
            second.write(new(summary="second", expect=base), push=True)
        assert codes(refused.value.findings) == ["record-supersedes"]
        assert second.read("pool-size").record.summary == "first"
    assert in_order(remote, clone) == "first"


def test_a_remote_that_is_away_loses_nothing(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo
) -> None:
    away = remote.path.with_name("away.git")
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        first.write(new(summary="first"), push=True)
        remote.path.rename(away)
        for summary in ("second", "third"):
            done = second.write(new(summary=summary), push=True)
            assert (done.pushed, done.push_exit) == (False, 4)
            assert done.push_failed
            assert second.read("pool-size").record.summary == summary
        with pytest.raises(RemoteFailed):
            second.sync()
        away.rename(remote.path)
        done_all = second.sync()
        assert done_all.pushed
        assert done_all.rebuilt == 2
        assert second.sync().rebuilt == 0
    assert in_order(remote, clone) == "third"


def test_pull_brings_others_records_and_publishes_nothing(
    remote: GitRepo, one: GitRepo, two: GitRepo
) -> None:
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        theirs = first.write(new("theirs"), push=True).answer.record
        second.write(new("mine"))
        published = remote.head()
        assert second.pull().pushed is False
        assert second.read("theirs").record == theirs
        assert second.read("mine").record.key == "mine"
        assert remote.head() == published
        assert two.git("status", "--short") == ""


def test_cycles_and_records_go_out_together(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo
) -> None:
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        first.write(new(summary="first"), push=True)
        two.write("notes.md", "A note.\n")
        two.commit("a note")
        second.write(new(summary="second"))
        second.sync()
    assert remote.read("notes.md") == b"A note.\n"
    assert in_order(remote, clone) == "second"


def test_a_plain_push_never_makes_two_active_ones(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo
) -> None:
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        first.write(new(summary="first"), push=True)
        second.write(new(summary="second"))
        with Repository.open(two.path) as repo, pytest.raises(NeedsPerson, match="records"):
            push_head(repo)
        second.sync()
    assert in_order(remote, clone) == "second"


def test_archived_there_and_superseded_here(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo
) -> None:
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        base = first.write(new(summary="base"), push=True).answer.record.id
        second.pull()
        second.write(new(summary="next"))
        first.archive(base, "wrong", push=True)
        second.sync()
        assert second.read(base).record.lifecycle.status == "archived"
    assert in_order(remote, clone) == "next"


def test_superseded_there_and_archived_here(
    remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo
) -> None:
    with a_store(one) as first, a_store(two, agent="cursor") as second:
        base = first.write(new(summary="base"), push=True).answer.record.id
        second.pull()
        second.archive(base, "wrong")
        after = first.write(new(summary="next"), push=True).answer.record.id
        second.sync()
        ended = second.read(base).record.lifecycle
        assert (ended.status, ended.superseded_by, ended.reason) == ("archived", after, "wrong")
    assert in_order(remote, clone) == "next"


def test_both_sweep(remote: GitRepo, one: GitRepo, two: GitRepo, clone: MakeRepo) -> None:
    clock = Clock()
    with a_store(one, clock=clock) as first, a_store(two, agent="cursor", clock=clock) as second:
        first.write(new("ends", ttl_seconds=1), push=True)
        first.write(new(), push=True)
        second.pull()
        clock.now = clock.now.replace(minute=5)
        assert len(first.sweep(push=True).archived) == 1
        done = second.sweep(push=True)
        assert (len(done.archived), done.pushed) == (1, True)
    assert one.head() == two.head() == remote.head()
    assert in_order(remote, clone) == "Twenty connections are enough."


def test_a_history_that_was_rewritten_is_for_a_person(
    remote: GitRepo, one: GitRepo, two: GitRepo
) -> None:
    with a_store(one) as first:
        first.write(new(), push=True)
        two.git("pull", "--quiet")
        two.git("reset", "--quiet", "--hard", "HEAD^")
        two.write("x", "other")
        two.commit("other")
        two.git("push", "--quiet", "--force")
        with pytest.raises(NeedsPerson, match="rewritten"):
            first.sync()
    shutil.rmtree(remote.path)
