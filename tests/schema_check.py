#!/usr/bin/python3
"""Checks profiles against the published schema and the rules a schema cannot say.

    schema_check.py SCHEMA FILE...

One line an error on standard output; exit status 1 if there were any. A FILE is
JSON, "-" standard input.
"""
import json
import sys

import jsonschema


def histogram_errors(where, bins, linear, per_octave, cap, split=False):
    """Bins ascend, do not overlap, and are those of the layout.

    Distances from a cap on are an open bin of their own that starts there (split),
    or are in the bin of the cap, which then is open.
    """
    last = -1
    for index, entry in enumerate(bins):
        lo, hi = entry["lo"], entry["hi"]
        name = f"{where}[{index}]"
        if last is None or lo <= last:
            yield f"{name}: starts at {lo}, not above {last}"
        first, end = bin_of(lo, linear, per_octave)
        if split and lo == cap:
            first, end = cap, None
        elif cap is not None and end >= cap:
            end = cap - 1 if split else None
        if (lo, hi) != (first, end):
            yield f"{name}: {lo} to {hi} should be {first} to {end}"
        last = hi


def bin_of(value, linear, per_octave):
    if value < linear:
        return value, value
    octave = value.bit_length() - 1
    step = ((value - (1 << octave)) * per_octave) >> octave

    def edge(number):
        return (1 << octave) + -(-(number << octave) // per_octave)

    return edge(step), edge(step + 1) - 1


def profile_errors(where, profile):
    cap = profile.get("max_distance")
    if cap is None and profile["rd"] and profile["rd"][-1]["hi"] is None:
        cap = profile["rd"][-1]["lo"]
    yield from histogram_errors(where + "rd", profile["rd"], 1024, 64, cap, split=True)
    yield from histogram_errors(where + "ri", profile["ri"], 1024, 64, None)
    if "bins" in profile:
        per_octave = profile["bins"]["per_octave"]
        yield from histogram_errors(where + "bins.rd", profile["bins"]["rd"], 1, per_octave, cap)
        yield from histogram_errors(where + "bins.ri", profile["bins"]["ri"], 1, per_octave, None)
    for table in "code", "pairs", "objects", "threads", "phases":
        for index, row in enumerate(profile[table]):
            name = f"{where}{table}[{index}]"
            yield from histogram_errors(name + ".rd", row["rd"], 4, 4, cap)
            total = sum(b["count"] for b in row["rd"]) + row.get("cold", 0) + row.get("invalidated", 0)
            if total > row["references"]:
                yield f"{name}: counts sum to {total}, above its {row['references']} references"

    for index, row in enumerate(profile.get("kinds", [])):
        yield from kind_errors(f"{where}kinds[{index}]", row, cap)
    if sum(row["references"] for row in profile.get("kinds", [])) > profile["references"]:
        yield f"{where}kinds: more references in all rows than in the profile"
    yield from line_errors(where, profile, cap)
    yield from request_errors(where, profile)
    yield from row_errors(where, profile)

    parts = "cold", "invalidated", "last_touch", "pruned", "censored"
    total = sum(b["count"] for b in profile["rd"]) + sum(profile[part] for part in parts)
    if total != profile["references"]:
        yield f"{where}rd: counts sum to {total}, not to the {profile['references']} references"
    if profile["references"] and profile["made"]["model"] != "private" and not profile["made"]["sampling"]:
        if profile["cold"] != profile["distinct"]:
            yield f"{where}cold: {profile['cold']} is not the {profile['distinct']} distinct lines"
    yield from curve_errors(where + "mrc", profile)


def kind_errors(name, row, cap):
    yield from histogram_errors(name + ".rd", row["rd"], 4, 4, cap)
    yield from histogram_errors(name + ".rd_fine", row["rd_fine"], 1024, 64, cap)
    total = sum(b["count"] for b in row["rd"])
    if total != sum(b["count"] for b in row["rd_fine"]):
        yield f"{name}: rd and rd_fine differ"
    if total + row["cold"] + row["invalidated"] > row["references"]:
        yield f"{name}: counts sum to more than its references"


def line_errors(where, profile, cap):
    rows = profile.get("lines", [])
    if len(rows) > profile.get("lines_asked", 0):
        yield f"{where}lines: more rows than were asked for"
    certain = [row["misses"] - row.get("error", 0) for row in rows]
    if certain != sorted(certain, reverse=True):
        yield f"{where}lines: most certain misses come first"
    for index, row in enumerate(rows):
        name = f"{where}lines[{index}]"
        yield from histogram_errors(name + ".rd", row["rd"], 4, 4, cap)
        if sum(b["count"] for b in row["rd"]) + row["cold"] != row["references"]:
            yield f"{name}: counts do not sum to its references"
        if certain[index] < 0 or certain[index] > row["references"] or certain[index] < row["cold"]:
            yield f"{name}: its misses do not fit its other counts"


def request_errors(where, profile):
    requests, is_requests = profile.get("requests"), profile["made"]["model"] == "requests"
    if is_requests != (requests is not None):
        yield f"{where}requests: must be there just where the model is requests"
    for index, point in enumerate(profile["mrc"]):
        if ("byte_miss_ratio" in point) != is_requests:
            yield f"{where}mrc[{index}]: byte_miss_ratio belongs to the model requests"
    if not requests:
        return
    yield from histogram_errors(where + "requests.rd_bytes", requests["rd_bytes"], 1024, 64, None)
    if [b["lo"] for b in requests["rd_bytes"]] != [b["lo"] for b in profile["rd"]]:
        yield f"{where}requests.rd_bytes: not the bins of rd"
    if sum(b["count"] for b in requests["rd_bytes"]) + requests["cold_bytes"] != requests["bytes"]:
        yield f"{where}requests: counts do not sum to its bytes"
    if profile["mrc"] and profile["mrc"][-1]["bytes"] != requests["footprint_bytes"]:
        yield f"{where}mrc: does not end at the footprint"


def row_errors(where, profile):
    """What ties the rows of code, pairs, objects and contexts to the profile and to each other."""
    for table in "code", "pairs", "objects":
        rows = profile[table]
        total = sum(row["references"] for row in rows)
        if total > profile["references"] and not any(row.get("error") for row in rows):
            yield f"{where}{table}: {total} references in all rows, above the profile's {profile['references']}"
        others = [i for i, row in enumerate(rows) if row.get("function") == "(other code)"]
        if others and others != [len(rows) - 1]:
            yield f"{where}{table}: other code comes last, once"
        rows = [row for row in rows if row.get("function") != "(other code)"]
        if any(row["references"] < after["references"] for row, after in zip(rows, rows[1:])):
            yield f"{where}{table}: most references come first"
        for index, row in enumerate(rows):
            if row.get("error", 0) > row["references"]:
                yield f"{where}{table}[{index}]: its error is above its references"
            for end in (row.get("use"), row.get("reuse"), row):
                context = end.get("context") if end else None
                if context is not None and context >= len(profile["contexts"]):
                    yield f"{where}{table}[{index}]: there is no context {context}"
    for index, context in enumerate(profile["contexts"]):
        if context["id"] != index:
            yield f"{where}contexts[{index}]: its id is {context['id']}"
        if context["parent"] is not None and context["parent"] >= index:
            yield f"{where}contexts[{index}]: its parent {context['parent']} does not come before it"


def merged_by_time(profile):
    """Threads of a running program: their order is known within bounds, which give bars."""
    made = profile["made"]
    return made["source"] not in ("trace", "api") and made["model"] in ("private", "shared") and len(profile["threads"]) > 1


def curve_errors(where, profile):
    last = 0
    if bool(profile["mrc"]) != bool(profile["references"]):
        yield f"{where}: must be empty if and only if there are no references"
    for index, point in enumerate(profile["mrc"]):
        name = f"{where}[{index}]"
        if point["lines"] <= last:
            yield f"{name}: {point['lines']} lines is not above {last}"
        if point["bytes"] != point["lines"] * profile["made"]["line"]:
            yield f"{name}: bytes is not lines times the line size"
        if not point["low"] <= point["miss_ratio"] <= point["high"]:
            yield f"{name}: miss_ratio is not between low and high"
        if not profile["made"]["sampling"] and not merged_by_time(profile) and point["low"] != point["high"]:
            yield f"{name}: an exact result has no error bar"
        last = point["lines"]


def document_errors(validator, document):
    found = [f"{'/'.join(map(str, error.absolute_path)) or 'document'}: {error.message[:200]}"
             for error in best(validator, document)]
    if found:
        return found
    if "profiles" not in document:
        return list(profile_errors("", document))
    return [error for index, profile in enumerate(document["profiles"])
            for error in profile_errors(f"profiles[{index}].", profile)]


def best(validator, document):
    """The errors of the branch that the document means to be, not 'is valid under none'."""
    several = isinstance(document, dict) and "profiles" in document
    name = "profiles" if several else "profile"
    schema = dict(validator.schema)
    schema.pop("oneOf")
    schema["$ref"] = f"#/$defs/{name}"
    return type(validator)(schema).iter_errors(document)


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = 0
    for path in arguments[1:]:
        try:
            with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
                document = json.load(file)
        except (OSError, ValueError) as error:
            print(f"{path}: {error}")
            failed = 1
            continue
        for error in document_errors(validator, document):
            print(f"{path}: {error}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
