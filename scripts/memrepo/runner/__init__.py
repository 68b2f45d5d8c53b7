"""The Actions runner: inputs, outputs, summary, annotations. Nothing else knows GITHUB_*.

``python -m memrepo.runner VERB`` runs one action. An input called ``fail-on`` arrives as the
variable ``MEMREPO_INPUT_FAIL_ON``.
"""

# The function "annotations" is a part of this room's face, so no future import of that name.

from memrepo.runner.commands import (
    annotation,
    annotations,
    escape_data,
    escape_property,
    for_log,
    notice,
    stop_annotation,
)

__all__ = [
    "annotation",
    "annotations",
    "escape_data",
    "escape_property",
    "for_log",
    "notice",
    "stop_annotation",
]
