"""One run of an experiment: it runs commands, and knows what they are made of.

A stored run is used again while nothing it came from has changed: the code of the experiment, and the inputs of its
commands, which are the built tool, the benchmarks, sources and scripts that they name, and the programs that are
watched. Which commit that is does not matter.
"""
import functools
import glob
import hashlib
import inspect
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import types

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILT = ("reusescope", "cc/as", "libreusescope*.so", "reusescope-asm-*", "valgrind/*")  # what `run` and `cc` consist of


class Failed(Exception):
    pass


class Run:
    """What an experiment's function gets: one run, with one seed."""
    def __init__(self, build, folder, work, size, seed, versions):
        self.build, self.tool = build, os.path.join(build, "reusescope")
        self.source = SOURCE
        self.folder = folder  # its own, empty, removed afterwards
        self.work = work      # kept between runs and parts: recorded traces
        self.size, self.seed, self.versions = size, seed, versions
        self.commands, self.inputs, self.numbers, self.series = [], {}, [], {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def shown(self, word):
        for place, name in ((self.folder, "FOLDER"), (self.work, "WORK"), (self.build, "BUILD"), (SOURCE + "/", "")):
            word = word.replace(place, name)
        return word

    def _line(self, words, env):
        return " ".join([f"{k}={self.shown(v)}" for k, v in (env or {}).items()] + [shlex.quote(self.shown(word)) for word in words])

    def uses(self, *names):
        """Names inputs that no command names."""
        self.inputs.update({name: digest(name, self.build) for name in names})

    def kept(self, name, *words, env=None):
        """A folder for the traces that this command makes: the same one while the command and its inputs are the same."""
        words = [str(word) for word in words]
        made_of = {one: digest(one, self.build) for one in inputs_of(words, self)}
        versions = {one: self.versions[one] for one in ("compiler", "valgrind", "qemu")}
        key = hashlib.sha256(json.dumps([self._line(words, env), made_of, versions], sort_keys=True).encode()).hexdigest()[:12]
        for other in os.listdir(self.work):
            if re.fullmatch(re.escape(name) + "-[0-9a-f]{12}", other) and other != f"{name}-{key}":
                shutil.rmtree(os.path.join(self.work, other))
        folder = os.path.join(self.work, f"{name}-{key}")
        os.makedirs(folder, exist_ok=True)
        return folder

    def command(self, *words, env=None, cwd=SOURCE, check=True, makes=None):
        """Runs a command and returns what it prints; .seconds: processor time, its own and its children's. makes: a file
        that it leaves; where it is there already, the command is noted and not run."""
        words = [str(word) for word in words]
        self.commands.append(self._line(words, env))
        self.uses(*inputs_of(words, self))
        if makes:
            if os.path.exists(makes):
                return ""
            part = os.path.join(os.path.dirname(makes), "part-" + os.path.basename(makes))
            words = [part if word == makes else word for word in words]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if check and done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise Failed(f"{self.commands[-1]}: exit status {done.returncode}: {said[-1] if said else 'no message'}")
        if makes:
            os.replace(part, makes)
        return done.stdout

    def bench(self, name, *arguments, keep=None, script=False):
        """Runs a benchmark of the build (or by its path, or a script of bench/) and takes the numbers it leaves (bench/numbers.h).
        keep(row, column): which; default all. Returns all as {(row, column): [values]}."""
        path = self.path("numbers")
        program = os.path.join(SOURCE, "bench", name) if script else os.path.join(self.build, "bench", name)
        self.command(program, *arguments, env={"BENCH_NUMBERS": path, "BENCH_SEED": str(self.seed), **({"REUSESCOPE": self.tool} if script else {})})
        found = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    row, column, value = line.rstrip("\n").split("\t")
                    row = re.sub(f"({re.escape(self.folder)}|{re.escape(self.work)}/[^/]*)/", "", row)
                    found.setdefault((row, column), []).append(float(value))
            os.unlink(path)
        for (row, column), values in found.items():
            if keep is None or keep(row, column):
                for value in values:
                    self.put(row, column, value)
        return found

    def json(self, *arguments):
        """What the tool writes as JSON to the file it is given with -o."""
        path = self.path("output.json")
        self.command(self.tool, *arguments, "-q", "--format", "json", "-o", path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def put(self, row, column, value):
        value = float(value)
        self.numbers.append([row, column, float(f"{value:.6g}") if abs(value) < float("inf") else None])

    def line(self, name, points):
        """A line of a plot, thinned to what can be seen."""
        heights = [y for p in points for y in p[1:]]
        least = (max(heights) - min(heights)) / 100 if points else 0
        kept = []
        for i, p in enumerate(points):
            far = not kept or p[0] > kept[-1][0] * 1.06 or abs(p[1] - kept[-1][1]) > least
            if len(points) <= 160 or far or i == len(points) - 1:
                kept.append(p)
        self.series[name] = [[float(f"{x:.5g}") for x in p] for p in kept]


# ---- what a run is made of ----

@functools.lru_cache(maxsize=None)
def _file_digest(path, time, size):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _files(name, build):
    """The files of an input: BUILD is the built tool, BUILD/FILE one of the build; else a path, of the sources if relative."""
    if name == "BUILD":
        return [path for pattern in BUILT for path in glob.glob(os.path.join(build, pattern)) if os.path.isfile(path)]
    path = os.path.join(build, name[6:]) if name.startswith("BUILD/") else os.path.join(SOURCE, name)
    if not os.path.isdir(path):
        return [path] if os.path.exists(path) else []
    return [os.path.join(at, file) for at, _, files in os.walk(path) for file in files]


def digest(name, build):
    """Changes with the content of an input; None: it is not there."""
    found = []
    for path in _files(name, build):
        about = os.stat(path)
        found.append([os.path.relpath(path, build if name.startswith("BUILD") else SOURCE), _file_digest(path, about.st_mtime_ns, about.st_size)])
    return hashlib.sha256(json.dumps(sorted(found)).encode()).hexdigest()[:16] if found else None


def inputs_of(words, run):
    """The inputs that a command names, and those that the scripts of bench/ among them name."""
    found = {}
    for at, word in enumerate(words):
        if word in (run.build, run.tool):
            found["BUILD"] = True
        elif word.startswith((run.folder, run.work)):
            continue
        elif word.startswith(run.build + "/"):
            found[run.shown(word)] = True
        elif re.fullmatch(r"[\w./-]*\w", word) and os.path.exists(os.path.join(SOURCE, word)):
            name = run.shown(word)
            found[name] = True
            if name.startswith("bench/") and os.path.isfile(os.path.join(SOURCE, word)):
                found.update(dict.fromkeys(_named_by(os.path.join(SOURCE, word), run.build)))
        elif at == 0 and shutil.which(word):
            found[shutil.which(word)] = True
    return list(found)


def _named_by(script, build):
    """The benchmarks, sources and installed programs that a script names."""
    with open(script, encoding="utf-8") as file:
        text = file.read()
    if not text.startswith("#!"):
        return []
    names = [f"BUILD/bench/{name}" for name in re.findall(r"\bbench_\w+", text) if os.access(os.path.join(build, "bench", name), os.X_OK)]
    names += [name.rstrip("/.") for name in re.findall(r"\b(?:examples|bench/programs|include)/[\w./-]+", text)] + re.findall(r"/usr/bin/\w+", text)
    return ["BUILD"] + [name for name in names if name.startswith("BUILD") or os.path.exists(os.path.join(SOURCE, name))]


def _names_in(code):
    return set(code.co_names).union(*(_names_in(one) for one in code.co_consts if isinstance(one, types.CodeType)))


def code_of(function):
    """Changes with the code of an experiment: its function, and what that uses of its module."""
    seen, left, text = set(), [function], [inspect.getsource(Run)]
    while left:
        one = left.pop(0)
        if one in seen:
            continue
        seen.add(one)
        source = inspect.getsource(one)
        text.append(source[source.index("def "):])  # without the decorator, which has the sizes
        for name in sorted(_names_in(one.__code__)):
            value = one.__globals__.get(name)
            if isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
                left.append(value)
            elif isinstance(value, (str, int, float, tuple, list, dict)) and name.isupper():
                text.append(f"{name} = {value!r}")
    return hashlib.sha256("\n".join(text).encode()).hexdigest()[:16]
