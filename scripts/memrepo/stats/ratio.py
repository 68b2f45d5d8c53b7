"""Sample-ratio mismatch: are the arms as large as the assignment makes them?

Both arms are intervals of one size, so each tracked unit is in either with probability
one half, at every weight, and counts may be added over steps. When the counts say
otherwise, outcomes got lost on one side and no comparison can be trusted
(Fabijan et al., "Diagnosing Sample Ratio Mismatch in Online Controlled Experiments", 2019).
"""

from __future__ import annotations

from math import erfc, sqrt

import msgspec

#: The chi-square test's level. Far below that of the metrics: it is asked at every look.
LEVEL = 0.001
#: Units in the larger arm below which the test says nothing.
LEAST_UNITS = 8


class Ratio(msgspec.Struct, frozen=True):
    """Units seen in each arm, and how likely counts at least so uneven are by chance."""

    treatment: int
    control: int
    p: float

    @property
    def is_mismatch(self) -> bool:
        """Whether the arms cannot be compared."""
        return max(self.treatment, self.control) >= LEAST_UNITS and self.p < LEVEL


def sample_ratio(treatment: int, control: int) -> Ratio:
    """The chi-square test of equal arms, one degree of freedom."""
    total = treatment + control
    chi_square = (treatment - control) ** 2 / total if total else 0.0
    return Ratio(treatment, control, erfc(sqrt(chi_square / 2)))
