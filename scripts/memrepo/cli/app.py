"""``memrepo``: finds the command and runs it; turns every failure into words and a code.

A command's module is imported when that command is called, so that a hot path such as
``memrepo commit`` does not pay for the others.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from memrepo import __version__
from memrepo.cli.for_git import FOR_GIT
from memrepo.errors import GateRefused, MemrepoError

if TYPE_CHECKING:
    import typer

#: Every command, in the order of the help, and the module of this room that holds it.
COMMANDS: tuple[str, ...] = (
    "init",
    "commit",
    "history",
    "show",
    "blame",
    "diff",
    "review",
    "revert",
    "validate",
    "doctor",
    "maintain",
    "propose",
    "pr",
    "knowledge",
    "rollout",
    "archive",
    "records",
    "brief",
    "mcp",
)

_EPILOG = "Exit codes: 0 done, 1 the gate says no, 2 wrong use or bad input, 3 a person must decide, 4 the remote failed, 5 no permission."  # noqa: E501


def build(arguments: list[str]) -> typer.Typer:
    """The application for these arguments: with the one command they name, or with all.

    What Git runs is no person's command, so only its own help shows it.
    """
    import typer

    from memrepo.cli.root import in_order, root

    app = typer.Typer(
        name="memrepo",
        cls=in_order((*COMMANDS, *FOR_GIT)),
        help="Agent memory as small text files in a Git repository: reviewed, tried, rolled back.",
        epilog=_EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    named = arguments[0] if arguments and arguments[0] in (*COMMANDS, *FOR_GIT) else None
    for name in [named] if named else COMMANDS:
        module = importlib.import_module(f"memrepo.cli.{name.replace('-', '_')}_command")
        if isinstance(group := getattr(module, "group", None), typer.Typer):
            app.add_typer(group, name=name)
        else:
            app.command(name)(module.run)
    return app


def main() -> None:
    """The console script. Exits with the code of design: see :mod:`memrepo.errors`."""
    for stream in (sys.stdout, sys.stderr):
        # A name that is no Unicode must not stop the command that reports it.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        print(f"memrepo {__version__}")
        return
    if arguments[:1] and arguments[0] in FOR_GIT and not {"-h", "--help"} & set(arguments):
        # Git starts one process a file, so what it runs must not wait for typer.
        sys.exit(FOR_GIT[arguments[0]](arguments[1:]))
    sys.exit(_run(arguments))


def _run(arguments: list[str]) -> int:
    import typer

    try:
        result: Any = build(arguments)(args=arguments, prog_name="memrepo", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except MemrepoError as error:
        return report(error)
    except typer.Abort:
        return 130
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough; Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except PermissionError as error:
        print(f"memrepo: no permission: {error.filename or error}", file=sys.stderr)
        return 5
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None:
            print("memrepo: this is a bug in memrepo; please report what follows", file=sys.stderr)
            raise
        show()
        return 2


def report(error: MemrepoError) -> int:
    """Say what happened and what to do, on standard error; the exit code."""
    from memrepo.cli.options import log, log_findings
    from memrepo.report.escape import for_terminal

    if isinstance(error, GateRefused) and error.findings:
        log_findings(error.findings)
    log(f"memrepo: {for_terminal(error.message)}")
    if error.hint:
        log(f"  {for_terminal(error.hint)}")
    return error.exit_code


if __name__ == "__main__":
    main()
