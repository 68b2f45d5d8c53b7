"""Workflows for the tests of the actions: the starters as they are shipped, and small ones."""

from __future__ import annotations

from rig.tools import ROOT

REVIEW, COMMENT = "memory-review.yml", "memory-review-comment.yml"


def starter(name: str) -> str:
    """A starter workflow as it is shipped."""
    return (ROOT / "workflows" / name).read_text(encoding="utf-8")


def starters() -> dict[str, str | bytes]:
    """Both starter workflows of a review, where a repository has them."""
    return {f".github/workflows/{name}": starter(name) for name in (REVIEW, COMMENT)}


def job(on: str, permissions: str, steps: str) -> str:
    """A workflow of one job, whose steps are indented by six spaces in ``steps``."""
    return f"""\
name: demo
on: {on}
permissions: {{}}
jobs:
  demo:
    name: demo
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions: {permissions}
    steps:
{steps}"""


def checkout(**options: str) -> str:
    """The step that checks out, for :func:`job`."""
    given = "".join(f"          {key.replace('_', '-')}: {v}\n" for key, v in options.items())
    return "      - uses: actions/checkout@v7\n" + (f"        with:\n{given}" if given else "")


DIRECT = job(
    "pull_request",
    "{contents: read, pull-requests: write}",
    checkout(persist_credentials="false")
    + """\
      - id: review
        uses: acme/memrepo/actions/review@v1
""",
)
