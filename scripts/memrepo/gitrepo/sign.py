"""Signatures in Git's SSH form, made and checked by ssh-keygen (OpenSSH 8.2 or newer)."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from memrepo.errors import PermissionDenied, UsageError
from memrepo.gitrepo.process import git_env
from memrepo.protocol.signers import NAMESPACE, Signer

_SECONDS = 30


def sign(data: bytes, key: Path) -> str:
    """An armoured signature over ``data`` by the private key in the file ``key``.

    A public key will do when an SSH agent holds the private one.  Raises UsageError when
    there is no such key or no ssh-keygen, PermissionDenied when it must not be read.
    """
    if not key.is_file():
        raise UsageError(f"there is no signing key {str(key)!r}", "give the file of an SSH key")
    done = _ssh_keygen(["-Y", "sign", "-n", NAMESPACE, "-f", str(key.resolve())], data)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = ascii(said[-1][:200]) if said else f"exit code {done.returncode}"
        if "permission" in why.lower() or "too open" in why.lower():
            raise PermissionDenied(
                f"the signing key cannot be used: {why}", "make the file readable for you alone"
            )
        raise UsageError(
            f"the signing key cannot be used: {why}",
            "give an SSH key without a passphrase, or one that an SSH agent holds",
        )
    return done.stdout.decode("ascii")


def is_signed_by(data: bytes, signature: str, signer: Signer) -> bool:
    """Whether ``signature`` over ``data`` is a good one of ``signer``, for this purpose."""
    with tempfile.TemporaryDirectory(prefix="memrepo-") as folder:
        allowed, armoured = Path(folder, "allowed"), Path(folder, "signature")
        allowed.write_text(signer.allowed, encoding="ascii")
        armoured.write_text(signature, encoding="utf-8")
        arguments = ["-Y", "verify", "-n", NAMESPACE, "-I", signer.name]
        return not _ssh_keygen(
            [*arguments, "-f", str(allowed), "-s", str(armoured)], data
        ).returncode


def _ssh_keygen(arguments: list[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments],
            input=data,
            capture_output=True,
            # Without a terminal it asks nobody for a passphrase.
            env={**git_env(), "SSH_ASKPASS_REQUIRE": "never"},
            start_new_session=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError(
            "signatures need ssh-keygen, and there is none", "install OpenSSH's client"
        ) from None
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"ssh-keygen did not answer within {_SECONDS} seconds",
            "look whether the SSH agent waits for you",
        ) from None
