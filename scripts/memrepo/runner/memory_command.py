"""``actions/memory-command``: a decision in a comment, by a person who may write.

The comment is anyone's: it comes from the event alone, and all that is taken from it are exact
commands. Who may decide is what the forge says of the commenter now, not what the event says.
Nothing of the pull request is checked out.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.forge.forge import MAY_WRITE, Forge
from memrepo.knowledge.answer import answer_text
from memrepo.knowledge.command import TakeCommand, commands_in
from memrepo.knowledge.decided import branch_in_question, decide_all
from memrepo.knowledge.proposal import propose_merge
from memrepo.runner.access import open_workflow_forge, remote_of
from memrepo.runner.change import opened
from memrepo.runner.events import Commented, commented
from memrepo.runner.inputs import MemoryCommandInputs
from memrepo.runner.job import Job
from memrepo.runner.knowledge import show_merge
from memrepo.runner.log import remark, say, stopped
from memrepo.runner.outputs import set_outputs


def run(job: Job, inputs: MemoryCommandInputs) -> int:
    """Record what the comment decides, merge again, and answer. Nothing to do is exit 0.

    The exit code is that of the first command that could not be recorded.
    """
    said = commented(job.event, job.payload)
    commands = commands_in(said.body) if said else ()
    if said is None or not commands:
        say("No command on an open pull request: nothing to do.")
        return 0
    forge = open_workflow_forge(job, inputs.github_token)
    try:
        may = forge.permission_of(said.login)
        if may not in MAY_WRITE:
            remark(f"{said.login} may not write here ({may}), so nothing was decided.")
            return 0
        pull = forge.get_pull_request(said.number)
        branch = branch_in_question(pull, job.repository, inputs.into)
        if branch is None:
            remark(f"Pull request {pull.number} brings no knowledge branch: nothing was decided.")
            return 0
        return _decided(job, inputs, forge, said, commands, branch)
    finally:
        forge.close()


def _decided(
    job: Job,
    inputs: MemoryCommandInputs,
    forge: Forge,
    said: Commented,
    commands: Sequence[TakeCommand],
    branch: str,
) -> int:
    report = None
    with opened(job, inputs) as repo:
        remote = remote_of(repo.repository)
        done = decide_all(
            repo,
            forge,
            commands,
            by=said.login,
            branch=branch,
            reason=f"a comment on pull request {said.number}",
            into=inputs.into,
            remote=remote,
        )
        good = [one for one in done if one.error is None]
        if good:
            report = propose_merge(repo, forge, into=inputs.into, remote=remote)
    if report is not None:
        show_merge(job, report)
    marker = f"<!-- memrepo:command {said.id} -->"
    answer, _ = forge.upsert_comment(
        said.number, marker, answer_text(said.login, done, report), forge.me()
    )
    set_outputs(job, {"decided": len(good), "comment-url": answer.url})
    say(f"{len(good)} of {len(done)} commands recorded: {answer.url}")
    codes = [stopped(one.error) for one in done if one.error is not None]
    return codes[0] if codes else 0
