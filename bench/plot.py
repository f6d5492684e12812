"""Small charts side by side, as SVG: lines over a logarithmic axis, or bars."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, COLUMNS = 340, 250, 3
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 46, 40
COLORS = ("#1f6fb2", "#d9822b")


def text(x, y, what, anchor="middle", size=11, color="#333"):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" fill="%s">%s</text>' % (x, y, anchor, size, color, escape(what))


def short(v):
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if v >= unit: return "%.3g%s" % (v / unit, name)
    return "%.3g" % v


def nice_top(v):
    """The end of a vertical axis: 1, 2 or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(v)) if v > 0 else 1
    return next(f * power for f in (1, 2, 5, 10) if f * power >= v)


class Chart:
    """series: {name: [y by point]}; bars: points are words; else numbers, on a logarithmic axis."""
    def __init__(self, title, axis, points, series, bars=False):
        self.title, self.axis, self.points, self.series, self.bars = title, axis, points, series, bars
        self.top = nice_top(max(max(ys) for ys in series.values()))

    def x(self, i):
        span = WIDTH - LEFT - RIGHT
        if self.bars or len(self.points) == 1: return LEFT + span * (i + 0.5) / len(self.points)
        low, high = math.log(self.points[0]), math.log(self.points[-1])
        return LEFT + span * (0.03 + 0.94 * (math.log(self.points[i]) - low) / (high - low))

    def y(self, v): return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * v / self.top

    def frame(self):
        out = [text(WIDTH / 2, 16, self.title, size=13), text(WIDTH / 2, HEIGHT - 6, self.axis)]
        for k in range(5):
            y = self.y(self.top * k / 4)
            out.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>' % (LEFT, y, WIDTH - RIGHT, y))
            out.append(text(LEFT - 6, y + 4, short(self.top * k / 4), "end"))
        out += [text(self.x(i), HEIGHT - BOTTOM + 16, p if self.bars else short(p), size=10) for i, p in enumerate(self.points)]
        for s, name in enumerate(self.series):
            x = LEFT + 4 + s * 140
            out.append('<rect x="%d" y="24" width="10" height="10" fill="%s"/>' % (x, COLORS[s]) + text(x + 14, 33, name, "start"))
        return out

    def draw(self):
        out = self.frame()
        for s, ys in enumerate(self.series.values()):
            if self.bars:
                w = (WIDTH - LEFT - RIGHT) / len(self.points) / (len(self.series) + 1)
                for i, v in enumerate(ys):
                    x = self.x(i) + (s - len(self.series) / 2) * w
                    out.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (x, self.y(v), w * 0.9, self.y(0) - self.y(v), COLORS[s]))
                continue
            line = " ".join("%.1f,%.1f" % (self.x(i), self.y(v)) for i, v in enumerate(ys))
            out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (line, COLORS[s]))
            out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (self.x(i), self.y(v), COLORS[s]) for i, v in enumerate(ys)]
        return "\n".join(out)


def write(path, charts):
    rows = (len(charts) + COLUMNS - 1) // COLUMNS
    with open(path, "w") as f:
        f.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif">\n' % (WIDTH * COLUMNS, HEIGHT * rows))
        f.write('<rect width="100%" height="100%" fill="white"/>\n')
        for i, c in enumerate(charts):
            f.write('<g transform="translate(%d,%d)">\n%s\n</g>\n' % (i % COLUMNS * WIDTH, i // COLUMNS * HEIGHT, c.draw()))
        f.write("</svg>\n")
