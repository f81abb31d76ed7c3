"""The loop of triangle.c on 3 threads in lockstep, simulated; prints whether a result of loops agrees with it."""
import json, sys
n, threads = 40, 3
flat = [(i, j) for i in range(n) for j in range(i + 1)]
size, more = divmod(len(flat), threads)
parts, at = [], 0
for t in range(threads):
    count = size + (t < more)
    parts.append([r for i, j in flat[at:at + count] for r in (n * n * 8 + 8 * i, 8 * (n * j + i), 8 * (n * j + i))])
    at += count
stack, misses, total = [], {}, 0
sizes = (1, 4, 8, 16, 32, 64, 128, 256)
for k in range(max(map(len, parts))):
    for part in parts:
        if k >= len(part): continue
        line = part[k] // 64
        place = stack.index(line) if line in stack else 1 << 30
        if line in stack: stack.remove(line)
        stack.insert(0, line)
        total += 1
        for c in sizes: misses[c] = misses.get(c, 0) + (place >= c)
points = json.load(open(sys.argv[1]))["loops"][0]["threads"][0]["mrc"]
at = lambda lines: [p["miss_ratio"] for p in points if p["lines"] <= lines][-1]
print(max(abs(at(c) - misses[c] / total) for c in sizes) < 0.002)
