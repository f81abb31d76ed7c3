#!/usr/bin/python3
"""Checks speedscope files against tests/speedscope.schema.json and what a schema cannot say.

    speedscope_check.py FILE...

One line an error on standard output; exit status 1 if there were any.
"""
import json
import os
import sys

import jsonschema

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "speedscope.schema.json")


def errors_of(document, schema):
    for error in jsonschema.Draft7Validator(schema).iter_errors(document):
        yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        return
    frames = document["shared"]["frames"]
    if len({json.dumps(frame, sort_keys=True) for frame in frames}) != len(frames):
        yield "shared/frames: the same frame twice"
    if document.get("activeProfileIndex", 0) >= len(document["profiles"]):
        yield "activeProfileIndex: no such profile"
    for index, profile in enumerate(document["profiles"]):
        where = f"profiles/{index}"
        if profile["type"] != "sampled":
            continue
        if len(profile["samples"]) != len(profile["weights"]):
            yield f"{where}: {len(profile['samples'])} samples, {len(profile['weights'])} weights"
        if profile["endValue"] - profile["startValue"] != sum(profile["weights"]):
            yield f"{where}: weights sum to {sum(profile['weights'])}, not to what is between start and end"
        if any(frame >= len(frames) for sample in profile["samples"] for frame in sample):
            yield f"{where}: a sample of a frame that is not there"


def main(paths):
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    bad = False
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for error in errors_of(json.load(file), schema):
                print(f"{path}: {error}")
                bad = True
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
