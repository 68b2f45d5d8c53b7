"""``memrepo history``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import AgentId, Json, RepoPath, log, print_json, say, since_or_until


def run(
    agent_id: AgentId,
    repo_path: RepoPath = Path(),
    number: Annotated[
        int | None, typer.Option("-n", "--number", min=1, help="At most so many, the newest.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Not older than this time, date or age (7d).")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Not newer than this.")] = None,
    json: Json = False,
) -> None:
    """The cycles of an agent, newest first, one line each.

    Example: memrepo history --agent-id support_v1 -n 10 --since 7d
    """
    from memrepo.history.cycles import cycle_line
    from memrepo.history.known import no_agent
    from memrepo.memory import MemoryRepo
    from memrepo.report.escape import for_terminal

    begin, end = since_or_until(since, "--since"), since_or_until(until, "--until")
    with MemoryRepo(repo_path) as repo:
        cycles = repo.history(agent_id, limit=number, since=begin, until=end)
        hint = "" if cycles else no_agent(repo.repository, agent_id, "HEAD").hint
    if json:
        print_json([cycle.as_json() for cycle in cycles])
        return
    for cycle in cycles:
        say(for_terminal(cycle_line(cycle)))
    if not cycles:
        log(f"no cycles of {agent_id} here (ids are matched whole)")
        log(f"  {hint}")
