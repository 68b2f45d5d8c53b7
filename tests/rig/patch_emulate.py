"""Corrections to the GitHub emulator's own files: ``python3 patch_emulate.py FOLDER``.

Only what cannot be mended from outside, by ``mends.py``. Fails when a passage is no longer there,
so that a new version of the emulator is looked at before it is used.
"""

from __future__ import annotations

import sys
from pathlib import Path

CORRECTIONS = (
    # Git and GitHub hash a commit message as it is given; the emulator ends it with a newline.
    (
        'const message = data.message.endsWith("\\n") ? data.message : `${data.message}\n`;',
        "const message = data.message;",
    ),
    # A label of a pull request, or a new label, asks for one of two permissions:
    # https://docs.github.com/rest/issues/labels
    (
        'assertRepoPermission(gh, authUser, repo, "issues", "write");\n  return',
        'assertRepoPermission(gh, authUser, repo, ["issues", "pull_requests"], "write");\n  return',
    ),
    # 5,000 requests an hour are not enough for what the tests prepare.
    (
        "counter = { remaining: 5e3, resetAt: now + 3600 };",
        "counter = { remaining: 5e7, resetAt: now + 3600 };",
    ),
)


def patch(folder: Path) -> list[str]:
    """Correct the ``.js`` files of a folder in place; answers what was not found."""
    missing = []
    files = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.js"))}
    for old, new in CORRECTIONS:
        hits = [path for path, text in files.items() if old in text]
        for path in hits:
            files[path] = files[path].replace(old, new)
        if not hits and not any(new in text for text in files.values()):
            missing.append(old.splitlines()[0])
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return missing


if __name__ == "__main__":
    not_found = patch(Path(sys.argv[1]))
    if not_found:
        sys.exit("emulate: not found, so not corrected:\n" + "\n".join(not_found))
