"""A rollout's analysis as an SVG picture: each metric's difference and its bounds over time.

Drawn by hand: no library, no script, no style from outside, readable in both themes.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import ceil, floor, log10
from textwrap import wrap

from memrepo.report.escape import clipped, for_html
from memrepo.stats.analysis import Analysis, Comparison, Point

_WIDTH = 720
_PANEL = 190
_HEAD, _LINE, _LINE_CHARACTERS = 34, 16, 104
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 16, 40, 30
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#444}.t{font-weight:600;font-size:13px}"
    ".g{stroke:#ccc;stroke-width:1}.z{stroke:#666;stroke-width:1.5}"
    ".m{stroke:#b35900;stroke-width:1.5;stroke-dasharray:5 4}"
    ".b{fill:#2b6cb0;fill-opacity:.18}.w{fill:#b3261e;fill-opacity:.18}"
    ".l{fill:none;stroke:#2b6cb0;stroke-width:2}.d{fill:#2b6cb0}"
    ".wl{fill:none;stroke:#b3261e;stroke-width:2}.wd{fill:#b3261e}"
    "@media(prefers-color-scheme:dark){text{fill:#ccc}.g{stroke:#444}.z{stroke:#999}}"
)


def render_rollout_chart(analysis: Analysis) -> str:
    """The picture, one panel a metric; always well-formed SVG, whatever the names are."""
    metrics = (*analysis.guardrails, *analysis.goals)
    reason = wrap(clipped(analysis.reason, 240), _LINE_CHARACTERS)
    head = _HEAD + _LINE * len(reason)
    height = head + _PANEL * max(1, len(metrics))
    title = f"{analysis.rollout}: {analysis.verdict}"
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{for_html(clipped(f'{title}. {analysis.reason}', 400))}</title>",
        f"<style>{_STYLE}</style>",
        f'<text class="t" x="8" y="20">{for_html(clipped(title, 80))}</text>',
    ]
    for place, line in enumerate(reason):
        parts.append(f'<text x="8" y="{38 + _LINE * place}">{for_html(line)}</text>')
    if not metrics:
        parts.append(_words("The rollout has no guardrail and no goal.", head))
    for place, compared in enumerate(metrics):
        parts += _panel(compared, head + place * _PANEL)
    return "\n".join([*parts, "</svg>", ""])


def _words(text: str, top: float) -> str:
    return f'<text x="{_LEFT}" y="{top + _TOP + 24:g}">{for_html(text)}</text>'


def _panel(compared: Comparison, top: int) -> list[str]:
    measure = compared.measure
    role = "goal" if measure.margin is None else f"margin {measure.margin:g}"
    heading = (
        f"{clipped(measure.metric, 64)}: {measure.kind}, {measure.direction} is better, {role}"
    )
    lines = [f'<text class="t" x="8" y="{top + 22}">{for_html(heading)}</text>']
    points = compared.points or _only(compared)
    if not points:
        sides = f"{compared.treatment.units:,} treatment, {compared.control.units:,} control"
        return [*lines, _words(f"Not enough units to compare ({sides}).", top)]
    plot = _Plot(points, measure.margin, top)
    lines += [plot.grid(tick) for tick in _ticks(plot.low, plot.high)]
    lines.append(plot.line("z", 0))
    if measure.margin:
        lines.append(
            plot.line("m", -measure.margin if measure.direction == "higher" else measure.margin)
        )
    band, line, dot = ("w", "wl", "wd") if compared.standing == "worse" else ("b", "l", "d")
    lines.append(plot.band(band))
    lines.append(plot.path(line))
    lines.append(plot.dot(dot))
    return [*lines, *plot.days()]


def _only(compared: Comparison) -> tuple[Point, ...]:
    """The comparison as the one point of a file without times."""
    if compared.difference is None or compared.low is None or compared.high is None:
        return ()
    return (Point(0, compared.difference, compared.low, compared.high),)


class _Plot:
    """Coordinates of one panel."""

    def __init__(self, points: tuple[Point, ...], margin: float | None, top: int) -> None:
        self.points = points
        self.bottom = top + _PANEL - _BOTTOM
        self.top = top + _TOP
        # The first days' bounds are wide: the picture shows the last point's well.
        last = points[-1]
        reach = 2.5 * max(abs(last.low), abs(last.high), margin or 0.0, last.high - last.low)
        reach = reach or 1.0
        self.low = max(-reach, min(*(point.low for point in points), -(margin or 0.0), 0.0))
        self.high = min(reach, max(*(point.high for point in points), margin or 0.0, 0.0))
        if self.low == self.high:
            self.low, self.high = -reach, reach
        self.span = max(1, points[-1].day - points[0].day)

    def x(self, day: int) -> float:
        """Where a day is; a single day is in the middle."""
        if len(self.points) == 1:
            return (_LEFT + _WIDTH - _RIGHT) / 2
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (day - self.points[0].day) / self.span

    def y(self, value: float) -> float:
        """Where a difference is, no further than the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.bottom - (self.bottom - self.top) * share

    def line(self, name: str, value: float) -> str:
        """A line across at a difference."""
        y = self.y(value)
        return f'<path class="{name}" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'

    def grid(self, value: float) -> str:
        """A line across with its number."""
        y = self.y(value) + 4
        number = f"{value:+.3g}" if value else "0"
        text = f'<text x="{_LEFT - 8}" y="{y:.1f}" text-anchor="end">{number}</text>'
        return self.line("g", value) + text

    def band(self, name: str) -> str:
        """The area between the bounds; a bar where there is one day only."""
        if len(self.points) == 1:
            only, x = self.points[0], self.x(self.points[0].day)
            top, bottom = self.y(only.high), self.y(only.low)
            return f'<path class="{name}" d="M{x - 14:.1f} {top:.1f}h28V{bottom:.1f}h-28Z"/>'
        upper = [f"{self.x(p.day):.1f} {self.y(p.high):.1f}" for p in self.points]
        lower = [f"{self.x(p.day):.1f} {self.y(p.low):.1f}" for p in reversed(self.points)]
        return f'<path class="{name}" d="M{"L".join([*upper, *lower])}Z"/>'

    def path(self, name: str) -> str:
        """The difference itself."""
        places = [f"{self.x(p.day):.1f} {self.y(p.difference):.1f}" for p in self.points]
        return f'<path class="{name}" d="M{"L".join(places)}"/>'

    def dot(self, name: str) -> str:
        """Where it stands now."""
        last = self.points[-1]
        x, y = self.x(last.day), self.y(last.difference)
        return f'<circle class="{name}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'

    def days(self) -> list[str]:
        """The first and the last day, where rows had times."""
        ends = [(self.points[0], "start"), (self.points[-1], "end")]
        if len(self.points) == 1:
            ends = [(self.points[0], "middle")]
        return [
            f'<text x="{self.x(point.day):.1f}" y="{self.bottom + 18}" text-anchor="{anchor}">'
            f"{_EPOCH + point.day * _DAY:%Y-%m-%d}</text>"
            for point, anchor in ends
            if point.day
        ]


def _ticks(low: float, high: float) -> list[float]:
    """Three to six round numbers from ``low`` to ``high``."""
    raw = (high - low) / 4
    size = 10 ** floor(log10(raw))
    size *= next(step for step in (1, 2, 5, 10) if step * size >= raw)
    return [number * size for number in range(ceil(low / size), floor(high / size) + 1)]
