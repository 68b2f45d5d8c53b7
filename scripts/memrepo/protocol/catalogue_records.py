"""The finding codes about shared records."""

from __future__ import annotations

from memrepo.protocol.rule import Rule

RECORD_RULES = (
    Rule(
        code="record-schema",
        group="records",
        severity="error",
        switchable=False,
        title="a file under records/ that is no record",
        reason="Agents of several vendors read these files; one that guesses at a field reads "
        "something else than its neighbour.",
        example="a record with `trust: admin`, without `created_at`, or with a field of its own "
        "at the top",
        fix="Write it with `memrepo records write`, or correct what the message names; fields of "
        "your own belong under `attributes` or `content`.",
    ),
    Rule(
        code="record-address",
        group="records",
        severity="error",
        switchable=False,
        title="a record that does not lie where its address says",
        reason="Readers find records by their path; a record elsewhere would speak for a project "
        "that it is not about.",
        example="a record of `acme/web` under `records/project/acme/shop/`",
        fix="Move it to the path that the message gives.",
    ),
    Rule(
        code="record-overwrite",
        group="records",
        severity="error",
        switchable=False,
        title="a record whose content was changed, or that was deleted",
        reason="What was concluded, by whom and on what evidence has to be there still when it "
        "turns out to be wrong.",
        example="a pull request that edits the `summary` of an existing record",
        fix="Restore it, and write a new record that supersedes it.",
    ),
    Rule(
        code="record-trust",
        group="records",
        severity="error",
        switchable=False,
        title="a record that claims, or overrules, more than its writer may",
        reason="A guess that reads like a verified fact is worse than none.",
        example="a `constraint` written with `trust: session`, or a guess with `confidence: 0.9`",
        fix="Let a person or a CI job that signs write it, or lower what it claims. What a writer "
        "of the trust `external` proposes for more than itself is named as a warning: read it as "
        "you would a stranger's.",
    ),
    Rule(
        code="record-ttl",
        group="records",
        severity="error",
        switchable=False,
        title="a record that should end sooner",
        reason="What nobody verified goes stale, and nobody notices.",
        example="`trust: session` with `ttl_seconds: 2592000`, or without any, or with a "
        "`created_at` that is to come",
        fix="Give it at most 604800 seconds (seven days), or have it verified.",
    ),
    Rule(
        code="record-supersedes",
        group="records",
        severity="error",
        switchable=False,
        title="a broken chain of records, or two active ones for one key",
        reason="A reader must find exactly one conclusion, and the way back from it.",
        example="a record that supersedes an id which does not exist, or itself by way of others",
        fix="Write it with `memrepo records write`, which keeps the chain.",
    ),
    Rule(
        code="record-code-ref",
        group="records",
        severity="warning",
        switchable=True,
        title="a record about code that is no longer so",
        reason="A conclusion about a line that has changed may not hold any more.",
        example="`code_refs: [src/pool.py:20]` where that file has changed, or is gone",
        fix="Look whether it still holds, and write it anew with today's place. The gate looks "
        "where the code is in the very repository of the memory: a record of `acme/web`, and a "
        "remote `origin` of that name.",
    ),
    Rule(
        code="record-signature",
        group="records",
        severity="warning",
        switchable=False,
        title="a signature that is missing, wrong, or of a signer who may not give that trust",
        reason="`human` and `verified-ci` are words that anyone can write; without a signature the "
        "record counts as `session`.",
        example="`trust: human` without `signature`",
        fix="Sign it with a key that the policy lists (`records.signers`), or claim `session`. A "
        "change is judged by the policy of its base: nobody lets themselves in.",
    ),
)
