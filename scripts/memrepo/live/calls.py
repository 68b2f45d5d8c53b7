"""What the five tools do with a store: values in, a plain JSON value out."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from memrepo.errors import UsageError
from memrepo.live.permit import Asked, Operator
from memrepo.protocol.record import Status, Trust
from memrepo.records.store import Store
from memrepo.records.values import Filters, New, Written, record_fields

Json = dict[str, Any]


class Wanted(msgspec.Struct, frozen=True):
    """Which records a list or a search is about."""

    address: Asked | None = None
    kind: str | None = None
    trust: Trust | None = None
    status: Status | Literal["any"] = "active"
    agent: str | None = None
    expired: bool = False
    inherited: bool = True
    limit: int = 20

    def filters(self, key: str | None = None) -> Filters:
        """The same for the store, and one more, to see whether there are more."""
        return Filters(
            kind=self.kind,
            trust=self.trust,
            status=self.status,
            agent=self.agent,
            key=key,
            expired=self.expired,
            limit=self.limit + 1,
            inherited=self.inherited,
        )


def write(store: Store, operator: Operator, new: New, asked: Asked | None) -> Json:
    """Write a conclusion, in a commit of its own."""
    placed = msgspec.structs.replace(new, address=operator.to_write(asked))
    return _changed(store.write(placed))


def archive(
    store: Store, operator: Operator, record_id: str, reason: str, asked: Asked | None
) -> Json:
    """Take a record out of the active set."""
    return _changed(store.archive(record_id, reason, address=operator.to_write(asked)))


def read(
    store: Store,
    operator: Operator,
    key: str | None,
    record_id: str | None,
    asked: Asked | None,
) -> Json:
    """One record, by its key or its id.  Raises UsageError unless it is one of them."""
    given = [name for name in (key, record_id) if name]
    if len(given) != 1:
        raise UsageError("give either key or id", "memory_list shows what there is")
    return store.read(given[0], operator.to_read(asked)).as_json()


def search(store: Store, operator: Operator, query: str, wanted: Wanted) -> Json:
    """The records that fit the words of ``query``, the best first."""
    found = store.search(query, wanted.filters(), operator.to_read(wanted.address))
    return {
        "results": [one.as_json() for one in found[: wanted.limit]],
        "more": len(found) > wanted.limit,
    }


def listed(
    store: Store, operator: Operator, wanted: Wanted, *, key: str | None = None, whole: bool = False
) -> Json:
    """The records of an address, the newest first, each with what it is worth now."""
    found = store.list(wanted.filters(key), operator.to_read(wanted.address))
    records = []
    for one in found[: wanted.limit]:
        answer = store.read(one.id, one.address)
        records.append(
            {
                **one.as_json(),
                "effective_confidence": round(answer.effective_confidence, 4),
                "code_refs": [ref.as_json() for ref in answer.code],
                **({"record": record_fields(answer.record)} if whole else {}),
            }
        )
    return {"records": records, "more": len(found) > wanted.limit}


def _changed(done: Written) -> Json:
    value = done.as_json()
    kept = ("code", "severity", "message", "hint")
    return {
        **{k: v for k, v in value.items() if k not in ("pushed", "push_failed")},
        "findings": [{name: one[name] for name in kept} for one in value["findings"]],
    }
