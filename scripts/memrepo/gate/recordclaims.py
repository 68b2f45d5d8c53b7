"""Judge what a record claims: its trust, its end, the code it cites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from memrepo.gitrepo.backing import Backing
from memrepo.protocol.record import Record
from memrepo.protocol.timestamps import iso
from memrepo.recordrules.coderefs import Checkout, code_states
from memrepo.recordrules.problem import Problem
from memrepo.recordrules.trust import limit_problems

#: Clocks differ, but not by more than this.
_SKEW = timedelta(days=1)


def claim_problems(record: Record, backing: Backing, now: datetime) -> Iterator[Problem]:
    """What ``record`` claims beyond what is behind it."""
    trust = backing.trust_of(record)
    why = backing.problem(record)
    if why:
        hint = "sign it with a key that the policy lists (records.signers), or claim session"
        message = f"{why}; it counts as {trust}"
        yield Problem("record-signature", "/written_by/trust", message, hint)
    yield from limit_problems(record, trust)
    if record.lifecycle.ttl_seconds is not None and record.created_at > now + _SKEW:
        # Its end counts from then, so that it would hold for longer than it says.
        message = f"it says that it was written at {iso(record.created_at)}, which is to come"
        yield Problem("record-ttl", "/created_at", message, "write it with `memrepo records write`")


def code_problems(record: Record, checkout: Checkout | None) -> Iterator[Problem]:
    """The references of ``record`` to code that is no longer so; none without a ``checkout``."""
    if checkout is None or not record.attributes.get("code_refs"):
        return
    for index, state in enumerate(code_states(record, checkout)):
        if state.state in ("changed", "missing"):
            message = f"the code that it cites is {state.state}: {state.why}"
            hint = "look whether it still holds, and write it anew with today's place"
            yield Problem("record-code-ref", f"/attributes/code_refs/{index}", message, hint)


def check_signatures(records: Iterable[Record], backing: Backing) -> None:
    """Have the signatures of many records checked at once, and remembered by ``backing``."""
    signed = [record for record in records if record.signature]
    if len(signed) < 2:
        return
    import os
    from concurrent.futures import ThreadPoolExecutor

    # Threads that wait for ssh-keygen.
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
        list(pool.map(backing.backed, signed))
