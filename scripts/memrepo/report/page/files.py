"""What is no agent's state: snapshots that were touched, and the repository's other files."""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.report.escape import marked_html
from memrepo.report.page.pieces import badge, code
from memrepo.report.phrases import FILE_SIGNS, count
from memrepo.semdiff.change import Diff, OtherFile


def files(diff: Diff) -> str:
    """The section of other files and touched snapshots; "" where there are none."""
    body = "".join(_snapshots(diff)) + "".join(map(_file, diff.other))
    if not body:
        return ""
    return f'<section aria-labelledby="files"><h2 id="files">Other files</h2>{body}</section>'


def _snapshots(diff: Diff) -> Iterator[str]:
    touched = (("changed", diff.snapshots.changed), ("deleted", diff.snapshots.deleted))
    for verb, paths in touched:
        if paths:
            items = "".join(f"<li>{code(path)}</li>" for path in paths)
            mark = badge("error", "✖", f"{count(len(paths), 'snapshot')} {verb}")
            yield f'<details class="file" open><summary>{mark}</summary><ul>{items}</ul></details>'


def _file(file: OtherFile) -> str:
    kind = "" if file.kind == "text" else f" <small>{file.kind}</small>"
    sign = FILE_SIGNS[file.change]
    head = (
        f'<b class="kind {file.change}"><i aria-hidden="true">{sign}</i> {file.change}</b> '
        f"<h3>{code(file.path)}</h3>{kind}"
    )
    words = "".join(f"<li>{marked_html(each)}</li>" for each in file.words)
    words = f"<ul>{words}</ul>" if words else ""
    if not file.patch:
        return f'<div class="file bare">{head}{words}</div>'
    lines = "".join(map(_line, file.patch.rstrip("\n").split("\n")))
    rest = "<p>The rest of this diff is left out.</p>" if file.truncated else ""
    return (
        f'<details class="file" open><summary>{head}</summary>{words}'
        f'<pre class="patch" tabindex="0" dir="ltr">{lines}</pre>{rest}</details>'
    )


def _line(line: str) -> str:
    shown = f"{marked_html(line)}\n"
    if line.startswith("@@"):
        return f'<span class="hunk">{shown}</span>'
    tag = {"+": "ins", "-": "del"}.get(line[:1])
    return f"<{tag}>{shown}</{tag}>" if tag else shown
