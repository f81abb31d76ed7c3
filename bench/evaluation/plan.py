"""The words in which a paper's file lists its experiments and tables.

An experiment is a function that runs commands and leaves numbers; a table has rows, each with the
paper's number, where ours is, the bar, and the sentence where the setting differs. Only the papers'
numbers are written by hand.
"""

EXPERIMENTS = {}  # name -> Experiment, in the order they run
TABLES = {}       # name -> Table, in the order they are shown


class Experiment:
    def __init__(self, name, function, sizes, needs, runs):
        self.name, self.function, self.sizes, self.needs, self.runs = name, function, sizes, needs, runs


def experiment(name, tiny, quick, full, needs=(), runs=3):
    """Registers the decorated function. tiny, quick, full: dictionaries of sizes. runs: how often it is run, with
    seeds from 1 on; 1 where the benchmark itself runs three seeds. needs: see machine.py."""
    def register(function):
        EXPERIMENTS[name] = Experiment(name, function, {"tiny": tiny, "quick": quick, "full": full}, needs, runs)
        return function
    return register


class Row:
    """ours: (experiment, row, column), a function of the result that returns a list of values, or a text.
    show: how a value is written. bar: from at_least() and the like. differs: one sentence."""
    def __init__(self, label, paper, ours, show=None, bar=None, differs=""):
        self.label, self.paper, self.ours, self.show = label, paper, ours, show or number
        self.bar, self.differs = bar, differs


class Table:
    def __init__(self, name, title, place, rows, tuned, plots, experiments):
        self.name, self.title, self.place, self.rows = name, title, place, rows
        self.tuned, self.plots, self.experiments = tuned, plots, experiments


def table(name, title, place, rows, tuned="nothing", plots=(), experiments=()):
    """place: paper, table and section. rows: a list, or a function of the result. tuned: which of its programs and
    traces were looked at while the methods were made, or a function of the result. experiments: what it is made of, where no row names it."""
    TABLES[name] = Table(name, title, place, rows, tuned, plots, experiments)


class Plot:
    """lines: a function of the result that returns [(label, [[x, y], ...])]; three numbers a point are x, low, high."""
    def __init__(self, title, x, y, lines, log_x=False, log_y=False):
        self.title, self.x, self.y, self.lines, self.log_x, self.log_y = title, x, y, lines, log_x, log_y


# ---- how values are written ----

def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def percent(value):
    return f"{100 * value:.1f} %"


def signed_percent(value):
    return f"{100 * value:+.0f} %"


def times(value):
    return f"{value:.2f}x"


def points(value):
    """Of numbers that are percentages already."""
    return f"{value:.2f} %"


def count(value):
    return f"{value:,.0f}"


# ---- bars: a text, and whether the median meets it ----

def at_least(value, show):
    return (f"at least {show(value)}", lambda ours: ours >= value)


def at_most(value, show):
    return (f"at most {show(value)}", lambda ours: ours <= value)


def within(value, show):
    return (f"within {show(value)} of 0", lambda ours: abs(ours) <= value)


def equal(value):
    return (f"{number(value)} exactly", lambda ours: ours == value)


# ---- reading results ----

def values_of(result, name, row, column):
    """All values of a number, over the runs of an experiment."""
    one = result["experiments"].get(name) or {}
    return [value for run in one.get("runs", []) for at, key, value in run["numbers"]
            if at == row and key == column and value is not None]


def rows_of(result, name):
    """The names of the rows that an experiment left, in order, each once."""
    one = result["experiments"].get(name) or {}
    return list(dict.fromkeys(at for run in one.get("runs", []) for at, _, _ in run["numbers"]))


def line_of(result, name, series):
    """A line of the first run that has it, for a plot."""
    for run in (result["experiments"].get(name) or {}).get("runs", []):
        if series in run["series"]:
            return run["series"][series]
    return []


def by_run(result, name, row, column):
    """{seed: value} of a number, the last of each run."""
    one = result["experiments"].get(name) or {}
    return {run["seed"]: value for run in one.get("runs", []) for at, key, value in run["numbers"]
            if at == row and key == column and value is not None}
