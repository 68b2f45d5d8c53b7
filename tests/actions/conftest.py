"""A GitHub and a runner on this machine (``tests/rig``)."""

from __future__ import annotations

from rig.fixtures import box, world, world_of_session

__all__ = ["box", "world", "world_of_session"]
