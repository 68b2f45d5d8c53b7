"""Judge many agents with every processor: forked, so that nothing is imported twice."""

from __future__ import annotations

import gc
import os
import pickle
import threading
from collections.abc import Callable

from memrepo.protocol.findings import Finding

#: Fewer agents than this are not worth a process.
WORTH_A_PROCESS = 500

Part = tuple[list[Finding], dict[str, set[str]]]


def in_parallel(work: Callable[[list[str]], Part], names: list[str]) -> Part:
    """What ``work`` finds about ``names``, in their order.

    Parts go to forked processes where there are processors to run them; a part whose
    process dies is done here. A program with threads is never forked: a lock that a
    thread holds would be held for ever in the child.
    """
    processes = min(os.cpu_count() or 1, len(names) // WORTH_A_PROCESS)
    if processes < 2 or not hasattr(os, "fork") or threading.active_count() > 1:
        return work(names)
    size = -(-len(names) // processes)
    parts = [names[start : start + size] for start in range(0, len(names), size)]
    # What exists now is never garbage: a collection in a child would copy all its pages.
    gc.freeze()
    children = [_fork(work, part) for part in parts[1:]]
    try:
        findings, odd = work(parts[0])
    finally:
        # Whatever happens here, no child is left behind.
        collected = [_collect(pid, pipe) for pid, pipe in children]
    for part, result in zip(parts[1:], collected, strict=True):
        more_findings, more_odd = result or work(part)
        findings += more_findings
        odd.update(more_odd)
    return findings, odd


def _fork(work: Callable[[list[str]], Part], part: list[str]) -> tuple[int, int]:
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write_end)
        return pid, read_end
    # The child leaves without a look back: what the parent has open is not its to close.
    try:
        os.close(read_end)
        with os.fdopen(write_end, "wb") as pipe:
            pickle.dump(work(part), pipe, pickle.HIGHEST_PROTOCOL)
    except BaseException:  # noqa: BLE001 (the child must not unwind into its parent)
        os._exit(1)
    os._exit(0)


def _collect(pid: int, pipe: int) -> Part | None:
    with os.fdopen(pipe, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(pid, 0)
    if status:
        return None
    result: Part = pickle.loads(data)  # noqa: S301 (our own child wrote it)
    return result
