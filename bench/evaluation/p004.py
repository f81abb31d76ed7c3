"""Paper 004: static analysis of OpenMP loops for any thread count."""
import os
import re
import statistics

from plan import Plot, Row, at_least, at_most, experiment, line_of, number, percent, rows_of, table, values_of

PLACE = "Paper 004"
HELD = "the kernels that examples/loops/KERNELS marks tuned; rows are of the held ones"
SETTING = "kernels of examples/loops at sizes that can be enumerated, instead of 29 PolyBench and other programs"
WAYS = ("lockstep", "iid", "drift", "bursty:2000")
SHORT = ["matmul_dot", "rank_two", "nine_points", "tri_times", "many_backward", "nearest_centre"]
THREADS = (4, 8, 16, 32, 64)


def kernels():
    """{name: (large sizes, small sizes, half)} of examples/loops/KERNELS."""
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "loops", "KERNELS"), encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {name: (large, small, half) for name, _, small, large, half in rows}


def tuned(experiment_, note="", names=()):
    """Which of an experiment's kernels the models' constants were chosen on."""
    def text(result):
        known = kernels()
        seen = dict.fromkeys(word for row in rows_of(result, experiment_) for word in re.split("[/,]", row) if not names or word in names)
        words = [word for word in seen if known.get(word, ("", "", ""))[2] == "tuned"]
        return (", ".join(words) or "none of these kernels") + note
    return text


@experiment("004.accuracy", tiny={"threads": [4], "kernels": ["matmul_dot"]}, quick={"threads": [4, 16, 64], "kernels": SHORT}, full={"threads": list(THREADS), "kernels": []}, needs=("libclang",))
def accuracy(run):
    """Curves of the models against enumeration, static and dynamic schedules"""
    for schedule in ("static", "dynamic"):
        found = run.bench("bench_loops", "examples/loops", f"accuracy:{','.join(map(str, run.size['threads']))}:{schedule}", *run.size["kernels"], keep=lambda row, column: False)
        sums = {}
        for (row, column), values in found.items():
            _, half, threads, way, _ = row.split("/")
            sums.setdefault((f"{schedule}/{half}/{threads}/{way}", column), []).extend(values)
        for (row, column), values in sums.items():
            run.put(row, column, statistics.mean(values) / 100)


@experiment("004.recorded", tiny={"kernels": ["transpose_add"], "threads": 2}, quick={"kernels": ["matmul_dot", "nine_points", "tri_times", "conv_rows"], "threads": "as many as cores"},
            full={"threads": "as many as cores", "kernels": ["matmul", "matmul_dot", "normal_matvec", "transpose_add", "many_forward", "tri_times", "heat", "nine_points", "covariances", "edges", "half_size", "conv_rows"]},
            needs=("gcc", "qemu", "libclang"))
def recorded(run):
    """Curves of the models against recordings of as many real threads as there are cores, at least two"""
    threads = run.size["threads"] if isinstance(run.size["threads"], int) else max(2, len(os.sched_getaffinity(0)))
    found = run.bench("loops-live", run.build, "-t", threads, *run.size["kernels"], script=True, keep=lambda row, column: False)
    for (kernel, column), values in found.items():
        for value in values:
            run.put(f"{kernel.removesuffix('.c')}, T={threads}", column, value)


@experiment("004.racetrack", tiny={"threads": [2], "n": 64, "runs": 2, "seconds": 1}, quick={"threads": [2, 4], "n": 384, "runs": 4, "seconds": 8}, full={"threads": [2, 4, 8, 16], "n": 1024, "runs": 10, "seconds": 60})
def racetrack(run):
    """Relative progress of threads that are stopped again and again"""
    for threads in run.size["threads"]:
        if threads > 2 * (os.cpu_count() or 1):
            continue
        found = run.bench("bench_racetrack", threads, run.size["n"], run.size["runs"], 100, run.size["seconds"], keep=lambda row, column: column != "share")
        if run.seed == 1:
            run.line(f"{threads} threads", [[(at + 0.5) / 20, found[f"{threads} threads/{at}", "share"][0]] for at in range(20)])


FAMILIES = ["scaled_product", "symmetric_update", "toeplitz", "all_pairs", "staggered_fields", "in_place"]
BARS = {"rectangular": 10, "other": 50}  # milliseconds of a further thread count
FIRST_BAR = 500


@experiment("004.speed", tiny={"kernels": ["matmul_dot"], "families": ["in_place"]}, quick={"kernels": SHORT, "families": FAMILIES}, full={"kernels": [], "families": []}, needs=("libclang",))
def speed(run):
    """Time of the first answer and of a further thread count, at large sizes; bars are of elapsed time"""
    for folder, kernels in (("examples/loops", run.size["kernels"]), ("tests/loops/families", run.size["families"])):
        found = run.bench("bench_loops", folder, "speed", *kernels, keep=lambda row, column: False)
        sums, slowest, first = {}, {}, {}
        for (row, column), values in found.items():
            kernel, _, sort, what, _ = row.split("/")
            if what == "first":
                if column == "ms elapsed":
                    first[kernel] = max(values + [first.get(kernel, 0)])
                continue
            if column != "ms elapsed with private":
                sums.setdefault((what, column), []).extend(values)
            else:
                slowest[f"{sort}/{kernel}"] = max(values + [slowest.get(f"{sort}/{kernel}", 0)])
        for (row, column), values in sums.items():
            if folder.startswith("examples"):
                run.put(row, column, statistics.geometric_mean(values))
        for row, value in slowest.items():
            run.put(row, "slowest", value)
        for kernel, value in first.items():
            run.put(f"first/{kernel}", "ms", value)


@experiment("004.profiling", tiny={"kernels": ["matmul_dot"], "threads": 2, "small": True}, quick={"kernels": ["nine_points", "rank_two"], "threads": 2, "small": False},
            full={"kernels": ["matmul_dot", "nine_points", "rank_two", "tri_times"], "threads": 4, "small": False}, needs=("gcc", "cc", "libclang"))
def profiling(run):
    """Prediction from source against recording and analysing the running program"""
    sizes = {name: ["-D" + one for one in (small if run.size["small"] else large).split(",")] for name, (large, small, _) in kernels().items()}
    main = run.path("main.c")
    with open(main, "w", encoding="ascii") as file:
        file.write("void kernel(void);\nint main(void) { kernel(); return 0; }\n")
    for kernel in run.size["kernels"]:
        source, program = f"examples/loops/{kernel}.c", run.path(kernel)
        run.command(run.tool, "cc", "-q", "gcc", "-O1", "-g", "-w", "-fopenmp", *sizes[kernel], "-I", "include", main, source, "-lm", "-o", program)
        run.command("env", f"OMP_NUM_THREADS={run.size['threads']}", run.tool, "run", "-q", "--sample", "none", "--engine", "exact", "--model", "shared", "--no-code", "-o", run.path("p.data"), "--", program)
        watched = run.seconds
        run.command(run.tool, "loops", source, *sizes[kernel], "-t", run.size["threads"], "-q", "--format", "json", "-o", run.path("l.json"))
        run.put(kernel, "times", watched / max(run.seconds, 1e-3))


@experiment("004.shapes", tiny={"threads": [4], "n": 24}, quick={"threads": [4, 64], "n": 48}, full={"threads": list(THREADS), "n": 96}, needs=("libclang",))
def shapes(run):
    """PPCG-shaped source and a loop written with rayon: sampled prediction against all references"""
    for name, path, options in (("matmul_tiled", "examples/loops/matmul_tiled.c", ["-DN=64"]), ("tiles", "examples/loops/tiles.loop", []), ("gemm_rayon", "examples/loops/gemm_rayon.loop", ["--set", f"N={run.size['n']}"])):
        curves = []
        for samples in ([], ["--samples", 0]):
            found = run.json("loops", path, *options, "-t", ",".join(map(str, run.size["threads"])), "--seed", run.seed, *samples)
            curves.append({(loop["name"], one["t"]): one["mrc"] for loop in found["loops"] for one in loop["threads"]})
            if not samples:
                run.put(name, "seconds", run.seconds)
        for key, sampled in curves[0].items():
            exact = {one["lines"]: one["miss_ratio"] for one in curves[1].get(key, [])}
            shared = [abs(one["miss_ratio"] - exact[one["lines"]]) for one in sampled if one["lines"] in exact]
            if shared:
                run.put(f"{name}/T={key[1]}", "error", statistics.mean(shared))
            if run.seed == 1:
                run.line(f"{name}, T={key[1]}", [[one["lines"], one["miss_ratio"]] for one in sampled])


PAPER = {"T=4": "97.49 %", "T=64": "93.16 %"}


def accuracy_rows(schedule):
    def make(result):
        out = []
        seen = dict.fromkeys(row.split("/")[2] for row in rows_of(result, "004.accuracy"))
        for threads in seen:
            def kept(r, column, t=threads, ways=WAYS):
                each = [values_of(r, "004.accuracy", f"{schedule}/held/{t}/{way}", column) for way in ways]
                return [1 - statistics.mean(values) for values in zip(*each)] if all(each) else []
            bar = at_least(0.9749 if threads == "T=4" else 0.9316, percent)
            paper = PAPER.get(threads, "")
            out += [Row(f"{threads}: interleaving known, mean of four", paper, lambda r, k=kept: k(r, "known"), percent, bar, SETTING),
                    Row(f"{threads}: the same on the paper's grid of sizes", paper, lambda r, k=kept: k(r, "known, grid"), percent, bar, "73 sizes as in the paper's footnote 7"),
                    Row(f"{threads}: interleaving not known (the default)", paper, lambda r, k=kept: k(r, "default"), percent, None, "the default predicts drift whatever is enumerated"),
                    Row(f"{threads}: the paper's racetrack model", paper, lambda r, k=kept: k(r, "racetrack"), percent, None, "our implementation of the published model, private intervals from 4 threads"),
                    Row(f"{threads}: racetrack, iid interleaving, the paper's grid", paper, lambda r, k=kept: k(r, "racetrack, grid", ways=("iid",)), percent)]
        return out
    return make


for schedule in ("static", "dynamic"):
    table(f"004.accuracy-{schedule}", f"Accuracy at T = 4 to 64, {schedule} schedules, against enumeration", PLACE + ", accuracy table, Figs. 6 and 7, section 5.2", accuracy_rows(schedule), HELD, (), ["004.accuracy"])
RECORDED = (("drift", "the default (drift)"), ("bursty as seen", "turns as long as recorded"), ("like", "as `--like` takes it from the recording"), ("racetrack", "the paper's racetrack model"))
table("004.recorded", "Accuracy against recorded runs of real threads", PLACE + ", Fig. 6, section 5.2", lambda result: [
    Row(f"{kernel}: {name}", "97.49 % (T = 4, mean)", lambda r, k=kernel, w=way: [1 - v for v in values_of(r, "004.recorded", k, w)], percent,
        at_least(0.9749, percent) if way == "bursty as seen" else None, "T threads of the kernel under QEMU, its arrays volatile" if name == RECORDED[0][1] else "")
    for kernel in rows_of(result, "004.recorded") for way, name in RECORDED] + [
    Row(f"{kernel}: sizes within the default's band", "", ("004.recorded", kernel, "within the band"), percent, at_least(0.86, percent)) for kernel in rows_of(result, "004.recorded")], tuned("004.recorded"), (), ["004.recorded"])
table("004.racetrack", "Validation of racetrack: uniform relative progress", PLACE + ", Fig. 4, section 3.4", lambda result: [
    Row(f"{row}: chi-square p{apart}", "0.23 (4 threads)", ("004.racetrack", row, f"p{apart}"), number, at_least(0.05, number), note) for row in rows_of(result, "004.racetrack")
    for apart, note in (("", "stops follow each other so closely that they are not independent"), (" a pass apart", "stops a whole pass apart"))], "nothing",
    [Plot("relative progress", "part of a pass", "share of stops", lambda r: [(f"{t} threads", line_of(r, "004.racetrack", f"{t} threads")) for t in (2, 4, 8, 16)])], ["004.racetrack"])
def time_rows(result):
    rows = list(rows_of(result, "004.speed"))
    where = "a further thread count of loops already read, one core, large sizes"
    out = [Row(f"{row}: milliseconds, geometric mean of kernels{', with the band over interleavings' if 'band' in column else ''}", "22 ms (4 threads, Fig. 9)" if row == "T=4" and column == "ms" else "",
               ("004.speed", row, column), number, None, where) for row in rows if row.startswith("T=") for column in ("ms", "ms with the band")]
    out += [Row(f"{row.split('/')[1]} ({'rectangular' if row.startswith('rect') else 'not rectangular'}): milliseconds, slowest of T = 4, 16, 64", "", ("004.speed", row, "slowest"), number,
                at_most(BARS[row.split("/")[0]], number), "as the tool answers: with the band and the private view") for row in rows if row.split("/")[0] in BARS]
    out += [Row(f"{row.split('/')[1]}: milliseconds to the first answer", "", ("004.speed", row, "ms"), number, at_most(FIRST_BAR, number), "reading the source and T = 4, all processor time")
            for row in rows if row.startswith("first/")]
    return out + [Row(f"{kernel}: times as fast as recording and analysing", "5.8x over PIN (mean)", ("004.profiling", kernel, "times"), number, at_least(5.8, number), "against `run --sample none`, processor time")
                  for kernel in rows_of(result, "004.profiling")]


table("004.time", "Time per thread count", PLACE + ", Fig. 8, section 5.3", time_rows, tuned("004.speed", "; the code was made faster with these kernels in sight"), (), ["004.speed", "004.profiling"])


def shape_table(name, title, place, kinds):
    table(name, title, place, lambda result: [
        Row(f"{row}: sampled against all references", "", ("004.shapes", row, "error"), percent, at_most(0.02, percent)) for row in rows_of(result, "004.shapes") if row.split("/")[0] in kinds and "/" in row] + [
        Row(f"{row}: processor seconds, all thread counts", "0.029 s (Rust, 4 threads)" if "rayon" in row else "", ("004.shapes", row, "seconds"), number, None, "reading and all thread counts")
        for row in rows_of(result, "004.shapes") if row in kinds], tuned("004.shapes", names=kinds),
        [Plot(kind, "cache size, lines", "miss ratio", lambda r, k=kind: [(f"T={t}", line_of(r, "004.shapes", f"{k}, T={t}")) for t in THREADS], log_x=True) for kind in kinds], ["004.shapes"])


shape_table("004.ppcg", "PPCG-shaped inputs", PLACE + ", section 4, inputs tiled by a polyhedral compiler", ("matmul_tiled", "tiles"))
shape_table("004.rayon", "The rayon example", PLACE + ", Fig. 9, section 5.4", ("gemm_rayon",))
