"""Words counted and sorted, and a sieve."""
seed, counts = 1, {}
for i in range(30000):
    seed = (seed * 1103515245 + 12345) & 0xffffffff
    counts[f"word {seed >> 18}"] = counts.get(f"word {seed >> 18}", 0) + 1
sieve = bytearray([1]) * 100000
for i in range(2, 317):
    if sieve[i]:
        sieve[i * i::i] = bytes(len(range(i * i, len(sieve), i)))
print(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0], sum(sieve))
