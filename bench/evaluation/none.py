"""What no paper has: our engines and collectors against plain baselines and other tools."""
import os

from plan import Row, at_least, at_most, experiment, number, percent, rows_of, table, times, values_of

PLACE = "No paper"
TUNED = "the generated traces uniform, zipf and cyclic were used to make the engines fast"
SPECS = {"uniform": "uniform,lines={}", "zipf": "zipf,lines={},skew=0.99", "cyclic": "cyclic,lines={}", "stencil": "stencil,lines={}"}


def made(run, name):
    path = run.path(name + ".rsct")
    run.command(run.tool, "gen", SPECS[name].format(run.size["lines"]), "-n", run.size["references"], "--seed", run.seed, "-q", "-o", path)
    return path


@experiment("none.engines", tiny={"traces": ["zipf"], "references": "200K", "lines": 20000, "rounds": 1}, quick={"traces": list(SPECS), "references": "4M", "lines": 300000, "rounds": 2},
            full={"traces": list(SPECS), "references": "20M", "lines": 2000000, "rounds": 5})
def engines(run):
    """The exact engine against a hash table and a Fenwick tree"""
    run.bench("bench_engine", run.size["rounds"], *[made(run, name) for name in run.size["traces"]])


@experiment("none.scaling", tiny={"traces": ["zipf"], "references": "1M", "lines": 20000, "rounds": 1, "millions": 1}, quick={"traces": ["uniform", "zipf"], "references": "16M", "lines": 500000, "rounds": 2, "millions": 16},
            full={"traces": list(SPECS), "references": "60M", "lines": 2000000, "rounds": 3, "millions": 60})
def scaling(run):
    """The parallel engine at the numbers of cores that there are"""
    run.bench("bench_parallel", run.size["rounds"], "-", run.size["millions"], *[made(run, name) for name in run.size["traces"]])


@experiment("none.watch", tiny={"programs": ["matmul 300"], "rounds": 1}, quick={"programs": ["qsort 1 M", "matmul 300"], "rounds": 1}, full={"programs": [], "rounds": 2}, needs=("gcc", "watching", "valgrind"))
def watch(run):
    """Watching programs against cachegrind"""
    run.bench("bench_watch", run.tool, "bench/programs/watch", run.size["rounds"], *run.size["programs"])


@experiment("none.lackey", tiny={"programs": ["/bin/true"]}, quick={"programs": ["/bin/true", "/usr/bin/wc"]}, full={"programs": ["/bin/true", "/usr/bin/wc", "/usr/bin/sort", "/usr/bin/gzip"]}, needs=("watching", "valgrind"))
def lackey(run):
    """Recording every access against Valgrind's lackey, which prints them"""
    path = run.path("input")
    with open(path, "w", encoding="ascii") as file:
        file.write("".join(f"{n * 7919 % 10007} line {n}\n" for n in range(4000)))
    for program in run.size["programs"]:
        words = [program] + ([path] if program != "/bin/true" else []) if "gzip" not in program else [program, "-c", path]
        run.command("valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + run.path("lackey.log"), *words)
        theirs = run.seconds
        run.command(run.tool, "run", "-q", "--no-analysis", "--trace", run.path("ours.rsct"), "--", *words)
        run.put(os.path.basename(program), "times", theirs / max(run.seconds, 1e-3))
        run.put(os.path.basename(program), "bytes", os.path.getsize(run.path("lackey.log")) / max(1, os.path.getsize(run.path("ours.rsct"))))


@experiment("none.rebuilt", tiny={"kernels": ["histogram"], "rounds": 1}, quick={"kernels": ["gemm", "sort", "cg", "histogram"], "rounds": 2}, full={"kernels": [], "rounds": 5}, needs=("gcc", "cc"))
def rebuilt(run):
    """What rebuilding by `cc` costs"""
    run.bench("bench_asm", run.tool, "bench/programs/kernels.c", run.size["rounds"], *run.size["kernels"])


def each(name, make):
    return lambda result: [row for at in rows_of(result, name) for row in make(at)]


table("none.engines", "The exact engine against the plain baseline", PLACE, each("none.engines", lambda at: [
    Row(f"{at}: times the baseline", "", ("none.engines", at, "times the baseline"), times, at_least(2, times), "the baseline is a hash table and a Fenwick tree"),
    Row(f"{at}: with reuse intervals", "", ("none.engines", at, "times the baseline with RI"), times),
    Row(f"{at}: M references/s", "", ("none.engines", at, "M/s"), number)]), TUNED, (), ["none.engines"])
table("none.memory", "Memory of the exact engine", PLACE, each("none.engines", lambda at: [
    Row(f"{at}: bytes per line", "", ("none.engines", at, "bytes a line"), number, at_most(32, number))]), TUNED, (), ["none.engines"])


def scaling_bar(at):
    least = {"2": 1.7, "4": 2.5, "16": 6}.get(at.rsplit("/", 1)[-1].split()[0])
    return at_least(least, times) if least else None


table("none.scaling", "Scaling with cores", PLACE, each("none.scaling", lambda at: [] if at.endswith("serial") else [
    Row(f"{at}: times the serial engine", "", ("none.scaling", at, "times serial"), times, scaling_bar(at), "by the wall clock: true on an idle machine only"),
    Row(f"{at}: processor time", "", ("none.scaling", at, "processor time"), times), Row(f"{at}: MiB", "", ("none.scaling", at, "MiB"), number)]), TUNED, (), ["none.scaling"])


def watch_rows(result):
    out = []
    for program in dict.fromkeys(row.split("/")[0] for row in rows_of(result, "none.watch")):
        def ratio(r, a, b, column, p=program):
            return [x / y for x, y in zip(values_of(r, "none.watch", f"{p}/{a}", column), values_of(r, "none.watch", f"{p}/{b}", column)) if y]
        for name, a, b, column, bar in (("recorded / cachegrind", "recorded", "cachegrind", "processor seconds", 0.6), ("exact with code / cachegrind", "exact", "cachegrind", "processor seconds", 1.5),
                                        ("the same, elapsed", "exact", "cachegrind", "seconds", 1.0), ("shards / no tool", "shards", "none", "processor seconds", 1.5)):
            out.append(Row(f"{program}: {name}", "", lambda r, f=ratio, x=a, y=b, c=column: f(r, x, y, c), times, at_most(bar, times)))
    return out


table("none.cachegrind", "Collectors against cachegrind", PLACE, watch_rows, "all of them: the collectors were made faster with bench/programs/watch", (), ["none.watch"])
table("none.lackey", "Collectors against lackey", PLACE, each("none.lackey", lambda at: [
    Row(f"{at}: times as fast", "", ("none.lackey", at, "times"), times, at_least(1, times), "short programs: starting Valgrind is part of both"),
    Row(f"{at}: its text over our trace, bytes", "", ("none.lackey", at, "bytes"), times)]), "nothing", (), ["none.lackey"])
table("none.rebuilt", "Programs rebuilt by `cc`", PLACE, each("none.rebuilt", lambda at: [
    Row(f"{at}: not watched", "", ("none.rebuilt", at, "fast"), times, at_most(2.5, times)), Row(f"{at}: every reference recorded", "", ("none.rebuilt", at, "recording"), times, at_most(3, times), "the bar is of the geometric mean")]),
    "all of them: `cc` was made faster with the kernels of bench/programs/kernels.c", (), ["none.rebuilt"])
table("none.gpu", "The exact engine on a GPU", PLACE, lambda result: [
    Row(f"{at.split('/')[0]}: {name}", "", ("002.gpu", at, column), show, bar) for at in rows_of(result, "002.gpu") if at.endswith("/exact")
    for name, column, show, bar in (("G references/s end to end", "G/s end to end", number, at_least(5, number)), ("times one core", "times one core", times, at_least(100, times)),
                                    ("times all cores", "times all cores", times, None))], "uniform and zipf", (), ["002.gpu"])
