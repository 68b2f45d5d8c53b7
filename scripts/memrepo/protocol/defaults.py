"""The files that a memory repository begins with, as text.

Shared by ``init``, which writes them, and by whatever compares a repository with them.
"""

from __future__ import annotations

import shlex
from functools import cache

from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.policy import Policy

#: ``state/`` is for its owner and group only: memory is nobody else's to read.
STATE_MODE = 0o750

BLOCK_BEGIN = "# memrepo: begin"
BLOCK_END = "# memrepo: end"

#: A later line of ``.gitattributes`` wins over an earlier one, and ``-binary`` keeps an
#: earlier ``*.json binary`` from being expanded, so this block belongs at the end.
ATTRIBUTES_BLOCK = f"""\
{BLOCK_BEGIN}
# Memory is text with LF line ends on every machine, whatever stands above.
# `memrepo init` rewrites the lines between these marks; put your own outside.
/state/**/*.json text eol=lf -binary diff=memrepo merge=memrepo
/history/**/*.json text eol=lf -binary diff=memrepo merge=memrepo
/records/**/*.json text eol=lf -binary diff=memrepo merge=memrepo
/records/**/*.jsonl text eol=lf -binary merge=memrepo
/records/**/*.yml text eol=lf -binary merge=memrepo
/records/**/*.yaml text eol=lf -binary merge=memrepo
/.memrepo/** text eol=lf -binary
/.memrepo/**/*.json diff=memrepo merge=memrepo
/.memrepo/**/*.jsonl merge=memrepo
/.memrepo/**/*.yml merge=memrepo
{BLOCK_END}
"""

#: No pattern here can match an agent id or a snapshot: each needs a leading dot or a
#: character that ids do not have.
IGNORE_BLOCK = f"""\
{BLOCK_BEGIN}
# `memrepo init` rewrites the lines between these marks; put your own outside.
# The core folders are never ignored, whatever stands above.
!/state/
!/state/**
!/history/
!/history/**
!/records/
!/records/**
!/.memrepo/
!/.memrepo/**
# What editors and file managers leave behind.
*~
.*.sw[a-p]
.#*
\\#*#
._*
.DS_Store
.idea/
.vscode/
{BLOCK_END}
"""

#: Git configuration of a clone that makes the drivers named above work; ``{memrepo}``
#: stands for the command that starts memrepo on this machine (:func:`driver_config`).
DRIVER_CONFIG: dict[str, str] = {
    # A hunk is headed by the turn or tool it lies in: four spaces in a state file, six in
    # a snapshot. Git shows the first group.
    "diff.memrepo.xfuncname": '^ {4,6}("(role|name)": ".*)$',
    # Where memrepo is gone, the file is shown as it is.
    "diff.memrepo.textconv": 'f() { {memrepo} textconv "$1" || cat "$1"; }; f',
    "merge.memrepo.name": "memory merged by meaning (memrepo)",
    # Where memrepo is gone or fails, Git would take the file, without a mark, for one with
    # conflicts that holds only our side: so the shell writes the mark. Git before 2.44
    # does not know %S, %X and %Y and leaves them as they are.
    "merge.memrepo.driver": (
        "{memrepo} merge-driver %O %A %B %P %S %X %Y"
        " || { grep -q '^<<<<<<< ' %A"
        " || echo '<<<<<<< memrepo could not run: this is our side only' >>%A; false; }"
    ),
    # Between several merge bases: the base, since markers would make it unreadable.
    "merge.memrepo.recursive": "binary",
}


def driver_config(command: str) -> dict[str, str]:
    """The settings for a machine where ``command``, quoted for a shell, starts memrepo."""
    return {key: value.replace("{memrepo}", command) for key, value in DRIVER_CONFIG.items()}


def driver_program(command_line: str) -> str:
    """The program that a registered merge driver starts, "" where that cannot be told."""
    try:
        words = shlex.split(command_line)
    except ValueError:
        return ""
    return words[0] if words else ""


README_TEXT = """\
# Memory repository

This repository is the memory of one or more agents, kept as text and versioned by Git.

| path | what it holds |
|---|---|
| `state/<agent_id>/` | the agent's memory now: `context.json`, `tools.json`, `metadata.json` |
| `history/` | snapshots, one a cycle; never edited, never deleted by hand |
| `records/` | experience that agents share, one record in an envelope each |
| `.memrepo/policy.yml` | the limits and rules that changes are judged by |
| `.memrepo/archive/` | which snapshots are in which release; written by the archive alone |

Snapshots leave `history/` only through the archive, which moves the old ones into the files of a
release and can bring each of them back. A folder that is missing here has not been needed yet.

| branch | what it is |
|---|---|
| `knowledge/<source>` | what one source (a wiki, an API, …) says, merged by meaning |
| the branches that `.memrepo/rollouts/` names | trials: each gets a share of the work, in steps |

Each commit is one cycle of one agent: its new state and one snapshot. The commit's subject
begins with the agent's id, and the trailers `Agent-Id:` and `Snapshot:` name both, so plain Git
finds everything:

    git log --grep '^Agent-Id: <agent_id>$'

With memrepo installed:

    memrepo history --agent-id <agent_id>                  what it learned, and when
    memrepo review --base main --head <branch>             what a change does to the memory
    memrepo revert --agent-id <agent_id> --commit <rev>    bring an earlier state back
    memrepo archive list                                   which snapshots are in a release
    memrepo archive restore <tag> --to <folder>            and how to get them back
    memrepo validate --all                                 is every file as it should be?
    memrepo doctor                                         is this clone set up well?

Run `memrepo init --repo-path .` once in a new clone: Git does not copy its local settings.
"""


def default_policy_text() -> str:
    """The policy file that ``init`` writes: every default, and why it is there."""
    return default_policy_bytes().decode()


@cache
def default_policy_bytes() -> bytes:
    """The same as bytes; a policy that equals them needs no YAML reader."""
    policy = Policy()
    limits, history, text = policy.limits, policy.history, policy.text
    archive, knowledge = policy.archive, policy.knowledge
    return f"""\
# The policy of this memory repository: what memrepo refuses, and what it only mentions.
# Every value below is the default. A change is judged by the policy of the revision it
# starts from, so an edit of this file holds from the next change on.
version: {policy.version}

limits:
  # Turns an agent may hold: each one costs in every call of the model.
  context_turns: {limits.context_turns}
  # Bytes of one file: Git keeps every version in every clone.
  file_bytes: {limits.file_bytes}
  # The share of turns and tools that one change may take from an agent, or from the
  # whole repository: losing more is nearly always a writer's mistake.
  shrink: {limits.shrink}

history:
  # flat: history/<snapshot>. daily: history/YYYY/MM/DD/<snapshot>, so that a commit
  # stays small however many snapshots there are. Every command reads both.
  layout: {history.layout}
  # Snapshots in a flat folder above which `memrepo doctor` recommends daily.
  recommend_daily_at: {history.recommend_daily_at}

text:
  # Whole words, in any case, that memory should not speak of.
  sensitive_words: [{", ".join(text.sensitive_words)}]
  # Exact texts that secret, personal-data and encoded-blob never report: test keys,
  # test cards, public ids.
  allow: [{", ".join(text.allow)}]
  # Characters of base64 or hex in one run above which a person should look.
  encoded_blob_chars: {text.encoded_blob_chars}
  # Negative score (0 to 1) above which an assistant's turn is shown to a person.
  sentiment: {text.sentiment}

tools:
  # Names of tools that no agent may have; *, ? and [abc] work as in a shell.
  deny: [{", ".join(policy.tools.deny)}]

archive:
  # Snapshots older than this many days go into a release; the newest of each agent stays.
  older_than_days: {archive.older_than_days}
  # Days that snapshots may be due before `memrepo archive status` says it has stopped.
  overdue_days: {archive.overdue_days}
  # Begins the tag of each release: history-2026-W30, or history-2026-W30.2 for the second
  # of a week. That is the week of the run; a file in it is called by the week of its
  # snapshots: history-2026-W05.tar.gz.
  tag_prefix: {archive.tag_prefix}

knowledge:
  # Sources whose branches (knowledge/<source>) are merged first, in this order; the
  # others follow by name.
  order: [{", ".join(knowledge.order)}]
  # true: once merged, a knowledge branch is moved onto the main one.
  rewrite: {str(knowledge.rewrite).lower()}

records:
  # Whose signatures count, and for which trust, one a line:
  # human ann@example.com ssh-ed25519 AAAA…, or verified-ci and the key of a CI job.
  signers: [{", ".join(policy.records.signers)}]

# error, warning, note or off, for each finding that a team may see differently. What
# makes memory unreadable or lets someone forge it is not in this list, and stays an error.
severity:
{_severity_lines()}""".encode()


def _severity_lines() -> str:
    rules = [rule for rule in CATALOGUE.values() if rule.switchable]
    width = max(len(f"{rule.code}: {rule.severity}") for rule in rules)
    return "".join(
        f"  # {f'{rule.code}: {rule.severity}':{width}}  # {rule.title}\n" for rule in rules
    )
