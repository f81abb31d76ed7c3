"""Plots as SVG: lines and, where points are x, low, high, bands; logarithmic axes where asked."""
import html
import math

COLOURS = ("#0b62a4", "#d95f02", "#1b9e77", "#7a3b9a", "#444444", "#c2185b", "#8c6d1f", "#5aa9e6")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 460, 300, 58, 12, 10, 44


def _ticks(low, high, log):
    if log:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        step = max(1, (last - first) // 6)
        heads = (1,) if last - first > 2 else (1, 2, 5)
        return [head * 10.0 ** k for k in range(first, last + 1, step) for head in heads if low <= head * 10.0 ** k <= high]
    span = (high - low) or 1
    step = 10 ** math.floor(math.log10(span / 4))
    step *= next(k for k in (1, 2, 5, 10) if span / (step * k) <= 6)
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _label(value):
    if value and (abs(value) >= 10000 or abs(value) < 0.001):
        power = math.floor(math.log10(abs(value)))
        return f"{value / 10 ** power:.3g}e{power}"
    return f"{value:.3g}"


def draw(plot, lines):
    def usable(point):
        return (point[0] > 0 or not plot.log_x) and (min(point[1:]) > 0 or not plot.log_y)
    lines = [(label, [p for p in line if usable(p)]) for label, line in lines]
    points = [p for _, line in lines for p in line]
    if not points:
        return ""
    x_low, x_high = min(p[0] for p in points), max(p[0] for p in points)
    y_low, y_high = min(min(p[1:]) for p in points), max(max(p[1:]) for p in points)
    if not plot.log_y:
        y_low, y_high = min(0, y_low), max(y_high, 0)
    x_high, y_high = (x_high if x_high > x_low else x_low + 1), (y_high if y_high > y_low else y_low + 1)

    def place(value, low, high, log, from_, to):
        share = (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) if log else (value - low) / (high - low)
        return round(from_ + share * (to - from_), 1)

    def x_of(value):
        return place(value, x_low, x_high, plot.log_x, LEFT, WIDTH - RIGHT)

    def y_of(value):
        return place(value, y_low, y_high, plot.log_y, HEIGHT - BOTTOM, TOP)

    rows = (len(lines) + 1) // 2
    out = [f"<svg viewBox='0 0 {WIDTH} {HEIGHT + 16 * rows}' width='{WIDTH}' height='{HEIGHT + 16 * rows}' role='img' "
           f"font-family='system-ui,sans-serif' font-size='11'>"]
    for tick in _ticks(x_low, x_high, plot.log_x):
        out.append(f"<path d='M{x_of(tick)} {TOP}V{HEIGHT - BOTTOM}' stroke='#eee'/>"
                   f"<text x='{x_of(tick)}' y='{HEIGHT - BOTTOM + 14}' text-anchor='middle'>{_label(tick)}</text>")
    for tick in _ticks(y_low, y_high, plot.log_y):
        out.append(f"<path d='M{LEFT} {y_of(tick)}H{WIDTH - RIGHT}' stroke='#eee'/>"
                   f"<text x='{LEFT - 5}' y='{y_of(tick) + 4}' text-anchor='end'>{_label(tick)}</text>")
    out.append(f"<path d='M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}' stroke='#888' fill='none'/>")
    out.append(f"<text x='{(LEFT + WIDTH) / 2}' y='{HEIGHT - BOTTOM + 32}' text-anchor='middle'>{html.escape(plot.x)}</text>")
    out.append(f"<text x='14' y='{(HEIGHT - BOTTOM) / 2}' text-anchor='middle' transform='rotate(-90 14 {(HEIGHT - BOTTOM) / 2})'>{html.escape(plot.y)}</text>")
    for at, (label, line) in enumerate(lines):
        colour = COLOURS[at % len(COLOURS)]
        if line and len(line[0]) == 3:
            edge = [(x_of(p[0]), y_of(p[2])) for p in line] + [(x_of(p[0]), y_of(p[1])) for p in reversed(line)]
            out.append(f"<polygon points='{' '.join(f'{x},{y}' for x, y in edge)}' fill='{colour}' fill-opacity='.25' stroke='{colour}'/>")
        else:
            out.append(f"<polyline points='{' '.join(f'{x_of(p[0])},{y_of(p[1])}' for p in line)}' fill='none' stroke='{colour}' stroke-width='1.5'/>")
        x, y = LEFT + (at % 2) * 200, HEIGHT + 2 + 16 * (at // 2)
        out.append(f"<rect x='{x}' y='{y - 8}' width='12' height='8' fill='{colour}'/><text x='{x + 17}' y='{y}'>{html.escape(label)}</text>")
    return "".join(out) + "</svg>"
