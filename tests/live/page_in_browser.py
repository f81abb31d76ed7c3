"""The HTML page in a real browser; live_report_page makes the pages.

    page_in_browser.py PAGES_FOLDER SCREENSHOTS_FOLDER
"""
import csv
import os
import sys
import time

from web_driver import Browser

pages, screenshots = sys.argv[1:3]
EVIL = "</script><script>alert(1)"
failures = []


def check(what, holds, got=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what} {got}")


def first_rows(browser):
    return browser.run("return [...document.querySelectorAll('#ranking tbody tr')].map(r => r.cells[0].textContent)")


def quiet(browser, page):
    """Nothing on the console, nothing asked for but the page itself."""
    said = browser.console()
    check(f"{page}: no console messages", not said, said)
    asked = [url for url in browser.requests() if not url.startswith("data:") and not url.endswith("/" + page)]
    check(f"{page}: no request", not asked, asked)


def show(browser, page):
    browser.open(os.path.join(pages, page))


def one_program(browser):
    show(browser, "one.html")
    text = browser.run("return document.getElementById('headline').textContent")
    check("the headline says a ratio and a line", "miss" in text and "heat.c:" in text, text)
    sections = browser.run("return [...document.querySelectorAll('section')].map(s => s.id)")
    for wanted in ("curve", "ranking-section", "paths", "source", "histograms", "threads", "phases"):
        check(f"section {wanted}", wanted in sections, sections)
    painted = browser.run("""const c = document.querySelector('#curve canvas'), g = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < g.length; i += 4) n += g[i] > 0; return n;""")
    check("the curve is painted", painted > 2000, painted)
    browser.screenshot("one")

    # By mouse: the smallest caches, then the largest.
    misses = "return document.querySelector('#ranking tbody tr .number').textContent"
    browser.drag("#curve .u-over", 0.5, 0.02)
    small, headline_small = browser.run(misses), browser.run("return document.getElementById('headline').textContent")
    order_small = first_rows(browser)
    browser.drag("#curve .u-over", 0.1, 0.99)
    large, headline_large = browser.run(misses), browser.run("return document.getElementById('headline').textContent")
    check("dragging changes the table", small != large, small)
    check("dragging changes the headline", headline_small != headline_large, headline_small)
    check("dragging ranks anew", order_small != first_rows(browser))

    # By keyboard: arrow keys move the slider by a sixteenth of an octave each.
    size = "return document.querySelector('.size').textContent"
    browser.click("#curve .slider button")
    before = browser.run(size)
    check("a level's button", "L1" in before or "L2" in before or not before, before)
    value = "return Number(document.getElementById('size').value)"
    at = browser.run(value)
    browser.type("#size", "\ue012" * 8)  # left
    check("arrow keys move the slider", browser.run(value) == at - 8, browser.run(value))
    check("the slider says where it is", "miss" in browser.run("return document.getElementById('size').getAttribute('aria-valuetext')"))
    check("and the size follows", browser.run(size) != before, before)

    # Columns sort by button.
    browser.click("#ranking [data-sort=references]")
    check("sorted by references", browser.run("return document.querySelector('#ranking th[aria-sort=descending] button').dataset.sort") == "references")
    browser.type("#ranking [data-sort=references]", "\ue007")  # enter
    check("and back, by keyboard", browser.run("return document.querySelector('#ranking th[aria-sort=ascending] button').dataset.sort") == "references")

    # Searching.
    all_rows = browser.run("return document.getElementById('ranking-status').textContent")
    browser.type("#search", "heat.c")
    found = browser.run("return [...document.querySelectorAll('#ranking tbody tr')].map(r => r.cells[1].textContent)")
    check("search finds the program's lines", found and all("heat.c" in row for row in found), found)
    check("search says how many", browser.run("return document.getElementById('ranking-status').textContent") != all_rows)
    browser.run("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'));")

    # Every table, the pair's paths, the source.
    for table in ("functions", "files", "modules", "objects", "pairs", "threads", "lines"):
        browser.click(f"[data-table={table}]")
        check(f"table of {table}", len(first_rows(browser)) > 0)
    browser.click("[data-table=pairs]")
    browser.click("#ranking tbody tr button.link")
    check("a pair has a common ancestor", "share" in browser.run("return document.getElementById('ancestor').textContent"))
    if browser.run("return Boolean(document.querySelector('[data-table=loops]'))"):  # builds with Zydis, on x86-64
        check("a pair has a loop around it", "heat.c:" in browser.run("return document.getElementById('ancestor-loop').textContent"))
        browser.click("[data-table=loops]")
        loops = browser.run("return [...document.querySelectorAll('#ranking tbody tr')].map(r => r.cells[0].textContent)")
        check("table of loops", "down_column" in loops, loops)
        browser.click("[data-table=pairs]")
    check("call paths have two ends", browser.run("return document.querySelectorAll('#paths .path .end').length") == 2)
    check("the tree of call paths", browser.run("return document.querySelectorAll('#paths .tree summary').length") > 0)
    browser.click("[data-table=lines]")
    browser.type("#search", "heat.c")
    browser.click("#ranking tbody tr button.link")
    check("source of the line", browser.wait("return document.querySelector('#source tr.marked')"))
    check("misses in the margin", browser.run("return document.querySelector('#source tr.marked td').textContent") != "")

    browser.dark(True)
    colour = "return getComputedStyle(document.body).backgroundColor"
    dark = browser.run(colour)
    browser.screenshot("one-dark")
    browser.dark(False)
    light = browser.run(colour)
    check("dark and light differ", sum(eval(dark[3:])) < 150 and sum(eval(light[3:])) > 700, (dark, light))
    check("prints", browser.pdf_bytes() > 20000)
    unnamed = browser.run("""return [...document.querySelectorAll('svg, canvas, input, select')].filter(e => !e.closest('[aria-hidden=true], [role=img]:not(svg):not(canvas)')
        && !e.getAttribute('aria-label') && !(e.labels && e.labels.length)).map(e => e.outerHTML.slice(0, 80))""")
    check("every picture and control has a name", not unnamed, unnamed)
    quiet(browser, "one.html")


def as_the_terminal_says(browser):
    """The page's own sums, line by line, against those of `annotate`."""
    show(browser, "at-64k.html")
    browser.type("#search", "heat.c")
    shown = {}
    for place, misses in browser.run("return [...document.querySelectorAll('#ranking tbody tr')].map(r => [r.cells[1].textContent, Number(r.cells[2].title)])"):
        shown[place] = shown.get(place, 0) + misses  # a line may be in two functions
    with open(os.path.join(pages, "at-64k.csv"), encoding="utf-8", newline="") as file:
        told = {f"{os.path.basename(row['file'])}:{row['line']}": int(row["misses"]) for row in csv.DictReader(file)}
    check("the terminal has these lines", len(shown) > 3 and all(place in told for place in shown), (shown, told))
    for place, misses in shown.items():  # up to the rounding of a few instructions' shares
        check(f"misses of {place}", abs(misses - told.get(place, -9)) <= 4, (misses, told.get(place)))
    quiet(browser, "at-64k.html")


def two_programs(browser):
    show(browser, "two.html")
    head = browser.run("return [...document.querySelectorAll('.readout th')].map(h => h.textContent)")
    check("both are named", head == ["Cache", "columns.data", "rows.data", "Change"], head)
    check("a difference is marked", browser.run("return document.querySelectorAll('.readout .better, .readout .worse').length") > 0)
    check("in the tables too", browser.run("return document.querySelectorAll('#ranking .better, #ranking .worse').length") > 0)
    check("two curves", browser.run("return document.querySelectorAll('#curve .legend li').length") == 2)
    browser.screenshot("two")
    quiet(browser, "two.html")


def two_models(browser):
    show(browser, "models.html")
    names = browser.run("return [...document.querySelectorAll('#curve .legend li')].map(e => e.textContent)")
    check("private against shared", names == ["models.json, private, 64 B lines", "models.json, shared, 64 B lines"], names)
    check("the same numbers differ in nothing", browser.run("return document.querySelectorAll('.better, .worse').length") == 0)
    browser.run("const s = document.querySelectorAll('.choose select')[1]; s.value = '-1'; s.dispatchEvent(new Event('change'));")
    browser.frame()
    check("comparing can be switched off", browser.run("return document.querySelectorAll('.readout th').length") == 2)
    quiet(browser, "models.html")


def sampled_lines(browser):
    show(browser, "sampled.html")
    text = browser.run("return document.getElementById('headline').textContent")
    check("an estimate has its error", " to " in text, text)
    tints = browser.run("""const c = document.querySelector('#curve canvas'), g = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < g.length; i += 4) n += g[i] > 30 && g[i] < 80; return n;""")
    check("a band is painted", tints > 1000, tints)
    quiet(browser, "sampled.html")


def names_of_any_kind(browser):
    """10,000 rows, one function named to break out of the page."""
    show(browser, "evil.html")
    took = browser.run("const t = performance.getEntriesByType('navigation')[0]; return Math.round(t.domComplete)")
    print(f"10,000 code rows: {took} ms until drawn")
    status = browser.run("return document.getElementById('ranking-status').textContent")
    check("all rows are there", "of 10000 rows" in status, status)
    check("few are in the document", len(first_rows(browser)) < 200)
    browser.type("#search", EVIL)
    check("the name is text", first_rows(browser) == [EVIL], first_rows(browser))
    check("and no element", browser.run("return document.querySelectorAll('script').length") == 2)
    browser.run("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'));")
    before = browser.run("return document.getElementById('ranking-status').textContent")
    browser.click("#ranking-section .more")
    check("more rows on demand", len(first_rows(browser)) > 50 and before != browser.run("return document.getElementById('ranking-status').textContent"))
    quiet(browser, "evil.html")


def policy_holds(browser):
    """A script that did get into the page would not run."""
    browser.on_page("/url", {"url": "file://" + os.path.abspath(os.path.join(pages, "injected.html"))})
    check("the page itself still works", browser.wait("return document.documentElement.hasAttribute('data-ready')"))
    check("a foreign script does not run", browser.run("return window.injected === undefined"))
    check("and the browser says so", any("Content Security Policy" in line for line in browser.console()))
    browser.requests()  # of the foreign elements: refused, but noted


def threads_that_share(browser):
    show(browser, "sharing.html")
    check("a matrix of three threads", browser.run("return document.querySelectorAll('#sharing-matrix tbody tr').length") == 3)
    check("false sharing by bytes", browser.run("return document.querySelectorAll('#sharing .layout rect').length") == 3)
    check("no bytes drawn over others", browser.run("return document.querySelector('#sharing .layout').getAttribute('aria-label')") == "thread 1 bytes 0 to 7; thread 2 bytes 8 to 15")
    browser.run("document.getElementById('sharing').scrollIntoView()")
    browser.screenshot("sharing")
    quiet(browser, "sharing.html")
    show(browser, "counters.html")
    check("a matrix of a real program", browser.run("return document.querySelectorAll('#sharing-matrix tbody tr').length") >= 2)
    check("its misses", browser.run("return [...document.querySelectorAll('#sharing-matrix td')].some((cell) => cell.title.includes('by false sharing'))"))
    check("false sharing with code and data", browser.run("return [...document.querySelectorAll('#sharing table.plain tbody tr')].some((row) => row.textContent.includes('packed') && row.textContent.includes('counters.c:'))"))
    check("ten lines of counters at least", browser.run("return document.querySelectorAll('#sharing .layout').length") >= 10)
    quiet(browser, "counters.html")


def other_results(browser):
    show(browser, "other.html")
    check("a bar for each simulated cache", browser.run("return document.querySelectorAll('#levels rect').length") >= 4)
    check("one curve for each number of threads", browser.run("return document.querySelectorAll('#loop-0 .legend li').length") == 3)
    before = browser.run("return document.querySelector('#loop-0 .size').textContent")
    browser.type("#t-0", "\ue014")  # right
    check("the slider goes over thread counts", browser.run("return document.querySelector('#loop-0 .size').textContent") != before, before)
    browser.screenshot("other")
    quiet(browser, "other.html")


def nothing_at_all(browser):
    show(browser, "empty.html")
    check("an empty profile says so", "empty" in browser.run("return document.getElementById('headline').textContent"))
    quiet(browser, "empty.html")


with Browser(screenshots) as chromium:
    chromium.on_page("/url", {"url": "about:blank"})
    chromium.requests()  # the browser's own first page
    for part in (one_program, as_the_terminal_says, two_programs, two_models, sampled_lines, names_of_any_kind, policy_holds, threads_that_share, other_results, nothing_at_all):
        begun = time.monotonic()
        part(chromium)
        print(f"{part.__name__}: {time.monotonic() - begun:.1f} s")
sys.exit(1 if failures else 0)
