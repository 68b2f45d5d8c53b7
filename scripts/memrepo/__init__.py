"""memrepo: agent memory as small text files in a Git repository, treated as code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memrepo.memory import MemoryRepo

__version__ = "0.1.0"
__all__ = ["MemoryRepo", "__version__"]


def __getattr__(name: str) -> object:
    # ``memrepo --version`` must not pay for the whole package.
    if name == "MemoryRepo":
        from memrepo.memory import MemoryRepo

        return MemoryRepo
    raise AttributeError(f"module 'memrepo' has no attribute {name!r}")
