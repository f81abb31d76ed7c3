#!/usr/bin/python3
"""Runs the cells of a notebook in order and compares what they print with what it says they print.

    notebook.py [--bless] NOTEBOOK

As in Jupyter, the value of a cell's last line is shown unless it ends in a
semicolon; pictures are drawn but not compared. --bless rewrites the outputs.
"""
import ast
import contextlib
import difflib
import io
import json
import os
import sys
import tempfile


def run_cell(source, names):
    """What the cell prints and shows, as one text."""
    tree = ast.parse(source)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(tree.body.pop().value)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(last, "<cell>", "eval"), names) if last else None
    return printed.getvalue() + (repr(value) + "\n" if value is not None else "")


def main(arguments):
    bless = "--bless" in arguments
    path = os.path.abspath([word for word in arguments if word != "--bless"][0])
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    os.environ.setdefault("MPLBACKEND", "Agg")
    names, wrong, cells = {"__name__": "__main__"}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, cell in enumerate(notebook["cells"], 1):
            if cell["cell_type"] != "code":
                continue
            cells += 1
            source = "".join(cell["source"])
            text = run_cell(source, names)
            expected = "".join(line for output in cell["outputs"] for line in output.get("text", []))
            if bless:
                lines = text.splitlines(keepends=True)
                cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if text else []
            elif text != expected:
                wrong += 1
                print(f"cell {number}:\n{source}")
                print("\n".join(difflib.unified_diff(expected.splitlines(), text.splitlines(), "written", "printed", lineterm="")))
        os.chdir("/")
    if bless:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")
    print(f"{cells} cells, {wrong} wrong")
    return 1 if wrong or not cells else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
