"""Rollouts behind the OpenFeature API, so that a service asks as it asks for any flag.

Needs the extra ``memrepo[openfeature]``. The flag's key is the rollout's name, the
evaluation context's targeting key is the unit, and its attribute ``agent_id`` the agent::

    api.set_provider(RolloutProvider(lambda: rollouts))
    branch = api.get_client().get_string_value("new-classifier", "main", context)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from memrepo.buckets.assign import Assigned, assign
from memrepo.buckets.flagd import AGENT_ATTRIBUTE
from memrepo.errors import BadInput, UsageError, extra_hint
from memrepo.protocol.rollout import Rollout, weight_text

try:
    from openfeature.evaluation_context import EvaluationContext
    from openfeature.exception import (
        FlagNotFoundError,
        InvalidContextError,
        TargetingKeyMissingError,
        TypeMismatchError,
    )
    from openfeature.flag_evaluation import FlagResolutionDetails, FlagValueType, Reason
    from openfeature.provider import AbstractProvider, Metadata
except ImportError as error:
    raise UsageError("the OpenFeature SDK is not installed", extra_hint("openfeature")) from error

_T = TypeVar("_T")


class RolloutProvider(AbstractProvider):
    """Answers with a branch (string) or whether the unit is in treatment (boolean).

    ``read`` gives the rollouts as they stand; it is asked at every evaluation, so it
    should answer from memory.
    """

    def __init__(self, read: Callable[[], Iterable[Rollout]]) -> None:
        super().__init__()
        self._read = read

    def get_metadata(self) -> Metadata:
        """The provider's name."""
        return Metadata(name="memrepo")

    def resolve_string_details(
        self,
        flag_key: str,
        default_value: str,  # noqa: ARG002
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[str]:
        """The branch that the unit reads."""
        rollout, assigned = self._assigned(flag_key, evaluation_context)
        return _details(rollout, assigned, assigned.branch)

    def resolve_boolean_details(
        self,
        flag_key: str,
        default_value: bool,  # noqa: ARG002
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[bool]:
        """Whether the unit reads the treatment branch."""
        rollout, assigned = self._assigned(flag_key, evaluation_context)
        return _details(rollout, assigned, assigned.variant == "treatment")

    def resolve_integer_details(
        self,
        flag_key: str,
        default_value: int,  # noqa: ARG002
        evaluation_context: EvaluationContext | None = None,  # noqa: ARG002
    ) -> FlagResolutionDetails[int]:
        """Always a mismatch of types."""
        raise _mismatch(flag_key)

    def resolve_float_details(
        self,
        flag_key: str,
        default_value: float,  # noqa: ARG002
        evaluation_context: EvaluationContext | None = None,  # noqa: ARG002
    ) -> FlagResolutionDetails[float]:
        """Always a mismatch of types."""
        raise _mismatch(flag_key)

    def resolve_object_details(
        self,
        flag_key: str,
        default_value: Sequence[FlagValueType] | Mapping[str, FlagValueType],  # noqa: ARG002
        evaluation_context: EvaluationContext | None = None,  # noqa: ARG002
    ) -> FlagResolutionDetails[Sequence[FlagValueType] | Mapping[str, FlagValueType]]:
        """Always a mismatch of types."""
        raise _mismatch(flag_key)

    def _assigned(self, name: str, context: EvaluationContext | None) -> tuple[Rollout, Assigned]:
        rollout = next((one for one in self._read() if one.name == name), None)
        if rollout is None:
            raise FlagNotFoundError(f"there is no rollout {name!a}")
        if context is None or not context.targeting_key:
            raise TargetingKeyMissingError("the targeting key is the unit to assign")
        agent: Any = context.attributes.get(AGENT_ATTRIBUTE)
        if agent is not None and not isinstance(agent, str):
            raise InvalidContextError(f"{AGENT_ATTRIBUTE} must be a text")
        try:
            return rollout, assign(rollout, context.targeting_key, agent)
        except BadInput as error:
            raise InvalidContextError(error.message) from None


def _mismatch(name: str) -> TypeMismatchError:
    return TypeMismatchError(f"rollout {name!a} answers with a branch, or with true and false")


def _details(rollout: Rollout, assigned: Assigned, value: _T) -> FlagResolutionDetails[_T]:
    return FlagResolutionDetails(
        value=value,
        variant=assigned.variant,
        reason=Reason.SPLIT if rollout.is_live else Reason.STATIC,
        flag_metadata={
            "phase": rollout.state.phase,
            "weight": weight_text(assigned.weight),
            "bucket": assigned.bucket,
        },
    )
