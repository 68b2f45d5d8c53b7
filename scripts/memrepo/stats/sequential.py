"""A confidence sequence: bounds that hold at every look, however often one looks.

The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas,
"Time-uniform central limit theory and asymptotic confidence sequences",
arXiv:2103.06476v7: the one-sided form (proposition B.1) with the boundary's parameter as in
their equation for a time at which the bounds shall be tightest. A z-test looked at
daily alarms far more often than its level says; this does not.
"""

from __future__ import annotations

from math import log, log1p, sqrt

METHOD = "asymptotic confidence sequence (Waudby-Smith et al., arXiv:2103.06476v7)"

#: Units of both arms at which the bounds are tightest. Fixed: a number chosen after a look
#: at the data would void the promise. A trial of ten times as many units pays some 10 % in
#: width; one tuned for thousands could not see a disaster within a hundred units.
TUNED_FOR = 500


def half_width(
    units: int, standard_error: float, alpha: float, tuned_for: int = TUNED_FOR
) -> float:
    """How far a one-sided bound lies from the estimate.

    ``units`` is the number in both arms together, ``standard_error`` that of the
    difference. With probability at least 1 - ``alpha`` the truth is on the right side of
    the bound at every look at once, in the limit of many units at the first look.
    """
    two_sided = -2 * log(2 * alpha)
    r2 = (two_sided + log(two_sided + 1)) / tuned_for
    grown = units * r2 + 1
    return standard_error * sqrt(2 * grown / (units * r2) * log1p(sqrt(grown) / (2 * alpha)))
