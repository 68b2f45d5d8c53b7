"""The front door of the actions: any command of the command line, from a workflow's inputs.

``python -m memrepo.cli.from_workflow``.
"""

from __future__ import annotations

import shlex
import sys

from memrepo.cli.app import COMMANDS, main
from memrepo.errors import MemrepoError, UsageError
from memrepo.runner.log import stopped
from memrepo.runner.run import front_door_inputs


def run() -> None:
    """Run ``command`` with ``args``, split as a shell would and never given to one."""
    try:
        inputs = front_door_inputs()
        arguments = [_command(inputs.command), *_split(inputs.args)]
    except MemrepoError as error:
        sys.exit(stopped(error))
    sys.argv = ["memrepo", *arguments]
    main()


def _command(name: str) -> str:
    if name not in COMMANDS:
        raise UsageError(f"command: {name[:40]!r} is none of {', '.join(COMMANDS)}")
    return name


def _split(args: str) -> list[str]:
    try:
        return shlex.split(args)
    except ValueError as error:
        raise UsageError(f"args: {error}", "quote as in a shell, and close every quote") from None


if __name__ == "__main__":
    run()
