#!/usr/bin/python3
"""bench/evaluate renders the papers' tables from a stored result.

    check.py SOURCE_DIR

tests/evaluation/result.json is what `bench/evaluate --size tiny` wrote. Fails when a table of the list is missing, a
row says nothing, a bar is not judged, or the result is not what docs/schema/evaluation.schema.json says; and when a
part that was not run, or has another value, does not show.

Fails also when docs/measured/evaluation.md or .html (evaluation-full likewise) is not what its JSON beside it renders to.
"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

TABLES = {
    "000": ["Figures 1 and 2:", "Figure 3:", "Figure 4:", "Table 1:", "Table 2:", "Appendix A:"],
    "001": [f"Table {n}:" for n in range(2, 12)] + ["Figures 2 and 3:", "Figure 4:", "Figure 5:", "The 10 % goal", "Normalisations by references and by data references"],
    "002": [f"Figure {n}:" for n in range(10, 18)],
    "003": ["Table II:", "Table III:", "Table IV:", "Figure 5:", "Figure 6:", "Figures 4 and 7:", "Figure 8:", "Ablation:"],
    "004": ["Accuracy at T = 4 to 64, static", "Accuracy at T = 4 to 64, dynamic", "Accuracy against recorded runs", "Validation of racetrack", "Time per thread count", "PPCG-shaped", "The rayon example"],
    "none": ["The exact engine against the plain baseline", "Memory of the exact engine", "Scaling with cores", "Collectors against cachegrind", "Collectors against lackey", "The exact engine on a GPU"],
}
HEADINGS = {"000": "## Paper 000", "001": "## Paper 001", "002": "## Paper 002", "003": "## Paper 003", "004": "## Paper 004", "none": "## Not in a paper"}
SOURCE = sys.argv[1]
problems = []


def check(holds, problem):
    if not holds:
        problems.append(problem)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def render(path, folder, *options):
    """What the files that bench/evaluate writes contain, by the ends of their names."""
    command = ["/usr/bin/python3", os.path.join(SOURCE, "bench", "evaluate"), "--render", path, "--to", folder, *options]
    written = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return tuple(read(path) for path in written), [os.path.basename(path) for path in written]


def rendered(result, folder, other=None):
    paths = [os.path.join(folder, name) for name in ("result.json", "other.json")]
    for path, value in zip(paths, (result, other)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
    return render(paths[0], folder, "--with", paths[1] if other else "")[0]


def check_measured(name, folder):
    """The committed files are what the committed results render to."""
    measured = os.path.join(SOURCE, "docs", "measured")
    texts, names = render(os.path.join(measured, name + ".json"), folder)
    check(names == [name + ".md", name + ".html"], f"{name}.json is rendered as {names}")
    for text, written in zip(texts, names):
        check(text == read(os.path.join(measured, written)), f"docs/measured/{written} is not what its result renders to: bench/evaluate --render docs/measured/{name}.json")
    return texts


def check_tables(text, page):
    papers = re.split(r"^(?=## )", text, flags=re.M)
    for paper, titles in TABLES.items():
        own = [part for part in papers if part.startswith(HEADINGS[paper])]
        check(len(own) == 1, f"no part for {HEADINGS[paper]}")
        tables = {part.split("\n")[0]: part for part in re.split(r"^### ", own[0] if own else "", flags=re.M)[1:]}
        for title in titles:
            check(any(name.startswith(title) for name in tables), f"paper {paper}: no table \"{title}\"")
            check(title in page, f"paper {paper}: no table \"{title}\" on the page")
        for name, part in tables.items():
            rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in part.splitlines() if line.startswith("|")]
            check(len(rows) > 2 and all(len(row) == 6 for row in rows), f"{name}: not a table of six columns")
            for row in rows[2:]:
                check(row[2].strip(), f"{name}: {row[0].strip()}: neither a number nor a reason")
                judged, number = row[4].strip(), re.match(r" (?:[-+]?\d|(?:yes|no)(?: \(| $))", row[2])
                check(bool(judged) == bool(row[3].strip() and number), f"{name}: {row[0].strip()}: bar \"{row[3].strip()}\", met \"{judged}\", ours \"{row[2].strip()}\"")


with open(os.path.join(SOURCE, "tests", "evaluation", "result.json"), encoding="utf-8") as file:
    stored = json.load(file)
try:
    import jsonschema
    with open(os.path.join(SOURCE, "docs", "schema", "evaluation.schema.json"), encoding="utf-8") as file:
        jsonschema.validate(stored, json.load(file))
except ImportError:
    print("no jsonschema here: the result is not checked against its schema")

with tempfile.TemporaryDirectory() as folder:
    whole = rendered(stored, folder)
    check_tables(*whole)
    check(whole == rendered(stored, folder), "two renderings of one result differ")
    check(whole[1].count("<svg") >= 8, "plots are missing on the page")
    check("no NVIDIA GPU" in whole[0], "the reason for the missing GPU does not show")
    check("| B, shared stack | not in its text | 2 (the same in 3 runs) | 2 exactly | yes |" in whole[0], "figure 1: B of the shared stack is missing")
    check("shared with bounded skew | proposed, not measured | removed |" in whole[0], "bounded skew is not named as removed")
    check("section 5.2. Tuned on: stencil, wave, cg, " in whole[0], "table 1 does not name the programs that were tuned on")
    # Rows of several numbers of threads stay apart.
    threads = copy.deepcopy(stored)
    threads["experiments"]["000.live"]["runs"][0]["numbers"] = [[f"{name}/{count} threads/live private", "samples", 1000 * count] for name in ("mean", "cg") for count in (2, 4)]
    other = rendered(threads, folder)[0]
    check("| cg (CG), 2 threads, private: samples | 2,335 | 2,000 |" in other and "| cg (CG), 4 threads, private: samples | 2,335 | 4,000 |" in other, "table 1 mixes numbers of threads")
    # The numbers come from the result.
    changed = copy.deepcopy(stored)
    for run in changed["experiments"]["000.hand"]["runs"]:
        run["numbers"] = [[row, column, 7 if row == "figure 1, B" else value] for row, column, value in run["numbers"]]
    other = rendered(changed, folder)[0]
    check("| B, private stacks | 1 | 7 (the same in 3 runs) | 1 exactly | no |" in other, "a changed number does not show, or meets its bar")
    # Programs made faster: seconds, and how many.
    cases = copy.deepcopy(stored)
    for run in cases["experiments"]["003.cases"]["runs"]:
        run["numbers"] = [["tiling", "seconds before", 2], ["tiling", "seconds after", 2.04], ["tiling", "times", 0.98], ["list", "times", 30]]
    other = rendered(cases, folder)[0]
    check("| tiling: seconds before |  | 2 (the same" in other and "| tiling: seconds after |  | 2.04 (the same" in other, "seconds before and after do not show")
    check("| tiling: times as fast |  | 0.98x (the same in 3 runs) | at least 1.04x | no |" in other, "a case that is no faster counts as met")
    check("1.04x as fast or faster |" in other and "| 1 (the same in 3 runs) | at least 5 | no |" in other, "the number of cases made faster is not judged")
    # Parts of another machine's result; each run's machine and version, and the commands of all.
    elsewhere = copy.deepcopy(stored)
    elsewhere["experiments"]["000.hand"]["runs"][1]["machine"]["processor"] = "another processor"
    elsewhere["experiments"]["000.hand"]["runs"][2]["commit"] = "0123456789abcdef"
    other, page = rendered({**stored, "experiments": {}}, folder, elsewhere)
    check("| B, private stacks | 1 | 1 (the same" in other, "--with does not take parts")
    line = next((line for line in other.splitlines() if line.startswith("- `bench/evaluate --size tiny --parts 000.hand`: seed 1: reusescope ")), "")
    check(re.search("; seed 2: [^;]* on another processor, .*; seed 3: [^;]* commit 0123456789ab, ", line), f"the machine or the version of a run does not show: {line}")
    check("# seed 3\nBUILD/reusescope analyze FOLDER/hand.csv" in page, "the commands of a run do not show")
    # A full result has files of its own.
    os.mkdir(os.path.join(folder, "full"))
    with open(os.path.join(folder, "full.json"), "w", encoding="utf-8") as file:
        json.dump({**stored, "size": "full"}, file)
    check(render(os.path.join(folder, "full.json"), os.path.join(folder, "full"))[1] == ["evaluation-full.md", "evaluation-full.html"], "a full result is written over the quick one")
    # What is committed.
    text, page = check_measured("evaluation", folder)
    check_tables(text, page)
    check("--parts 002.gpu`: " in text, "the committed tables have no numbers of a GPU")
    if os.path.exists(os.path.join(SOURCE, "docs", "measured", "evaluation-full.json")):
        check_measured("evaluation-full", folder)
    # Nothing was run: every table is still there, with a reason.
    check_tables(*rendered({**stored, "experiments": {}}, folder))

print("\n".join(problems) if problems else "every table is there")
sys.exit(bool(problems))
