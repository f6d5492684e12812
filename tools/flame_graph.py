"""perf script on standard input -> a flame graph as SVG on standard output. usage: flame_graph.py TITLE

A box is a function, its width the share of samples with it on the stack, what it calls lies above it (Gregg, "The Flame Graph",
2016). Hover over a box to read it in full.
"""
import html, re, sys

WIDTH, HEIGHT, FONT, LEAST = 1200, 17, 11, 0.3


def stacks(lines):
    """Counts of stacks, outermost function first."""
    counts, stack = {}, None
    for line in lines:
        if not line.strip():
            if stack: counts[tuple(reversed(stack))] = counts.get(tuple(reversed(stack)), 0) + 1
            stack = None
        elif not line[0].isspace(): stack = []
        elif stack is not None:
            m = re.match(r"\s+[0-9a-f]+ (.*?)(\+0x[0-9a-f]+)? \(", line)
            if m: stack.append(m.group(1))
    if stack: counts[tuple(reversed(stack))] = counts.get(tuple(reversed(stack)), 0) + 1
    return counts


def tree(counts):
    root = {"n": 0, "below": {}}
    for stack, n in counts.items():
        root["n"] += n
        at = root
        for f in stack:
            at = at["below"].setdefault(f, {"n": 0, "below": {}})
            at["n"] += n
    return root


def boxes(node, name, x, depth, scale, out):
    width = node["n"] * scale
    if width < LEAST: return
    out.append((x, depth, width, name, node["n"]))
    for f, below in sorted(node["below"].items()):
        boxes(below, f, x, depth + 1, scale, out)
        x += below["n"] * scale


def main():
    sys.setrecursionlimit(10000)
    root, out = tree(stacks(sys.stdin)), []
    if root["n"] == 0: sys.exit("flame_graph.py: no samples")
    boxes(root, "all", 0, 0, WIDTH / root["n"], out)
    deepest = max(b[1] for b in out) + 1
    height = (deepest + 3) * HEIGHT
    print('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="%d">' % (WIDTH, height, FONT))
    print('<rect width="100%%" height="100%%" fill="#fff"/><text x="8" y="16">%s: %d samples</text>' % (html.escape(sys.argv[1]), root["n"]))
    for x, depth, width, name, n in out:
        y = height - (depth + 1) * HEIGHT - 4
        hue = hash(name) % 50
        print('<g><title>%s: %d samples, %.1f%%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="hsl(%d,80%%,65%%)" rx="2"/>'
              % (html.escape(name), n, 100 * n / root["n"], x, y, max(width - 0.5, LEAST), HEIGHT - 1, hue), end="")
        room = int(width / (FONT * 0.62))
        if room > 2: print('<text x="%.1f" y="%d">%s</text>' % (x + 2, y + 12, html.escape(name[:room])), end="")
        print("</g>")
    print("</svg>")


if __name__ == "__main__": main()
