"""Paper 002: highly parallel reuse distance (HP-RDA) on CPUs and GPUs."""
import os
import statistics

import machine
from plan import Plot, Row, at_least, at_most, experiment, line_of, number, percent, rows_of, table, times, values_of

PLACE = "Paper 002"
TUNED = "nothing: local traces of 2048 references are the paper's choice"
SETTING = "kernels of bench/programs/kernels.c recorded by `run`, instead of SPEC CPU2000"
LOCALS = (256, 512, 1024, 2048, 4096, 8192, 16384)
FLOATING, INTEGER = ("gemm", "stencil", "cg"), ("sort", "join", "histogram")


def recorded(run, kernel):
    """A trace of a kernel, recorded once."""
    build = ["gcc", "-O2", "-g", "-w", f"-DKERNEL_{kernel}", "bench/programs/kernels.c", "-lm", "-o"]
    record = [run.tool, "run", "-q", "--no-analysis", "--for", run.size["instructions"], "--trace"]
    folder = run.kept(f"kernel-{kernel}", *build, *record)
    program, trace = (os.path.join(folder, f"kernel-{kernel}{end}") for end in ("", ".rsct"))
    run.command(*build, program, makes=program)
    run.command(*record, trace, "--", program, makes=trace)
    return trace


@experiment("002.cpu", tiny={"kernels": ["sort"], "instructions": 600000, "rounds": 1}, quick={"kernels": list(FLOATING + INTEGER), "instructions": 6000000, "rounds": 1},
            full={"kernels": list(FLOATING + INTEGER), "instructions": 40000000, "rounds": 3}, needs=("gcc", "watching"))
def on_cpu(run):
    """HP-RDA against a balanced tree and the exact engine; e, breakdown, lengths of local traces"""
    traces = [recorded(run, kernel) for kernel in run.size["kernels"]]
    run.bench("bench_hprda", run.size["rounds"], *traces)


@experiment("002.histograms", tiny={"kernels": ["sort"], "instructions": 600000}, quick={"kernels": list(FLOATING + INTEGER), "instructions": 6000000},
            full={"kernels": list(FLOATING + INTEGER), "instructions": 40000000}, needs=("gcc", "watching"), runs=1)
def histograms(run):
    """CDFs of the exact engine and of HP-RDA with and without adjustment"""
    for kernel in run.size["kernels"]:
        trace = recorded(run, kernel)
        for name, engine in (("sequential", "exact"), ("adjusted", "hp-rda"), ("not adjusted", "hp-rda:adjust=off")):
            profile = run.json("analyze", trace, "--engine", engine)
            sum_, line = 0, []
            for one in profile["rd"]:
                sum_ += one["count"]
                line.append([max(one["hi"], 0.5), sum_ / profile["references"]])
            run.line(f"{kernel}: {name}", line)


@experiment("002.whole", tiny={"kernels": ["sort"], "instructions": 600000}, quick={"kernels": ["sort"], "instructions": 6000000},
            full={"kernels": list(FLOATING + INTEGER), "instructions": 40000000}, needs=("gcc", "watching"))
def whole_runs(run):
    """Whole runs with the analysis online: HP-RDA, the exact engine, and what a tree would add to recording"""
    for kernel in run.size["kernels"]:
        program = run.path(kernel)
        run.command("gcc", "-O2", "-g", "-w", f"-DKERNEL_{kernel}", "bench/programs/kernels.c", "-lm", "-o", program)
        seconds = {}
        for name, options in (("record", ["--no-analysis", "--trace", run.path("online.rsct")]), ("exact", ["--engine", "exact", "--no-code", "-o", run.path("o.data")]),
                              ("hp-rda", ["--engine", "hp-rda", "--no-code", "-o", run.path("o.data")])):
            run.command(run.tool, "run", "-q", "--for", run.size["instructions"], *options, "--", program)
            seconds[name] = run.seconds
        found = run.bench("bench_hprda", 1, run.path("online.rsct"), keep=lambda row, column: False)
        tree = seconds["record"] + found["online.rsct", "references"][0] / found["online.rsct/tree", "M/s"][0] / 1e6
        run.put(kernel, "hp-rda against the tree", tree / seconds["hp-rda"])
        run.put(kernel, "exact against the tree", tree / seconds["exact"])
        run.put(kernel, "exact over hp-rda", seconds["exact"] / seconds["hp-rda"])


@experiment("002.gpu", tiny={"mebiwords": 16, "cpu": 1}, quick={"mebiwords": 128, "cpu": 16}, full={"mebiwords": 512, "cpu": 32}, needs=("gpu",))
def on_gpu(run):
    """HP-RDA and the exact engine on a GPU"""
    run.uses("src", "include")
    run.command("make", "-s", "-C", "gpu", f"NVCC={machine.nvcc()}", "ARCH=native")
    run.bench(os.path.join(run.source, "build", "gpu", "gpu_bench"), "-n", run.size["mebiwords"], "-c", run.size["cpu"])


def traces(result):
    return list(dict.fromkeys(row.split("/")[0] for row in rows_of(result, "002.cpu") if row.count("/") == 0))


def kernel_of(trace):
    return trace.replace("kernel-", "").replace(".rsct", "")


def mean_over(result, row, column, mean=statistics.geometric_mean):
    """Of each run: the mean over the traces."""
    each = [values_of(result, "002.cpu", f"{trace}/{row}", column) for trace in traces(result)]
    return [mean(values) for values in zip(*each)] if each else []


def gpu_rows(result, row, column, scale=1.0):
    return [value * scale for at in rows_of(result, "002.gpu") if at.endswith(row) for value in values_of(result, "002.gpu", at, column)]


def gpu_against_tree(result):
    """HP-RDA end to end on the GPU over the tree's speed on one core, which depends on the trace: the mean of this result's."""
    tree = mean_over(result, "tree", "M/s")
    return [1000 * value / statistics.geometric_mean(tree) for value in gpu_rows(result, "hp-rda adjusted", "G/s end to end")] if tree else []


AT = f"{2048}/adjusted"
table("002.figure-10", "Figure 10: speed against a balanced tree", PLACE + ", Fig. 10, section V-B", lambda result: [
    Row("mean, one thread", "", lambda r: mean_over(r, AT, "times the tree"), times, None, "the paper has no single thread; processor time"),
    Row("mean, two threads", "3x (four threads)", lambda r: mean_over(r, AT, "two threads, times the tree"), times, at_least(3, times), "two threads by the wall clock; " + SETTING),
    Row("mean, our exact engine, one thread", "", lambda r: mean_over(r, "exact", "times the tree"), times, None, "exact, and faster than the approximation on most traces"),
    Row("mean, HP-RDA over our exact engine", "", lambda r: mean_over(r, AT, "times exact"), times),
    Row("GPU, HP-RDA end to end", "19.6x (up to 33x)", gpu_against_tree, times, at_least(19.6, times), "generated traces on another GPU, against the tree on the kernels"),
    Row("GPU, HP-RDA, G references/s end to end", "", lambda r: gpu_rows(r, "hp-rda adjusted", "G/s end to end"), number),
    Row("GPU, exact engine, G references/s end to end", "", lambda r: gpu_rows(r, "/exact", "G/s end to end"), number)] + [
    Row(f"{kernel_of(trace)}, one thread", "", ("002.cpu", f"{trace}/{AT}", "times the tree"), times) for trace in traces(result)], TUNED, (), ["002.cpu", "002.gpu"])
table("002.figure-11", "Figure 11: whole runs, online", PLACE + ", Fig. 11, section V-B", lambda result: [
    Row(f"{kernel}: {name}", paper, ("002.whole", kernel, column), times, bar, "the tree's time is that of recording plus the tree on the recorded trace; processor time of one analysis thread")
    for kernel in rows_of(result, "002.whole") for name, column, paper, bar in (
        ("HP-RDA", "hp-rda against the tree", "1.85x (four threads), 15.1x (GPU)", at_least(1.85, times)), ("our exact engine", "exact against the tree", "", None))], TUNED, (), ["002.whole"])


def histogram_table(number_, name, kernels):
    table(f"002.figure-{number_}", f"Figure {number_}: histograms, {name} programs", f"{PLACE}, Fig. {number_}, section V-C", lambda result: [
        Row(f"{kernel}: overlap with the exact histogram, {way}", "a plot", ("002.cpu", f"kernel-{kernel}.rsct/2048/{way}", "overlap"), percent,
            at_least(0.95, percent) if way == "adjusted" else None, "64 bins per octave; " + SETTING) for kernel in kernels for way in ("adjusted", "not adjusted")], TUNED,
        [Plot(kernel, "reuse distance, lines", "share of references", lambda r, k=kernel: [(way, line_of(r, "002.histograms", f"{k}: {way}")) for way in ("sequential", "adjusted", "not adjusted")], log_x=True)
         for kernel in kernels], ["002.cpu", "002.histograms"])


histogram_table(12, "floating point", FLOATING)
histogram_table(13, "integer", INTEGER)
table("002.figure-14", "Figure 14: error rate e over H bins", PLACE + ", Fig. 14, section V-C", lambda result: [
    Row("mean, adjusted", "0.37 % (under 1 % in all)", lambda r: mean_over(r, AT, "e", statistics.mean), percent, at_most(0.0037, percent), "one bin per octave and one for no distance; " + SETTING),
    Row("mean, not adjusted", "1.2 %", lambda r: mean_over(r, "2048/not adjusted", "e", statistics.mean), percent, at_most(0.012, percent))] + [
    Row(f"{kernel_of(trace)}, {way}", "", ("002.cpu", f"{trace}/2048/{way}", "e"), percent, at_most(0.01, percent)) for trace in traces(result) for way in ("adjusted", "not adjusted")] + [
    Row("GPU, adjusted", "0.37 %", lambda r: gpu_rows(r, "hp-rda adjusted", "e"), percent, at_most(0.01, percent), "uniform, zipf and cyclic traces")], TUNED, (), ["002.cpu", "002.gpu"])
table("002.figure-15", "Figure 15: where the time goes", PLACE + ", Fig. 15, section V-D", [
    Row(f"{where}: {part}", paper if where == "CPU" else "", (lambda r, p=part: mean_over(r, AT, p, statistics.mean)) if where == "CPU" else (lambda r, p=part: gpu_rows(r, "hp-rda adjusted", p)), percent, None, SETTING if where == "CPU" else "")
    for where in ("CPU", "GPU") for part, paper in (("local", "most of it for most programs"), ("merge threads", ""), ("merge blocks", ""), ("adjust", "least"))], TUNED, (), ["002.cpu", "002.gpu"])
table("002.figure-16", "Figure 16: accuracy by length of local traces", PLACE + ", Fig. 16, section V-E", [
    Row(f"e, {local} references", "falls with the length", lambda r, l=local: mean_over(r, f"{l}/adjusted", "e", statistics.mean), percent) for local in LOCALS], TUNED,
    [Plot("e by length of local traces", "references of a local trace", "e", lambda r: [
        (kernel_of(trace), [[local, statistics.mean(found)] for local in LOCALS if (found := values_of(r, "002.cpu", f"{trace}/{local}/adjusted", "e"))]) for trace in traces(r)], log_x=True)], ["002.cpu"])
table("002.figure-17", "Figure 17: time by length of local traces", PLACE + ", Fig. 17, section V-E", [
    Row(f"M references/s, {local} references", "2048 is chosen", lambda r, l=local: mean_over(r, f"{l}/adjusted", "M/s"), number) for local in LOCALS], TUNED,
    [Plot("speed by length of local traces", "references of a local trace", "M references per processor second", lambda r: [
        (kernel_of(trace), [[local, max(found)] for local in LOCALS if (found := values_of(r, "002.cpu", f"{trace}/{local}/adjusted", "M/s"))]) for trace in traces(r)], log_x=True)], ["002.cpu"])
