from __future__ import annotations

import os
import threading

import pytest

from memrepo.protocol.findings import Finding
from memrepo.validate import parallel
from memrepo.validate.parallel import Part, in_parallel

NAMES = [f"agent-{i:03d}" for i in range(101)]


def work(names: list[str]) -> Part:
    found = [Finding(code="x", severity="note", path=name, message=name) for name in names[::7]]
    return found, {name: {"context.json"} for name in names}


@pytest.fixture(autouse=True)
def _many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "WORTH_A_PROCESS", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)


def test_the_parts_come_together() -> None:
    findings, agents = in_parallel(work, NAMES)
    assert list(agents) == NAMES
    assert len({finding.path for finding in findings}) == len(findings) >= 14


def test_a_part_whose_process_dies_is_done_here() -> None:
    parent = os.getpid()

    def fragile(names: list[str]) -> Part:
        if os.getpid() != parent:
            os._exit(9)
        return work(names)

    def raising(names: list[str]) -> Part:
        if os.getpid() != parent:
            raise RuntimeError
        return work(names)

    for broken in (fragile, raising):
        findings, agents = in_parallel(broken, NAMES)
        assert (findings, agents) == in_parallel(work, NAMES)


def test_a_program_with_threads_is_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert in_parallel(work, NAMES) == work(NAMES)
    finally:
        done.set()
        thread.join()


def test_no_names_at_all() -> None:
    assert in_parallel(work, []) == ([], {})
