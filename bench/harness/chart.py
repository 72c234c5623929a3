"""A bar chart as SVG: one bar for each proxy, its range as a whisker."""

from dataclasses import dataclass
from html import escape

from harness.results import Spread

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 720, 190, 150, 62, 34, 20
CANDIDATE, OTHER, INK, QUIET, GRID = "#b3541e", "#7d8ea3", "#1f2933", "#5b6770", "#e4e7eb"


@dataclass(frozen=True)
class Bar:
    label: str
    spread: Spread
    candidate: bool
    lower_part: float | None = None
    """The part of the median that is drawn darker, for example user time."""


def number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}"


def step(highest: float) -> float:
    """A round distance between grid lines that gives three to six of them."""
    size = 10.0 ** -6
    while True:
        for factor in (1, 2, 5):
            if highest / (size * factor) <= 6:
                return size * factor
        size *= 10


def draw(title: str, unit: str, bars: list[Bar], digits: int, parts: tuple[str, str] | None = None) -> str:
    """Returns the SVG; `parts` names the darker and the lighter part of bars that have two."""
    highest = max((b.spread.high for b in bars), default=0) or 1
    grid = step(highest)
    lines = max(1, -int(-highest // grid))
    scale = (WIDTH - LEFT - RIGHT) / (grid * lines)
    height = TOP + ROW * len(bars) + 34
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="16" font-weight="600" fill="{INK}">{escape(title)}</text>',
    ]
    legend = f"{unit}; bar: median, line: range" + (f"; darker: {parts[0]}, lighter: {parts[1]}" if parts else "")
    out.append(f'<text x="16" y="46" fill="{QUIET}">{escape(legend)}</text>')
    bottom = TOP + ROW * len(bars)
    for i in range(lines + 1):
        x = LEFT + i * grid * scale
        out.append(f'<line x1="{x:.1f}" y1="{TOP - 4}" x2="{x:.1f}" y2="{bottom}" stroke="{GRID}"/>')
        label = f"{i * grid:,.6f}".rstrip("0").rstrip(".")
        out.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle" font-size="11" fill="{QUIET}">{label}</text>')
    for i, bar in enumerate(bars):
        y = TOP + i * ROW + (ROW - BAR) / 2
        middle = y + BAR / 2
        color = CANDIDATE if bar.candidate else OTHER
        weight = "600" if bar.candidate else "400"
        width = max(0.0, bar.spread.median) * scale
        out.append(f'<text x="{LEFT - 10}" y="{middle + 4.5}" text-anchor="end" font-weight="{weight}" fill="{INK}">{escape(bar.label)}</text>')
        opacity = 1 if bar.lower_part is None else 0.5
        out.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{color}" fill-opacity="{opacity}"/>')
        if bar.lower_part is not None:
            out.append(f'<rect x="{LEFT}" y="{y}" width="{min(width, bar.lower_part * scale):.1f}" height="{BAR}" fill="{color}"/>')
        low, high = (LEFT + max(0.0, v) * scale for v in (bar.spread.low, bar.spread.high))
        if high - low >= 1:
            out.append(f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}V{middle + 4}M{high:.1f} {middle - 4}V{middle + 4}"'
                       f' stroke="{INK}" stroke-width="1.5" fill="none"/>')
        x = max(high, LEFT + width) + 10
        flag = " (wide spread)" if bar.spread.wide else ""
        out.append(f'<text x="{x:.1f}" y="{middle + 4.5}" font-weight="{weight}" fill="{INK}">{number(bar.spread.median, digits)}'
                   f'<tspan dx="6" fill="{QUIET}" font-weight="400">{flag}</tspan></text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
