#!/usr/bin/python3
"""Checks SARIF files against a schema and the rules a schema cannot say.

    sarif_check.py SCHEMA FILE...

One line an error on standard output; exit status 1 if there were any.
"""
import json
import sys

import jsonschema


def errors_of(schema, document):
    found = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in jsonschema.Draft7Validator(schema).iter_errors(document)]
    if found:
        return found
    for run in document["runs"]:
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        for number, result in enumerate(run["results"]):
            if result["ruleIndex"] >= len(rules) or rules[result["ruleIndex"]] != result["ruleId"]:
                found.append(f"results/{number}: ruleIndex {result['ruleIndex']} is not {result['ruleId']}")
    return found


def main(schema_path, paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    bad = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for error in errors_of(schema, json.load(file)):
                print(f"{path}: {error}")
                bad = 1
    return bad


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
