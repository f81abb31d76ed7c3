"""Paper 000: sampled, parallel, multicore-aware reuse distance of running programs."""
import json
import math
import statistics

from plan import Plot, Row, at_least, at_most, count, equal, experiment, line_of, number, percent, rows_of, table, times, values_of

PLACE = "Paper 000"
TUNED = ("stencil, wave, cg, fft, multigrid, dense, pipeline, transactions, forkjoin, falseshare and graph: the number and form of bursts were "
         "chosen on them (docs/measured/multicore.md); annealing was left out; pruning was chosen on generated traces")
SETTING = "programs of the paper's kinds (bench/programs/multicore) instead of SPEC OMP, NAS, PARSEC and STAMP"


# ---- figures 1 and 2, by hand ----

def distances(run, rows, model):
    """{distance: reuses} of a trace given as (thread, kind, block), None for reuses without a distance."""
    path = run.path("hand.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write("addr,size,kind,tid\n" + "".join(f"{64 * ord(block)},8,{kind},{thread}\n" for thread, kind, block in rows))
    profile = run.json("analyze", path, "--model", model, "--engine", "exact")
    found = {one["lo"]: one["count"] for one in profile["rd"]}
    found[None] = profile["invalidated"]
    return found


def last_distance(run, rows, model):
    """Of the last reference: what it adds to the distances of those before it; -1 if it has none."""
    before, after = distances(run, rows[:-1], model), distances(run, rows, model)
    return next((distance for distance in after if distance is not None and after[distance] > before.get(distance, 0)), -1)


def reads(thread, blocks):
    return [(thread, "R", block) for block in blocks]


@experiment("000.hand", tiny={}, quick={}, full={})
def hand(run):
    """Figures 1 and 2 as traces of a few references"""
    stream = reads(1, "ABCC") + [(2, "W", "A")] + reads(1, "B")
    alone = [one for one in stream if one[0] == 1]
    run.put("figure 1, B", "independent", last_distance(run, alone, "private"))
    run.put("figure 1, A", "independent", last_distance(run, alone + reads(1, "A"), "private"))
    for model in ("private", "shared"):
        run.put("figure 1, B", model, last_distance(run, stream, model))
        run.put("figure 1, A", model, last_distance(run, stream + reads(1, "A"), model))
    # X is tracked; the write of A by thread 2 leaves a hole; then the reference of the case, then X again
    hole = [(2, "W", "A")]
    run.put("figure 2, case 1", "private", last_distance(run, reads(1, "XAB") + hole + reads(1, "BX"), "private"))
    run.put("figure 2, case 2", "private", last_distance(run, reads(1, "XCAB") + hole + reads(1, "CX"), "private"))
    run.put("figure 2, case 3", "private", last_distance(run, reads(1, "YXAB") + hole + reads(1, "YX"), "private"))


table("000.figures-1-2", "Figures 1 and 2: distances by hand", PLACE + ", Figs. 1 and 2, sections 2 and 3.2", [
    Row("B, independent stacks", "1", ("000.hand", "figure 1, B", "independent"), number, equal(1)),
    Row("A, independent stacks", "2", ("000.hand", "figure 1, A", "independent"), number, equal(2)),
    Row("B, private stacks", "1", ("000.hand", "figure 1, B", "private"), number, equal(1)),
    Row("A, private stacks (-1: invalidated)", "infinite", ("000.hand", "figure 1, A", "private"), number, equal(-1)),
    Row("B, shared stack", "not in its text", ("000.hand", "figure 1, B", "shared"), number, equal(2), "by the paper's definition: C and thread 2's A lie between"),
    Row("A, shared stack", "1", ("000.hand", "figure 1, A", "shared"), number, equal(1),
        "B comes back before A here as in the paper's text, so only B lies between thread 2's write of A and its reuse"),
    Row("reference above the hole (case 1)", "set and hole count unchanged: 2", ("000.hand", "figure 2, case 1", "private"), number, equal(2)),
    Row("reference between hole and X (case 2)", "the hole moves down: 3", ("000.hand", "figure 2, case 2", "private"), number, equal(3)),
    Row("reference below X or new (case 3)", "the hole is filled: 2", ("000.hand", "figure 2, case 3", "private"), number, equal(2)),
], tuned="nothing: the answers follow from the definition")


# ---- figures 3 and 4: CDFs ----

def cdf(profile):
    total = profile["references"] or 1
    sum_, line = 0, []
    for one in profile["rd"]:
        sum_ += one["count"]
        line.append([max(one["hi"], 0.5), sum_ / total])
    return line


def area_between(first, second):
    """Mean distance of two CDFs over the octaves of the first."""
    def at(line, x):
        found = 0
        for place, value in line:
            if place > x:
                break
            found = value
        return found
    if not first:
        return math.nan
    places = [2 ** (k / 4) for k in range(int(4 * math.log2(max(first[-1][0], 2))) + 1)]
    return sum(abs(at(first, x) - at(second, x)) for x in places) / len(places)


@experiment("000.cdf", tiny={"programs": ["forkjoin"], "size": 0.02, "threads": 2}, quick={"programs": ["fft", "cg"], "size": 0.3, "threads": 2},
            full={"programs": ["stencil", "wave", "cg", "fft", "multigrid", "dense", "annealing", "pipeline", "transactions", "forkjoin", "falseshare", "graph"],
                  "size": 1.5, "threads": 4}, needs=("gcc", "cc"))
def cdf_live(run):
    """CDFs of running programs, full and sampled"""
    for program in run.size["programs"]:
        run.command(run.tool, "cc", "-q", "gcc", "-O2", "-g", "-w", "-fopenmp", f"bench/programs/multicore/{program}.c", "-o", run.path(program), "-lm", "-pthread")
        seed = ["--seed", run.seed]
        target = ["--", run.path(program), run.size["threads"], run.size["size"]]

        def measured(*options):
            path = run.path("cdf.json")
            run.command(run.tool, "run", "-q", "--bins", "10", *options, "--format", "json", "-o", path, *target)
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
            return {one["made"]["model"]: cdf(one) for one in found.get("profiles", [found])}
        full = measured("--engine", "exact", "--model", "both")
        sampled = measured(*seed, "--engine", "sampled:ordering=parallel", "--model", "private")
        lines = [("private, full", full["private"]), ("private, sampled", sampled["private"]), ("shared, full", full["shared"]),
                 ("shared, parallel", measured(*seed, "--engine", "sampled:ordering=parallel", "--model", "shared")["shared"]),
                 ("shared, sequential", measured(*seed, "--engine", "sampled:ordering=sequential", "--model", "shared")["shared"])]
        for name, line in lines:
            if run.seed == 1:
                run.line(f"{program}: {name}", line)
        run.put(program, "private", area_between(lines[0][1], lines[1][1]))
        run.put(program, "parallel", area_between(lines[2][1], lines[3][1]))
        run.put(program, "sequential", area_between(lines[2][1], lines[4][1]))


def cdf_rows(column, bar):
    return lambda result: [Row(f"{program}: mean distance of the two CDFs, {column}", "a plot", ("000.cdf", program, column), percent, at_most(bar, percent), SETTING)
                           for program in rows_of(result, "000.cdf")]


class CdfPlots:
    """One plot per program that the result has."""
    def __init__(self, kinds):
        self.kinds = kinds

    def __iter__(self):
        programs = ["fft", "cg", "annealing", "stencil", "multigrid", "forkjoin"]
        for program in programs:
            yield Plot(program, "reuse distance, 64-byte blocks", "share of references",
                       lambda r, p=program: [(kind, line_of(r, "000.cdf", f"{p}: {kind}")) for kind in self.kinds], log_x=True)


table("000.figure-3", "Figure 3: CDFs, full against sampled, private stacks", PLACE + ", Fig. 3, section 5.1", cdf_rows("private", 0.05), TUNED,
      CdfPlots(["private, full", "private, sampled"]), ["000.cdf"])
table("000.figure-4", "Figure 4: CDFs of shared stacks, parallel and sequential", PLACE + ", Fig. 4, section 5.2",
      lambda result: cdf_rows("parallel", 0.10)(result) + cdf_rows("sequential", 0.05)(result), TUNED,
      CdfPlots(["shared, full", "shared, parallel", "shared, sequential"]), ["000.cdf"])


# ---- tables 1 and 2 ----

PAIRS = {  # ours: the paper's program of the kind, its samples; accuracy, slowdown and references analysed: private, shared, sequential
    "stencil": ("swim", 67589, (95.8, 143.0, 92.1), (70.0, 496.3, 93.8), (94.6, 1084.0, 91.7)),
    "cg": ("CG", 2335, (95.9, 26.8, 22.9), (45.5, 90.3, 19.8), (94.8, 354.6, 19.4)),
    "fft": ("FT", 8050, (98.1, 21.9, 7.4), (57.9, 42.2, 12.0), (84.2, 225.5, 10.4)),
    "multigrid": ("MG", 4252, (94.8, 57.0, 28.3), (60.0, 157.2, 32.9), (71.6, 720.8, 36.9)),
    "dense": ("applu", 141814, (98.6, 20.2, 8.1), (86.6, 43.2, 17.5), (93.6, 281.8, 16.8)),
    "annealing": ("canneal", 1098, (91.4, 12.6, 15.4), (75.2, 25.3, 20.8), (88.7, 94.6, 17.7)),
    "pipeline": ("ferret", 9804, (97.1, 24.5, 6.8), (89.2, 28.5, 6.2), (93.7, 154.2, 11.6)),
    "transactions": ("genome", 1488, (90.7, 7.7, 22.6), (74.6, 12.3, 21.8), (84.7, 22.2, 4.8)),
}
METHODS = (("live private", "private", 0.97, 5), ("live shared parallel", "shared, parallel", 0.90, 8), ("live shared sequential", "shared, sequential", 0.90, 8))
FEWEST = 2000  # samples of a row that counts
AVERAGES = {"live private": (95.6, 29.6, 19.6), "live shared parallel": (74.1, 80.0, 21.4), "live shared sequential": (88.9, 265.1, 19.4)}
COLUMNS = ("accuracy without 0", "slowdown", "analysed")
AGREE = "exact runs agree without 0"
AGREE_NOTE = "one exact run against the mean of the others: threads interleave differently in each run, so no sample can be expected to have more"


@experiment("000.live", tiny={"programs": ["forkjoin"], "size": "0.05", "threads": 2}, quick={"programs": ["cg", "fft", "multigrid", "transactions"], "size": "0.3", "threads": 2},
            full={"programs": [], "size": "1.5:20", "threads": 0}, needs=("gcc", "cc"), runs=1)
def live(run):
    """Accuracy against the mean of three exact runs, slowdown and code selection of sampling inside running programs; three seeds each"""
    wanted = ("samples", *COLUMNS, AGREE, "accuracy", "exact runs agree", "selection 75", "selection 80", "selection 90", "selection 95", "faster")
    found = run.bench("bench_multicore", run.tool, "bench/programs/multicore", run.size["size"], run.size["threads"], 0, *run.size["programs"],
                      keep=lambda row, column: "plain seconds" in column or column in wanted and "/live" in row and "lines" not in row and not row.startswith("mean of"))
    # means over programs for each of the three seeds, of rows with enough samples
    for method in [f"{threads}/{name}" for threads in threads_of(found) for name in [name for name, *_ in METHODS] + ["default private", "default shared"]]:
        for column in wanted:
            for seed in range(3):
                each = [values[seed] for (row, name), values in found.items() if row.endswith("/" + method) and name == column and not row.startswith("mean of")
                        and len(values) > seed and found[row, "samples"][seed] >= FEWEST]
                if each:
                    run.put(f"mean/{method}", column, statistics.geometric_mean(max(value, 1e-3) for value in each))


def threads_of(found):
    """The numbers of threads in rows of 000.live, as "2 threads"."""
    return list(dict.fromkeys(row.split("/")[1] for row, _ in found if " threads" in row))


def live_threads(result):
    return threads_of((row, "") for row in rows_of(result, "000.live")) or ["2 threads"]


def table_1(result):
    return [row for threads in live_threads(result) for row in table_1_of(result, threads)]


def table_1_of(result, threads):
    def ours(row, column):
        return ("000.live", row, column)
    out = []
    for method, name, accuracy, slowdown in METHODS:
        paper, row = AVERAGES[method], f"mean/{threads}/{method}"
        out.append(Row(f"average, {threads}, {name}: accuracy", f"{paper[0]} %", ours(row, COLUMNS[0]), percent, at_least(accuracy, percent), SETTING))
        if values_of(result, *ours(row, AGREE)):
            out.append(Row(f"average, {threads}, {name}: accuracy of exact runs", "", ours(row, AGREE), percent, None, AGREE_NOTE))
        out.append(Row(f"average, {threads}, {name}: slowdown", f"{paper[1]}x", ours(row, "slowdown"), times, at_most(slowdown, times),
                       "processor time of tool and program over the plain program; the paper's is elapsed time on 8 cores"))
        out.append(Row(f"average, {threads}, {name}: references analysed", f"{paper[2]} %", ours(row, "analysed"), percent))
    out.append(Row(f"average, {threads}, shared with bounded skew", "proposed, not measured", "removed", differs="it was no better than parallel order"))
    for model in ("private", "shared"):
        out.append(Row(f"average, {threads}, as `run` does by default, {model}", "", ours(f"mean/{threads}/default {model}", COLUMNS[0]), percent))
    found = {row.split("/")[0] for row in rows_of(result, "000.live")}
    for program, (theirs, samples, *numbers) in PAIRS.items():
        if program not in found:
            continue
        at = f"{program} ({theirs}), {threads}"
        out += [Row(f"{at}: processor seconds of the plain program{what}", "", ours(f"{program}/{threads}", "plain seconds" + what), number, None, note)
                for what, note in (("", "for accuracy; its exact analysis has to fit too"), (", longer", "for slowdown and references analysed"))
                if not what or values_of(result, *ours(f"{program}/{threads}", "plain seconds" + what))]
        for (method, name, _, _), (accuracy, slowdown, analysed) in zip(METHODS, numbers):
            row = f"{program}/{threads}/{method}"
            out.append(Row(f"{at}, {name}: samples", f"{samples:,}" if name == "private" else "", ours(row, "samples"), count))
            out.append(Row(f"{at}, {name}: accuracy", f"{accuracy} %", ours(row, COLUMNS[0]), percent))
            if values_of(result, *ours(row, AGREE)):
                out.append(Row(f"{at}, {name}: accuracy of exact runs", "", ours(row, AGREE), percent))
            out.append(Row(f"{at}, {name}: slowdown", f"{slowdown}x", ours(row, "slowdown"), times))
            out.append(Row(f"{at}, {name}: references analysed", f"{analysed} %", ours(row, "analysed"), percent))
    out.append(Row(f"faster than the full analysis, {threads}", "177x", ours(f"mean/{threads}/live private", "faster"), times, None, "the exact engine here is itself far faster than the paper's"))
    return out


table("000.table-1", "Table 1: accuracy, slowdown and references analysed", PLACE + ", Table 1, sections 5.1 and 5.2", table_1, TUNED, (), ["000.live"])
SELECTION = {"75": (91.09, 92.05), "80": (91.62, 91.74), "90": (91.77, 92.23), "95": (92.02, 91.63)}
table("000.table-2", "Table 2: code selection", PLACE + ", Table 2, section 6", lambda result: [
    Row(f"{name}, {threads}, code with {share} % of the misses", f"{paper[at]} %", ("000.live", f"mean/{threads}/{method}", f"selection {share}"), percent, at_least(paper[at] / 100, percent), SETTING)
    for threads in live_threads(result) for at, (method, name) in enumerate((("live private", "private"), ("live shared parallel", "shared"))) for share, paper in SELECTION.items()], TUNED, (), ["000.live"])


# ---- appendix A ----

BINS = 200  # of the paper's example


@experiment("000.samples", tiny={"references": "200K", "periods": [100, 20]}, quick={"references": "4M", "periods": [10000, 1000, 100, 50]},
            full={"references": "40M", "periods": [100000, 10000, 1000, 500, 200]})
def sample_sizes(run):
    """Sample sizes against the measured error, on one trace of four threads"""
    trace = run.path("mix.rsct")
    run.command(run.tool, "gen", "mix,lines=60000,threads=4,write=0.2", "-n", run.size["references"], "--seed", 11, "-q", "-o", trace)
    found = run.bench("bench_sampled", ";".join(f"period={period}" for period in run.size["periods"]), trace, keep=lambda row, column: False)
    for period in run.size["periods"]:
        for model in ("private", "shared"):
            row = f"mix.rsct/{model}/sampled:period={period}"
            taken, accuracy = found[row, "samples"][0], found[row, "accuracy"][0]
            run.put(f"1 in {period}, {model}", "samples", taken)
            run.put(f"1 in {period}, {model}", "error", 2 * (1 - accuracy))
            run.put(f"1 in {period}, {model}", "error over bound", 2 * (1 - accuracy) / (1.96 * math.sqrt(BINS / taken)))


def appendix(result):
    out = [Row("samples for 10 % of total error over 200 bins, 95 %", "76,832", lambda r: [1.96 ** 2 * BINS / 0.1 ** 2], count, equal(1.96 ** 2 * BINS / 0.1 ** 2), "the formula, computed")]
    for row in rows_of(result, "000.samples"):
        taken = values_of(result, "000.samples", row, "samples")
        bound = 1.96 * math.sqrt(BINS / (sum(taken) / len(taken)))
        out.append(Row(f"{row}: total error of {sum(taken) / len(taken):,.0f} samples", f"at most {percent(bound)}", ("000.samples", row, "error"), percent, at_most(bound, percent),
                       "samples that were pruned or still waiting at the end count as samples; 10 bins per octave"))
    return out


table("000.appendix-a", "Appendix A: sample sizes against the measured error", PLACE + ", Appendix A", appendix, "nothing", [
    Plot("total error and its bound", "samples", "total error", lambda r: [
        ("measured, private", sorted([sum(values_of(r, "000.samples", row, "samples")) / 3, sum(values_of(r, "000.samples", row, "error")) / 3]
                                     for row in rows_of(r, "000.samples") if "private" in row)),
        ("bound, 95 %, 200 bins", [[n, 1.96 * math.sqrt(BINS / n)] for n in (100, 1000, 10000, 100000)])], log_x=True, log_y=True)], ["000.samples"])
