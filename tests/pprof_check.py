#!/usr/bin/python3
"""Decodes a pprof file (profile.proto in gzip) by the format's definition, checks that
everything it refers to is there, and prints its values and its stacks.

    pprof_check.py FILE
"""
import gzip
import sys


def fields(data):
    """(field, value) of a message: numbers, and bytes of length-delimited fields."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            length = varint()
            assert at + length <= len(data), "a field is cut"
            yield key >> 3, data[at : at + length]
            at += length
        else:
            raise AssertionError(f"wire type {key & 7}")


def packed(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


def main():
    file = sys.stdin.buffer if sys.argv[1] == "-" else open(sys.argv[1], "rb")
    data = gzip.decompress(file.read())  # checks length and CRC
    parts = {}
    for field, value in fields(data):
        parts.setdefault(field, []).append(value)
    strings = [text.decode() for text in parts[6]]
    assert strings[0] == "", "the first string"
    types = [dict(fields(one)) for one in parts[1]]
    functions = {one[1]: strings[one[2]] for one in (dict(fields(data)) for data in parts[5])}
    locations = {}
    for one in (dict(fields(data)) for data in parts[4]):
        line = dict(fields(one[4]))
        locations[one[1]] = functions[line[1]] + (f":{line[2]}" if line.get(2) else "")
    assert strings[parts[14][0]] == strings[types[0][1]], "what pprof shows first"
    print(" ".join(f"{strings[one[1]]} ({strings[one[2]]})" for one in types))
    for one in (dict(fields(data)) for data in parts[2]):
        values = packed(one[2])
        assert len(values) == len(types)
        print(*values, ";".join(locations[at] for at in reversed(packed(one[1]))))


main()
