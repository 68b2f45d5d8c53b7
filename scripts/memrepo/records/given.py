"""What callers give, checked before anything is done with it. Pure."""

from __future__ import annotations

from memrepo.errors import UsageError
from memrepo.protocol.record import Address, Writer
from memrepo.protocol.recordfile import MOST_REASON, writer_problem
from memrepo.protocol.recordplace import address_problem, record_id_problem
from memrepo.records.values import NONE_ACTIVE


def checked_address(address: Address) -> Address:
    """``address`` itself.  Raises UsageError for one that cannot be."""
    problem = address_problem(address)
    if problem:
        field, why = problem
        raise UsageError(f"the address cannot be: `{field}` {why}", f"correct the {field}")
    return address


def checked_writer(writer: Writer) -> Writer:
    """``writer`` itself.  Raises UsageError for names that cannot be."""
    for what, name in (("agent", writer.agent), ("model", writer.model)):
        problem = writer_problem(name) if name or what == "agent" else None
        if problem:
            raise UsageError(f"the {what} {name[:120]!a} {problem}", f"give the {what} a name")
    return writer


def checked_id(text: str) -> str:
    """``text`` itself.  Raises UsageError for what is no id of a record."""
    problem = record_id_problem(text)
    if problem:
        raise UsageError(
            f"{text[:120]!a} {problem}", "memrepo records list --json shows the ids there are"
        )
    return text


def checked_expect(expect: str | None) -> None:
    """Raise UsageError for what names neither a record nor that there is none."""
    if expect is not None and expect != NONE_ACTIVE and record_id_problem(expect):
        raise UsageError(
            f"{expect[:120]!a} is no id of a record", f"give an id, or {NONE_ACTIVE} for no record"
        )


def checked_reason(reason: str) -> str:
    """``reason`` itself.  Raises UsageError for an empty one, or one that is too long."""
    if not reason.strip():
        raise UsageError("a record is archived for a reason", "say why in a few words")
    if len(reason) > MOST_REASON:
        raise UsageError(
            f"the reason has {len(reason):,} characters; {MOST_REASON:,} is the most", "shorten it"
        )
    return reason
