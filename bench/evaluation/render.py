"""A result as evaluation.md and, with its plots, as evaluation.html (one file, nothing loaded from elsewhere)."""
import html
import json
import math
import os
import statistics

import plan
import plots

TITLE = "The papers' tables, ours beside theirs"
PAPERS = {
    "000": "Schuff, Kulkarni, Pai: Accelerating multicore reuse distance analysis with sampling and parallelization (PACT 2010)",
    "001": "Kessler, Hill, Wood: A comparison of trace-sampling techniques for multi-megabyte caches (IEEE TC 1994)",
    "002": "Cui et al.: A highly parallel reuse distance analysis algorithm on GPUs (IPDPS 2012)",
    "003": "Wang, Liu, Chabbi: Featherlight reuse-distance measurement (HPCA 2019)",
    "004": "Liu et al.: PLUSS, static analysis of parallel loops' locality (PACT 2024)",
    "none": "Not in a paper: engines and collectors against plain baselines and other tools",
}
COLUMNS = ("", "the paper", "ours", "bar", "met", "where the setting differs")


def tuned(result, table):
    return table.tuned(result) if callable(table.tuned) else table.tuned


def _values(result, row):
    if callable(row.ours):
        try:
            found = row.ours(result)
        except (KeyError, IndexError, ZeroDivisionError, statistics.StatisticsError):
            found = []
    else:
        found = plan.values_of(result, *row.ours)
    return [value for value in found if value is not None and not math.isnan(value)]


def _sources(table, rows):
    names = list(table.experiments) + [row.ours[0] for row in rows if isinstance(row.ours, tuple)]
    return list(dict.fromkeys(names))


def _why_empty(result, sources):
    for name in sources:
        entry = result["experiments"].get(name)
        if entry and entry["skipped"]:
            return entry["skipped"]
    if all(name in result["experiments"] for name in sources):
        return "not at this size"
    return "not part of this result"


def cells_of(result, table):
    """The rows of a table as text: label, paper, ours, bar, met, differs. Never empty: without numbers, the reason."""
    rows = table.rows(result) if callable(table.rows) else table.rows
    sources, out = _sources(table, rows), []
    for row in rows:
        bar = row.bar[0] if row.bar else ""
        if isinstance(row.ours, str):
            out.append((row.label, row.paper, row.ours, bar, "", row.differs))
            continue
        found = _values(result, row)
        if not found:
            out.append((row.label, row.paper, _why_empty(result, sources), bar, "", row.differs))
            continue
        middle = statistics.median(found)
        ours = row.show(middle)
        if len(found) > 1:
            least, most = row.show(min(found)), row.show(max(found))
            ours += f" ({least} to {most}; {len(found)} runs)" if least != most else f" (the same in {len(found)} runs)"
        met = ("yes" if row.bar[1](middle) else "no") if row.bar else ""
        out.append((row.label, row.paper, ours, bar, met, row.differs))
    return out or [("all of it", "", _why_empty(result, sources), "", "", "")]


def _drawn(result, table):
    """(plot, lines) for the plots that have something to show."""
    for plot in table.plots:
        lines = [(label, line) for label, line in plot.lines(result) if len(line) > 1]
        if lines:
            yield plot, lines


def _machine(where):
    return (f"{where['processor']}, {where['cores']} cores, {where['memory_gib']} GiB of memory"
            f"{', ' + where['gpu'].split(' (UUID')[0] if where['gpu'] else ''}")


def _commit(text):
    return f"commit {text[:12]}{' with changes' if text.endswith('-changed') else ''}"


def _machine_lines(result):
    what = result["versions"]
    yield f"{_machine(result['machine'])}; load at the start {result['machine']['load']}."
    yield "; ".join(f"{name} {text}" for name, text in what.items() if text) + "."
    if result["size"] == "tiny":
        yield "Sizes are tiny: the numbers show that everything runs, not how good it is."
    yield f"Size {result['size']}, {_commit(result['commit'])}, {result['date']}. Each table names the machine, version and command of its own numbers."


def _papers(result):
    for paper, title in PAPERS.items():
        yield title, paper, [table for name, table in plan.TABLES.items() if name.split(".")[0] == paper]


def _size_name(name, size, result):
    """Of an entry: that of the result, or of the result that it was taken from."""
    known = plan.EXPERIMENTS[name].sizes if name in plan.EXPERIMENTS else {}
    return next((one for one in (result["size"], *known) if json.loads(json.dumps(known.get(one))) == size), None)


def _made(result, table):
    """Of each part of a table: its name, the command that measures it again, and where the numbers come from."""
    rows = table.rows(result) if callable(table.rows) else table.rows
    for name in _sources(table, rows):
        entry = result["experiments"].get(name)
        if not entry or not entry["runs"]:
            continue
        sizes = ", ".join(f"{key} {' '.join(map(str, value)) if isinstance(value, list) else value}" for key, value in entry["size"].items())
        places = {}
        for run in entry["runs"]:
            tool = f"reusescope {run['versions']['reusescope']}, " if run["versions"]["reusescope"] else ""
            version = f"{tool}{_commit(run['commit'])}, {run['date']}, on {_machine(run['machine'])}"
            places.setdefault(version, []).append(str(run["seed"]))
        where = "; ".join(f"seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}: {version}" for version, seeds in places.items())
        size = _size_name(name, entry["size"], result)
        again = f"bench/evaluate --size {size} --parts {name}" if size else "an earlier size"
        yield name, again, f"{sizes + '; ' if sizes else ''}{where}"


def markdown(result):
    def cell(text):
        return text.replace("|", "\\|")
    out = [f"# {TITLE}", "", "<!-- made by bench/evaluate from a result: change bench/evaluation -->", ""]
    own = name_of(result)
    out += ["`make evaluate` measures again (20 minutes on two idle cores), `make evaluate-full` with the sizes of the papers where",
            "the machine allows them, which leaves evaluation-full.md. *Ours* is the median of the runs, with the least and the most.",
            f"[{own}.html]({own}.html) has the plots and all commands, {own}.json the numbers of each run.", ""]
    for line in _machine_lines(result):
        out += [line, ""]
    for title, paper, tables in _papers(result):
        out += [f"## {'Paper ' + paper + '. ' if paper != 'none' else ''}{title}", ""]
        for table in tables:
            out += [f"### {table.title}", "", f"{table.place}. Tuned on: {tuned(result, table)}.", ""]
            out += ["| " + " | ".join(COLUMNS) + " |", "| " + " | ".join(["---"] * len(COLUMNS)) + " |"]
            out += ["| " + " | ".join(map(cell, row)) + " |" for row in cells_of(result, table)]
            out += [""] + [f"- `{again}`: {where}" for _, again, where in _made(result, table)]
            out += [""]
    return "\n".join(out).rstrip() + "\n"


STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;margin:.6rem 0;font-size:14px}th,td{border-bottom:1px solid #ddd;padding:.25rem .6rem;text-align:left;vertical-align:top}
th{font-weight:600}.yes{color:#11692b;font-weight:600}.no{color:#a8201a;font-weight:600}figure{margin:.8rem 1rem .8rem 0;display:inline-block}
figcaption{font-weight:600;font-size:14px}pre{background:#f5f5f5;padding:.5rem;overflow-x:auto;font-size:12px}nav a{margin-right:1rem}
summary{cursor:pointer;color:#555}"""


def page(result):
    def text(value):
        return html.escape(str(value))
    out = [f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{TITLE}</title><style>{STYLE}</style><h1>{TITLE}</h1>"]
    out += [f"<p>{text(line)}</p>" for line in _machine_lines(result)]
    out.append("<nav>" + "".join(f"<a href='#{paper}'>{'paper ' + paper if paper != 'none' else 'no paper'}</a>" for paper in PAPERS) + "</nav>")
    for title, paper, tables in _papers(result):
        out.append(f"<h2 id='{paper}'>{text(title)}</h2>")
        for table in tables:
            out.append(f"<h3 id='{table.name}'>{text(table.title)}</h3><p>{text(table.place)}. Tuned on: {text(tuned(result, table))}.</p>")
            out.append("<table><tr>" + "".join(f"<th>{text(name)}</th>" for name in COLUMNS) + "</tr>")
            for row in cells_of(result, table):
                out.append("<tr>" + "".join(f"<td class='{text(cell)}'>{text(cell)}</td>" if at == 4 else f"<td>{text(cell)}</td>"
                                            for at, cell in enumerate(row)) + "</tr>")
            out.append("</table>")
            for plot, lines in _drawn(result, table):
                out.append(f"<figure><figcaption>{text(plot.title)}</figcaption>{plots.draw(plot, lines)}</figure>")
            for name, again, where in _made(result, table):
                commands = [f"# seed {run['seed']}\n" + "\n".join(run["commands"]) for run in result["experiments"][name]["runs"]]
                out.append(f"<details><summary>{text(again)}: {text(where)}</summary><pre>{text(chr(10).join(commands))}</pre></details>")
    return "\n".join(out) + "</html>\n"


def name_of(result):
    """Of the files of a result."""
    return "evaluation-full" if result["size"] == "full" else "evaluation"


def write(result, folder):
    os.makedirs(folder, exist_ok=True)
    for end, make in ((".md", markdown), (".html", page)):
        path = os.path.join(folder, name_of(result) + end)
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(make(result))
        os.replace(path + ".part", path)
        yield path
