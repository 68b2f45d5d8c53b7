"""The finding codes about files: their bytes, their places and their shape."""

from __future__ import annotations

from memrepo.protocol.rule import Rule

FILE_RULES = (
    # --- bytes: can every reader read the file as the same values?
    Rule(
        code="encoding",
        group="bytes",
        severity="error",
        title="not UTF-8",
        reason="A byte order mark, a lone surrogate or a byte that is no UTF-8 is read "
        "differently by different programs, so two agents would remember different things.",
        example="a file that starts with the bytes `EF BB BF`, or holds the byte `FF`",
        fix="Save the file as UTF-8 without a byte order mark.",
    ),
    Rule(
        code="line-endings",
        group="bytes",
        severity="error",
        switchable=True,
        title="CRLF or CR line ends",
        reason="Line ends that depend on the machine make every line of a diff differ and give "
        "the same memory two different ids.",
        example="`[]` followed by the bytes `0D 0A`",
        fix="Write LF only; `memrepo doctor --fix` finds the Git setting that adds CR.",
    ),
    Rule(
        code="json-syntax",
        group="bytes",
        severity="error",
        title="not JSON",
        reason="A file that does not parse is memory the agent has lost.",
        example="`[1,]`",
        fix="Repair the file at the line and column shown.",
    ),
    Rule(
        code="duplicate-key",
        group="bytes",
        severity="error",
        title="the same key twice in one object",
        reason="JSON readers disagree on which value counts, so a reviewer can be shown one "
        "value while the agent reads the other.",
        example='`{"version": "1.0.0", "version": "9.9.9"}`',
        fix="Keep one of the two.",
    ),
    Rule(
        code="non-finite-number",
        group="bytes",
        severity="error",
        title="NaN, Infinity or a number beyond every range",
        reason="These are not JSON: some readers take them, others fail, and a number too large "
        "becomes infinity without a word.",
        example='`{"limit": NaN}` or `{"limit": 1e999}`',
        fix="Write a finite number, `null`, or the value as a string.",
    ),
    Rule(
        code="depth",
        group="bytes",
        severity="error",
        title="nested deeper than 64",
        reason="Deep nesting exhausts the stack of readers; no memory needs it.",
        example="`[` written 65 times, then `]` 65 times",
        fix="Flatten the value.",
    ),
    Rule(
        code="format",
        group="bytes",
        severity="note",
        switchable=True,
        title="not laid out as memrepo writes it",
        reason="One layout (two spaces, keys in protocol order, one final newline) keeps line "
        "diffs small and the same memory the same bytes.",
        example="`[ ]` where memrepo writes `[]`",
        fix="Let memrepo write the file, or indent it by two spaces.",
    ),
    Rule(
        code="conflict-marker",
        group="bytes",
        severity="error",
        title="an unresolved merge",
        reason="A conflict marker means nobody has decided which of two memories is true.",
        example="a line that starts with `<<<<<<< `",
        fix="Choose one side, or both, and remove the marker lines.",
    ),
    Rule(
        code="too-large",
        group="bytes",
        severity="error",
        switchable=True,
        title="larger than the policy allows",
        reason="A huge file slows every clone for good, since Git keeps it in every commit.",
        example="a `context.json` of more than 1,048,576 bytes (`limits.file_bytes`)",
        fix="Shorten the memory, or raise `limits.file_bytes` in the policy.",
    ),
    # --- layout: does the repository hold what it should, where it should?
    Rule(
        code="missing-file",
        group="layout",
        severity="error",
        title="an agent without one of its three files",
        reason="An agent is its context, its tools and its metadata; with one missing it can "
        "neither run nor be reverted.",
        example="`state/a/` holding only `context.json` and `tools.json`",
        fix="Add the missing file; `[]` is an empty context or tool list.",
    ),
    Rule(
        code="unexpected-file",
        group="layout",
        severity="error",
        title="a file the protocol does not know",
        reason="A file beside the three is not in the snapshot, so a revert would not bring it "
        "back, and nothing checks it.",
        example="`state/a/notes.txt`",
        fix="Move it out of `state/` and `history/`.",
    ),
    Rule(
        code="agent-id",
        group="layout",
        severity="error",
        title="an agent id that is not safe as a folder's name, or is not the agent's",
        reason="The id becomes a path on every system and a trailer in every commit; it must "
        "mean the same in all of them.",
        example='`state/con/`, or `state/a/metadata.json` with `"agent_id": "b"`',
        fix="Use 1 to 100 of `A-Z a-z 0-9 . _ @ -`, starting with a letter or digit, not ending "
        "in a dot, no Windows device name; and the same id in `metadata.json`.",
    ),
    Rule(
        code="case-collision",
        group="layout",
        severity="error",
        title="two agents whose ids differ only in case",
        reason="On macOS and Windows both are one folder, so one agent overwrites the other.",
        example="`state/bob/` and `state/Bob/`",
        fix="Rename one of them.",
    ),
    Rule(
        code="special-file",
        group="layout",
        severity="error",
        title="a symlink, a submodule or an executable",
        reason="A link can point at a secret outside the repository, a submodule at another "
        "repository, and memory is never run.",
        example="`state/a/context.json` as a symlink to `/etc/passwd`",
        fix="Replace it by a plain file of mode 644.",
    ),
    Rule(
        code="snapshot-name",
        group="layout",
        severity="error",
        title="a snapshot whose name or place is wrong",
        reason="The name is how history, revert and the archive find a snapshot.",
        example="`history/20250230-120000-a.json`: there is no 30 February",
        fix="Name it `YYYYMMDD-HHMMSS-<agent_id>.json`, at `history/` or at "
        "`history/YYYY/MM/DD/` of that day.",
    ),
    Rule(
        code="snapshot-changed",
        group="layout",
        severity="error",
        title="a snapshot that was changed or deleted",
        reason="Snapshots are the way back. One that can be edited proves nothing; only the "
        "archive job may remove them, after it has published them.",
        example="a change that edits `history/20250101-120000-a.json`",
        fix="Restore the snapshot; to correct a memory, commit a new cycle.",
    ),
    Rule(
        code="snapshot-archived",
        group="layout",
        severity="warning",
        title="snapshots that leave the tree for the archive",
        reason="The archive's record lists them, path and content; what is left to see is that "
        "the release really holds them.",
        example="a change by `memrepo archive run --pr`; one finding for each shard",
        fix="`memrepo archive verify TAG --deep` reads every one of them. A review that can "
        "reach the forge checks the release itself, and makes this an error where it is not "
        "published or not the one that the record names.",
    ),
    Rule(
        code="archive-index",
        group="layout",
        severity="error",
        title="the archive's record was rewritten, or does not fit together",
        reason="`.memrepo/archive` says where every snapshot that left the tree lies. A line "
        "that is changed or lost loses the way to them.",
        example="a change that removes a line of `.memrepo/archive/index.jsonl`, or adds one "
        "whose list of snapshots is missing or has another hash",
        fix="Take the record back as the base has it; only `memrepo archive` adds to it.",
    ),
    Rule(
        code="snapshot-mismatch",
        group="layout",
        severity="error",
        title="a snapshot that does not hold what its name or its commit says",
        reason="A revert to it would bring back something that never was that agent's state.",
        example="`history/20250101-120000-a.json` whose `metadata.agent_id` is `b`",
        fix="Let `memrepo commit` write snapshots.",
    ),
    # --- schema: do the values have the protocol's shape?
    Rule(
        code="driver-unregistered",
        group="layout",
        severity="note",
        switchable=True,
        title="this clone does not merge memory by meaning",
        reason="Git falls back to merging lines and does not say so: a clean merge may then hold "
        "one tool twice, and two edits of one list are a conflict.",
        example="a fresh clone, with `merge=memrepo` in `.gitattributes` and no "
        "`merge.memrepo.driver` in its configuration (said only of a clone in which Git knows "
        "who commits)",
        fix="Run `memrepo init --repo-path .` once in each clone.",
    ),
    Rule(
        code="schema",
        group="schema",
        severity="error",
        title="a value of the wrong shape",
        reason="Programs that read the memory rely on its shape; a wrong one fails in the agent, "
        "far from the cause.",
        example='`[{"role": "system", "content": "", "timestamp": "2025-01-01T00:00:00Z"}]`: a '
        "role is `user` or `assistant`",
        fix="Give the value the shape shown in the protocol page.",
    ),
    Rule(
        code="unknown-field",
        group="schema",
        severity="error",
        title="a field the protocol does not have",
        reason="A field nobody reads is a place to hide text in, and a misspelt one is silently "
        "without effect.",
        example='`{"agent_id": "a", "version": "1.0.0", "last_updated": "…", "owner": "x"}`',
        fix="Remove the field, or correct its name.",
    ),
    Rule(
        code="timestamp",
        group="schema",
        severity="error",
        title="a time that is not ISO 8601 with an offset",
        reason="A time without its offset is hours off for readers elsewhere.",
        example='`"2025-01-01 12:00"`',
        fix="Write `2025-01-01T12:00:00Z` or `2025-01-01T12:00:00+02:00`.",
    ),
    Rule(
        code="version",
        group="schema",
        severity="error",
        title="not a semantic version",
        reason="Without three numbers nobody can tell whether a step is breaking.",
        example='`"version": "1.0"`',
        fix="Write MAJOR.MINOR.PATCH, for example `1.0.0`.",
    ),
    Rule(
        code="duplicate-tool",
        group="schema",
        severity="error",
        title="two tools of one name",
        reason="Which of the two runs depends on the program that reads the list.",
        example='`tools.json` with two tools named `"search"`',
        fix="Rename or remove one.",
    ),
    Rule(
        code="context-order",
        group="schema",
        severity="warning",
        switchable=True,
        title="turns that are not in the order of their times",
        reason="A turn that is older than the one before it was moved or inserted after the "
        "fact, or a clock was wrong.",
        example="a turn of 12:00 followed by a turn of 11:59",
        fix="Put the turns in order, or correct the time.",
    ),
)
