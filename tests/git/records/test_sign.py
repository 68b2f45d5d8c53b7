from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memrepo.errors import MemrepoError, UsageError
from memrepo.gitrepo.sign import is_signed_by, sign
from memrepo.protocol.signers import Signer, parse_signer, signer_of

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIJ1pNwR8V0T4dE8zqFqRj5lF3b0VtJ8e7S0W1uN3cQpX"


def make_key(folder: Path, name: str, kind: str = "ed25519", passphrase: str = "") -> Path:
    path = folder / name
    bits = ["-b", "2048"] if kind == "rsa" else []
    command = ["ssh-keygen", "-q", "-t", kind, *bits, "-N", passphrase, "-C", name, "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def signer(key: Path, trust: str = "human", name: str = "ann@example.com") -> Signer:
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    found = parse_signer(f"{trust} {name} {public}")
    assert found is not None
    return found


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_signature_is_good_for_its_bytes_and_signer_alone(tmp_path: Path, kind: str) -> None:
    key, other = make_key(tmp_path, "ann", kind), make_key(tmp_path, "bob")
    signature = sign(b"pool size\n", key)
    ann, bob = signer(key), signer(other, name="bob")
    assert is_signed_by(b"pool size\n", signature, ann)
    assert not is_signed_by(b"pool size \n", signature, ann)
    assert not is_signed_by(b"pool size\n", signature, bob)
    assert not is_signed_by(b"pool size\n", "no signature", ann)
    assert signer_of(signature, [bob, ann]) == ann
    assert signer_of(signature, [bob]) is None


def test_of_two_lines_with_one_key_the_higher_trust_counts(tmp_path: Path) -> None:
    key = make_key(tmp_path, "ann")
    low, high = signer(key, "verified-ci", "ci"), signer(key, "human", "ann")
    signature = sign(b"x", key)
    assert signer_of(signature, [low, high]) == signer_of(signature, [high, low]) == high


def test_a_signature_for_something_else_is_none_of_ours(tmp_path: Path) -> None:
    key = make_key(tmp_path, "ann")
    done = subprocess.run(
        ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(key)],
        input=b"x",
        capture_output=True,
        check=True,
    )
    assert not is_signed_by(b"x", done.stdout.decode(), signer(key))


def test_the_key_itself_need_not_be_there_once_it_is_public(tmp_path: Path) -> None:
    key = make_key(tmp_path, "ann")
    with pytest.raises(UsageError, match="no signing key"):
        sign(b"x", tmp_path / "nobody")
    (tmp_path / "noise").write_text("not a key\n")
    (tmp_path / "noise").chmod(0o600)
    with pytest.raises(UsageError, match="cannot be used"):
        sign(b"x", tmp_path / "noise")
    locked = make_key(tmp_path, "locked", passphrase="a long one")
    with pytest.raises(UsageError, match="cannot be used"):
        sign(b"x", locked)
    key.chmod(0o644)
    with pytest.raises(MemrepoError, match="cannot be used"):
        sign(b"x", key)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "human ann",
        "session ann ssh-ed25519 " + KEY,
        "human ann ssh-rsa " + KEY,
        "human a,b ssh-ed25519 " + KEY,
        "human * ssh-ed25519 " + KEY,
        "human ann ssh-ed25519 AAAA\nhuman bob",
    ],
)
def test_lines_that_name_no_signer(line: str) -> None:
    assert parse_signer(line) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n",
        "-----BEGIN SSH SIGNATURE-----\nA\n-----END SSH SIGNATURE-----\n",
        "-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAf////8=\n-----END SSH SIGNATURE-----\n",
    ],
)
def test_texts_that_are_no_signature(text: str, tmp_path: Path) -> None:
    assert signer_of(text, [signer(make_key(tmp_path, "ann"))]) is None
