#!/usr/bin/python3
"""Checks simulations against docs/schema/sim.schema.json and the sums a schema cannot say.

    sim_check.py SCHEMA FILE...

One line an error on standard output; exit status 1 if there were any. "-" is
standard input.
"""
import json
import sys

import jsonschema

CLASSES = ("cold", "capacity", "conflict", "coherence")


def level_errors(level):
    name = f'{level["name"]} {level["config"]}'
    for sort in "accesses", "misses":
        total = sum(kind[sort] for kind in level["kinds"].values())
        if total != level[sort]:
            yield f"{name}: {sort} of kinds sum to {total}, not {level[sort]}"
    for row in [level, *level["kinds"].values()]:
        if "cold" in row and sum(row[one] for one in CLASSES) != row["misses"]:
            yield f"{name}: classes do not sum to misses"
    if level["misses"] > level["accesses"]:
        yield f"{name}: more misses than accesses"
    if level["blocks_at_end"] > level["blocks"]:
        yield f"{name}: more blocks than frames"


def errors_of(document):
    for level in document["levels"]:
        if not level["estimate"]:
            yield from level_errors(level)
    for pages in document.get("pages", ()):
        second = {tlb["name"]: tlb for tlb in pages["tlbs"]}
        for tlb in pages["tlbs"]:
            for sort in "accesses", "misses":
                total = sum(kind[sort] for kind in tlb["kinds"].values())
                if total != tlb[sort]:
                    yield f'{tlb["name"]} {tlb["config"]}: {sort} of kinds sum to {total}, not {tlb[sort]}'
        last = [tlb for name, tlb in second.items() if name.endswith("2")] if "tlb2" in second else None
        if last and pages["walks"] != sum(tlb["misses"] for tlb in last):
            yield f'pages of {pages["page"]}: walks are not the misses of the second level'
    windows = document.get("windows")
    for index, level in enumerate(document["levels"] if windows else []):
        for sort in "accesses", "misses":
            total = sum(window["levels"][index][sort] for window in windows)
            if total != level[sort]:
                yield f'{level["name"]}: {sort} of windows sum to {total}, not {level[sort]}'
    if windows and sum(window["accesses"] for window in windows) != document["accesses"]:
        yield "windows: accesses do not sum to the trace's"


def main(arguments):
    with open(arguments[0], encoding="utf-8") as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    found = 0
    for path in arguments[1:]:
        with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
            document = json.load(file)
        lines = [f"{'/'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(document)]
        for line in lines or errors_of(document):
            print(f"{path}: {line}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
