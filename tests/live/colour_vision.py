"""How far apart colours look, to people with all kinds of cones and to those without one of them.

Simulation: the matrices of Machado, Oliveira and Fernandes (2009) for dichromats, applied to
linear sRGB. Distance: CIE 1976, in which 2 is about what can just be told apart side by side.
"""
SIMULATED = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(text):
    values = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]


def times(matrix, vector):
    return [min(1.0, max(0.0, sum(m * v for m, v in zip(row, vector)))) for row in matrix]


def lab(rgb):
    x = (0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2]) / 0.95047
    y = 0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2]
    z = (0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2]) / 1.08883
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def closest(colours):
    """(distance, kind of vision, name, name) of the two that look most alike to anyone."""
    names = sorted(colours)
    found = []
    for vision, matrix in SIMULATED.items():
        seen = {name: lab(times(matrix, linear(colours[name]))) for name in names}
        for i, a in enumerate(names):
            for b in names[i + 1:]:
                found.append((sum((p - q) ** 2 for p, q in zip(seen[a], seen[b])) ** 0.5, vision, a, b))
    return min(found)
