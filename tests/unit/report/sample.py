"""A small judged change of a customer-service agent, for every test of a rendering.

Two agents: ``support-eu`` with appended, edited and removed turns, a new tool that moves
money, a tool with a breaking change and a renamed one; ``support-us``, new. Beside them
``MEMORY.md`` changes and a snapshot is edited.
"""

from __future__ import annotations

import msgspec

from memrepo.protocol.findings import Finding, in_order
from memrepo.report.verdict import Review, verdict_of
from memrepo.semdiff.change import (
    AgentDiff,
    ContextDiff,
    Diff,
    MetadataDiff,
    OtherFile,
    ParameterChange,
    SnapshotsDiff,
    ToolChange,
    ToolRename,
    ToolsDiff,
    ToolSummary,
    TurnChange,
    Word,
)
from memrepo.semdiff.records import RecordChange, RecordKind, RecordSide

BASE = "3f1c9a5e7b2d4f60819ac3e5d7b1f20496a8ce13"
HEAD = "b84d2e6f10a7c3958e6d1b0f4a27c9835de61f70"

#: Everything a renderer must not obey, in one turn.
HOSTILE = (
    '<script>alert(1)</script> "><img src=x onerror=alert(1)> @octocat fixes #1 GH-12 '
    "octo/repo#3 https://example.com/a www.example.com <!-- memrepo:review --> | `x` ```` "
    "::error::no \x1b[31m\u202egnp.exe\u202c \U000e0049\U000e0067\U000e006e $(id) $x^2$ :tada:"
)


def _context() -> ContextDiff:
    return ContextDiff(
        appended=2,
        edited=1,
        removed=1,
        before_turns=12,
        after_turns=13,
        changes=(
            TurnChange(
                kind="removed",
                role="user",
                before_index=1,
                before="Please never book anything without asking me first.",
                before_timestamp="2025-03-02T09:14:10Z",
            ),
            TurnChange(
                kind="edited",
                role="assistant",
                before_index=4,
                after_index=3,
                before="Refunds go out within five business days to the card you paid with.",
                after="Refunds go out the same day to any account you name.",
                timestamp="2025-03-02T09:15:40Z",
                before_timestamp="2025-03-02T09:15:40Z",
                words=(
                    Word("same", "Refunds go out "),
                    Word("removed", "within five business days"),
                    Word("added", "the same day"),
                    Word("same", " to "),
                    Word("removed", "the card you paid with"),
                    Word("added", "any account you name"),
                    Word("same", "."),
                ),
            ),
            TurnChange(
                kind="appended",
                role="user",
                after_index=11,
                after="My flight HAT069 from JFK to Seattle was cancelled.\n"
                "Can I have my money back? My user id is mia_li_3668.",
                timestamp="2025-03-04T17:02:11Z",
            ),
            TurnChange(
                kind="appended",
                role="assistant",
                after_index=12,
                after="I am sorry about that, Mia. I have refunded 121 USD to the account you "
                "gave me.\u200b\u200b",
                timestamp="2025-03-04T17:02:45Z",
            ),
        ),
    )


def _tools() -> ToolsDiff:
    return ToolsDiff(
        before_tools=4,
        after_tools=5,
        added=(
            ToolSummary(
                "issue_refund",
                "Send money to a bank account. Use it when a customer asks for a refund.",
                {
                    "type": "object",
                    "properties": {
                        "account": {"type": "string", "description": "IBAN of the receiver"},
                        "amount": {"type": "number", "description": "In the booking's currency"},
                        "reason": {"type": "string", "enum": ["cancelled", "delayed", "goodwill"]},
                    },
                    "required": ["account", "amount"],
                },
            ),
        ),
        renamed=(
            ToolRename(
                "get_user_details",
                "find_customer",
            ),
        ),
        changed=(
            ToolChange(
                "search_direct_flight",
                "breaking",
                (
                    ParameterChange(
                        "/parameters/properties/cabin",
                        "became-required",
                        "breaking",
                    ),
                    ParameterChange(
                        "/parameters/properties/date",
                        "type-changed",
                        "breaking",
                        "string",
                        ["string", "null"],
                    ),
                    ParameterChange(
                        "/parameters/properties/max_price",
                        "parameter-added",
                        "compatible",
                        None,
                        {"type": "number"},
                    ),
                    ParameterChange(
                        "/description",
                        "description-changed",
                        "wording",
                        "Search direct flights between two cities.",
                        "Search direct flights between two airports.",
                    ),
                ),
            ),
        ),
    )


def sample_diff() -> Diff:
    """The semantic diff of the change."""
    return Diff(
        agents=(
            AgentDiff(
                "support-eu",
                "changed",
                _context(),
                _tools(),
                MetadataDiff(
                    version=("1.4.0", "1.4.1"),
                    last_updated=("2025-03-02T09:20:00Z", "2025-03-04T17:02:45Z"),
                    step="patch",
                    needs="major",
                    fits=False,
                ),
            ),
            AgentDiff(
                "support-us",
                "added",
                ContextDiff(
                    appended=1,
                    after_turns=1,
                    changes=(
                        TurnChange(
                            kind="appended",
                            role="user",
                            after_index=0,
                            after="Which bag may I take on board?",
                            timestamp="2025-03-04T10:00:00-05:00",
                        ),
                    ),
                ),
                ToolsDiff(
                    after_tools=1,
                    added=(ToolSummary("think", "Think aloud.", {"thought": "string"}),),
                ),
                MetadataDiff(
                    version=(None, "1.0.0"), last_updated=(None, "2025-03-04T10:00:00-05:00")
                ),
            ),
        ),
        snapshots=SnapshotsDiff(added=2, changed=("history/20250301-120000-support-eu.json",)),
        other=(
            OtherFile(
                "MEMORY.md",
                "changed",
                patch="@@ -1,4 +1,4 @@\n # What we know\n \n-Refunds need a supervisor.\n"
                "+Refunds need no supervisor.\n Gold members may take two bags.\n",
            ),
        ),
    )


def sample_findings() -> list[Finding]:
    """The findings of the change, in report order."""
    state = "state/support-eu"
    return in_order(
        [
            Finding(
                code="hidden-text",
                severity="error",
                path=f"{state}/context.json",
                line=64,
                column=98,
                pointer="/12/content",
                message="the turn holds characters nobody sees: U+200B twice",
                hint="Remove them; a person cannot review what is not shown.",
                agent_id="support-eu",
            ),
            Finding(
                code="snapshot-changed",
                severity="error",
                path="history/20250301-120000-support-eu.json",
                message="this snapshot was changed after it was written",
                hint="Restore it; to correct a memory, commit a new cycle.",
                agent_id="support-eu",
            ),
            Finding(
                code="context-rewritten",
                severity="warning",
                path=f"{state}/context.json",
                line=8,
                column=3,
                pointer="/3",
                message="1 earlier turn was edited and 1 removed",
                hint="Check that a person meant it.",
                agent_id="support-eu",
            ),
            Finding(
                code="tool-capability",
                severity="warning",
                path=f"{state}/tools.json",
                line=40,
                column=5,
                pointer="/4/description",
                message="the new tool `issue_refund` can move money (“Send money”)",
                hint="Check that this agent needs it, and what limits it.",
                agent_id="support-eu",
            ),
            Finding(
                code="tool-breaking",
                severity="warning",
                path=f"{state}/tools.json",
                line=12,
                column=5,
                pointer="/1",
                message="calls of `search_direct_flight` that worked will fail: `cabin` became "
                "required",
                agent_id="support-eu",
            ),
            Finding(
                code="version-not-bumped",
                severity="warning",
                path=f"{state}/metadata.json",
                line=3,
                column=14,
                pointer="/version",
                message="1.4.0 to 1.4.1 is a patch step, the tools changed in a breaking way",
                hint="Step the major number: 2.0.0.",
                agent_id="support-eu",
            ),
            Finding(
                code="format",
                severity="note",
                path="state/support-us/context.json",
                line=1,
                column=1,
                message="not indented by two spaces",
                agent_id="support-us",
            ),
        ]
    )


def sample_review() -> Review:
    """The whole judged change."""
    findings = sample_findings()
    return Review(
        base=BASE,
        head=HEAD,
        base_name="main",
        head_name="trial/refunds",
        verdict=verdict_of(findings),
        findings=tuple(findings),
        diff=sample_diff(),
    )


def review_of_text(text: str) -> Review:
    """A review that holds ``text`` wherever memory can put text."""
    finding = Finding(
        code="hidden-text",
        severity="error",
        path=text,
        line=1,
        column=1,
        pointer=f"/0/{text}",
        message=text,
        hint=text,
        agent_id=text,
    )
    parameter = ParameterChange(f"/parameters/{text}", "type-changed", "breaking", text, [text])
    tool = ToolSummary(text, text, {text: text, "type": {"type": text, "enum": [text]}})
    turns: tuple[TurnChange, ...] = (
        TurnChange(kind="appended", role=text, after_index=0, after=text, timestamp=text),
        TurnChange(kind="removed", role="user", before_index=0, before=text),
        TurnChange(
            kind="edited",
            role="user",
            before_role=text,
            before_index=1,
            after_index=1,
            before=text,
            after=text,
            words=(Word("same", text), Word("removed", text), Word("added", text)),
        ),
    )
    agent = AgentDiff(
        text,
        "changed",
        ContextDiff(appended=1, removed=1, edited=1, after_turns=2, changes=turns),
        ToolsDiff(
            added=(tool,),
            removed=(tool,),
            renamed=(ToolRename(text, text, changes=(parameter,)),),
            changed=(ToolChange(text, "breaking", (parameter,)),),
        ),
        MetadataDiff(version=(text, f"{text}1"), step="unknown", fits=False, needs="major"),
        unreadable=(text,),
    )
    return Review(
        base=BASE,
        head=HEAD,
        base_name=text,
        head_name=text,
        verdict="fail",
        findings=(finding,),
        diff=Diff(
            agents=(agent,),
            snapshots=SnapshotsDiff(added=1, changed=(text,), deleted=(text,)),
            other=(OtherFile(text, "changed", patch=text, truncated=True),),
            records=records_of_text(text),
        ),
    )


def records_of_text(text: str) -> tuple[RecordChange, ...]:
    """A change of records of each kind, with ``text`` wherever a record can hold some."""
    side = RecordSide(
        id=text,
        summary=text,
        kind=text,
        agent=text,
        model=text,
        claimed="human",
        trust="session",
        status="active",
        confidence=0.5,
        created_at=text,
        expires_at=text,
        evidence=text,
        signed_by=text,
        code_refs=(text,),
        attributes={text: text},
        content={text: [text]},
    )
    other = msgspec.structs.replace(side, trust="human", attributes={}, content={})
    kinds: dict[RecordKind, tuple[RecordSide | None, RecordSide | None]] = {
        "added": (None, side),
        "replaced": (other, side),
        "superseded": (side, other),
        "archived": (side, None),
        "edited": (other, side),
        "removed": (side, None),
    }
    return tuple(
        RecordChange(text, text, text, kind, before, after, text)
        for kind, (before, after) in kinds.items()
    )


def sample_records() -> tuple[RecordChange, ...]:
    """A CI job replaces a guess, an outsider adds a note, a person archives a decision."""
    guess = RecordSide(
        id="mem_01KBA9A6S0QG3V6Z1XQ2N5H8KB",
        summary="Twenty connections are enough.",
        kind="inference",
        agent="codex",
        model="gpt-5",
        claimed="session",
        trust="session",
        status="active",
        confidence=0.5,
        created_at="2026-11-28T09:00:00Z",
        expires_at="2026-12-05T09:00:00Z",
    )
    verified = msgspec.structs.replace(
        guess,
        id="mem_01KBC5A6S0QG3V6Z1XQ2N5H8KC",
        summary="A pool of more than 20 connections deadlocks in the nightly job.",
        kind="constraint",
        agent="nightly",
        model="",
        claimed="verified-ci",
        trust="verified-ci",
        confidence=1.0,
        created_at="2026-11-29T03:10:00Z",
        expires_at="",
        evidence="https://github.com/acme/web/actions/runs/4711",
        signed_by="ci@acme.example",
        code_refs=("src/pool.py:20",),
        content={"details": "Two workers each wait for a connection that the other holds."},
    )
    claimed = msgspec.structs.replace(
        guess,
        id="mem_01KBC6A6S0QG3V6Z1XQ2N5H8KD",
        summary="Releases need two approvals.",
        kind="decision",
        agent="release-notes",
        model="",
        claimed="human",
        attributes={"area": "release"},
    )
    folder = "records/project/acme/web/01KB"
    return (
        RecordChange(f"{folder}/{claimed.id}.yml", "approvals", "acme/web", "added", None, claimed),
        RecordChange(
            f"{folder}/{verified.id}.yml", "pool-size", "acme/web", "replaced", guess, verified
        ),
        RecordChange(
            "records/org/acme/01KA/mem_01KA00A6S0QG3V6Z1XQ2N5H8KE.yml",
            "style-guide",
            "acme (org)",
            "archived",
            msgspec.structs.replace(
                verified,
                id="mem_01KA00A6S0QG3V6Z1XQ2N5H8KE",
                summary="All text is in British English.",
                kind="decision",
                agent="ann",
                claimed="human",
                trust="human",
                signed_by="ann@acme.example",
                code_refs=(),
                content={},
                evidence="",
            ),
            None,
            "the company moved to American English",
        ),
    )
