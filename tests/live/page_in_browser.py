"""The HTML page in a real browser; live_report_page makes the pages.

    page_in_browser.py PAGES_FOLDER SCREENSHOTS_FOLDER
"""
import csv
import json
import os
import sys
import time

from colour_vision import closest
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


def still(browser, what):
    """The same after several pages."""
    said = browser.console()
    check(f"{what}: no console messages", not said, said)
    asked = [url for url in browser.requests() if not url.startswith(("data:", "blob:", "about:")) and os.path.dirname(url.split("#")[0]) != "file://" + os.path.abspath(pages)]
    check(f"{what}: no request", not asked, asked)


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
    misses = "return document.querySelector('#ranking tbody [data-column=misses]').textContent"
    browser.drag("#curve .u-over", 0.5, 0.02)
    small, headline_small = browser.run(misses), browser.run("return document.getElementById('headline').textContent")
    order_small = first_rows(browser)
    browser.drag("#curve .u-over", 0.1, 0.99)
    large, headline_large = browser.run(misses), browser.run("return document.getElementById('headline').textContent")
    check("dragging changes the table", small != large, small)
    check("dragging changes the headline", headline_small != headline_large, headline_small)
    check("dragging ranks anew", order_small != first_rows(browser))

    # Every table is ranked by the size, not only the lines.
    for table in ("functions", "objects", "pairs", "threads"):
        browser.click(f"[data-table={table}]")
        sums = []
        for share in (0.02, 0.99):
            browser.drag("#curve .u-over", 0.5, share)
            sums.append(sum(browser.run("return [...document.querySelectorAll('#ranking tbody tr')].map(r => Number(r.querySelector('[data-column=misses]').title || 0))")))
        check(f"dragging ranks {table} anew", sums[0] > sums[1] >= 0, sums)
    browser.click("[data-table=lines]")

    # Both axes are logarithmic; the ratio can be made linear.
    pixels = "const c = document.querySelector('#curve canvas'); return c.toDataURL().length + c.toDataURL().slice(-4000)"
    logarithmic = browser.run(pixels)
    toggle = "return [...document.querySelectorAll('#curve button')].findIndex(b => /ogarithmic/.test(b.textContent))"
    check("a button for the axis", browser.run(toggle) >= 0)
    browser.run("[...document.querySelectorAll('#curve button')].find(b => /ogarithmic/.test(b.textContent)).click()")
    browser.frame()
    check("a linear ratio is drawn otherwise", browser.run(pixels) != logarithmic)
    browser.run("[...document.querySelectorAll('#curve button')].find(b => /inear|ogarithmic/.test(b.textContent)).click()")
    browser.frame()
    check("a heat map", browser.run("return document.querySelectorAll('#phases canvas, #phases svg').length") >= 1)
    check("both histograms", browser.run("return document.querySelectorAll('#histograms svg, #histograms canvas').length") >= 2)

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
    for dark_now in (False, True):
        browser.dark(dark_now)
        colours = browser.run("""const style = getComputedStyle(document.documentElement), found = {};
            for (const name of ['paper', 'hit', 'miss', 'cold', ...Array.from({length: 8}, (_, i) => 'series-' + i)]) found[name] = style.getPropertyValue('--' + name).trim();
            return found;""")
        for names, least in ((["series-0", "series-1"], 40), ([f"series-{i}" for i in range(8)], 4), (["hit", "miss", "cold", "paper"], 20)):
            alike = closest({name: colours[name] for name in names})
            check(f"colours told apart by anyone, {'dark' if dark_now else 'light'}", alike[0] > least, alike)
    browser.dark(False)
    unnamed = browser.run("""return [...document.querySelectorAll('svg, canvas, input, select')].filter(e => !e.closest('[aria-hidden=true], [role=img]:not(svg):not(canvas)')
        && !e.getAttribute('aria-label') && !(e.labels && e.labels.length)).map(e => e.outerHTML.slice(0, 80))""")
    check("every picture and control has a name", not unnamed, unnamed)
    quiet(browser, "one.html")


def by_call_path(browser):
    """The icicle of misses: its sums, looking closer, searching, and the source beside it."""
    show(browser, "one.html")
    browser.drag("#curve .u-over", 0.5, 0.4)
    browser.frame()
    all_misses = browser.run("return document.getElementById('flame-about').textContent")
    check("all misses are the whole width", "100 % of all" in all_misses, all_misses)
    sums = browser.run("""const boxes = [...document.querySelectorAll('#flame-picture g')].map(g => { const r = g.querySelector('rect'); return [Number(r.getAttribute('y')), Number(r.getAttribute('width')) + 1, g.dataset.name]; });
        const rows = new Map(); for (const [y, w] of boxes) rows.set(y, (rows.get(y) || 0) + w); return [...rows.entries()].sort((a, b) => a[0] - b[0]).map(e => e[1]);""")
    check("a row is never wider than the one above", all(b <= a + 2 for a, b in zip(sums, sums[1:])), sums)
    check("several rows", len(sums) >= 4, sums)
    place = browser.run("return [...document.querySelectorAll('#flame-picture g')].map(g => g.dataset.name).find(name => name.startsWith('heat.c:'))")
    check("lines of the program are in it", bool(place), place)
    browser.run("[...document.querySelectorAll('#flame-picture g')].find(g => g.dataset.name === arguments[0]).dispatchEvent(new MouseEvent('click', {bubbles: true}))", place)
    browser.frame()
    trail = browser.run("return document.querySelector('#flame .trail').textContent")
    check("looked closer", place in trail and "all misses" in trail, trail)
    marked = browser.wait("return document.querySelector('#source tr.marked')")
    check("the source follows", marked and browser.run("return document.querySelector('#source tr.marked').dataset.line") == place.split(":")[1])
    browser.run("document.querySelector('#flame .trail button').click()")
    browser.type("#flame-search", "down_column")
    found = browser.run("return document.querySelectorAll('#flame-picture .found').length")
    check("searching finds boxes", found > 0, found)
    check("and says what share they are", "of all misses" in browser.run("return document.getElementById('flame-about').textContent"))
    browser.screenshot("flame")

    # What can be downloaded has the numbers.
    browser.run("""window.saved = []; const real = URL.createObjectURL; URL.createObjectURL = (blob) => { window.saved.push(blob); return real(blob); };
        HTMLAnchorElement.prototype.click = function () {}; window.texts = () => Promise.all(window.saved.map(b => b.text()));""")
    for button in ("#flame [data-download=SVG]", "#flame [data-download=CSV]", "#curve [data-download=SVG]", "#curve [data-download=CSV]", "#curve [data-download=PNG]", "#ranking-section [data-download=CSV]"):
        browser.run("document.querySelector(arguments[0]).click()", button)
    check("six files", browser.wait("return window.saved.length === 6"))
    browser.run("window.texts().then(t => { window.all = t; })")
    check("read back", browser.wait("return window.all !== undefined"))
    kinds = browser.run("return window.saved.map(b => b.type)")
    texts = dict(zip(range(6), browser.run("return window.all.map(t => t.slice(0, 4000))")))
    svgs = [t for t, kind in zip(texts.values(), kinds) if "svg" in kind]
    tables = [t for t, kind in zip(texts.values(), kinds) if "csv" in kind]
    check("two pictures, three tables, a PNG", (len(svgs), len(tables), sum("png" in kind for kind in kinds)) == (2, 3, 1), kinds)
    check("pictures with colours of their own", all("<svg" in t and "fill=" in t and "class=" not in t for t in svgs), svgs[:1])
    check("the curve's points", any(t.startswith("profile,bytes,miss_ratio,low,high\n") and t.count("\n") > 20 for t in tables), tables)
    check("paths by semicolons", any(t.startswith("path,misses\n") and ";" in t for t in tables))
    still(browser, "by call path")


def zoom_and_link(browser):
    """The wheel and buttons zoom, the mouse reads the curve, and the address leads back to what is shown."""
    show(browser, "one.html")
    box = browser.run("const r = document.querySelector('#curve .u-over').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]")
    browser.run("document.querySelector('#curve .u-over').dispatchEvent(new MouseEvent('mousemove', {clientX: arguments[0], clientY: arguments[1], bubbles: true}))", *box)
    browser.frame()
    tip = browser.run("const t = document.querySelector('#curve .tooltip'); return t.hidden ? '' : t.textContent")
    check("a value under the mouse", "iB" in tip and "%" in tip, tip)
    pixels = "return document.querySelector('#curve canvas').toDataURL()"
    whole = browser.run(pixels)
    browser.run("document.querySelector('#curve .u-over').dispatchEvent(new WheelEvent('wheel', {clientX: arguments[0], clientY: arguments[1], deltaY: -100, bubbles: true, cancelable: true}))", *box)
    browser.frame()
    check("the wheel zooms", browser.run(pixels) != whole)
    browser.run("document.querySelector('[data-zoom=Whole]').click()")
    browser.frame()
    check("and back", len(browser.run(pixels)) == len(whole))
    browser.drag("#curve .u-over", 0.5, 0.3)
    browser.click("[data-table=functions]")
    browser.type("#search", "column")
    check("the address has it", browser.wait("return location.hash.includes('at=') && location.hash.includes('table=functions') && location.hash.includes('find=column')"), browser.run("return location.hash"))
    size, hash_now = browser.run("return [document.querySelector('.size').textContent, location.hash]")
    browser.on_page("/url", {"url": "about:blank"})
    browser.on_page("/url", {"url": "file://" + os.path.abspath(os.path.join(pages, "one.html")) + hash_now})
    check("a link shows the same", browser.wait("return document.documentElement.hasAttribute('data-ready')") and
          browser.wait(f"return document.querySelector('.size').textContent === {json.dumps(size)}"), hash_now)
    check("and the same table", browser.run("return document.querySelector('[data-table=functions]').getAttribute('aria-selected')") == "true")
    browser.on_page("/url", {"url": "about:blank"})
    browser.on_page("/url", {"url": "file://" + os.path.abspath(os.path.join(pages, "one.html")) + "#at=-5&first=99&second=x&table=nothing"})
    check("nonsense in the address is ignored", browser.wait("return document.documentElement.hasAttribute('data-ready')") and "miss" in browser.run("return document.getElementById('headline').textContent"))
    still(browser, "zoom and link")


def any_width(browser):
    """Nothing is wider than the window, on a phone and on a desk, and the first view has the curve and the worst lines."""
    for page in ("one.html", "counters.html", "two.html", "names.html", "real-loops.html", "real-sim.html"):
        for width in (390, 820, 1400):
            browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
            show(browser, page)
            browser.frame()
            wide = browser.run("return document.documentElement.scrollWidth")
            check(f"{page} fits into {width} pixels", wide <= width, wide)
            if page == "two.html" and width == 1400:
                browser.click("[data-table=pairs]")
                narrow = browser.run("return Math.min(...[...document.querySelectorAll('#ranking td.name')].map(c => c.clientWidth))")
                check("names have room", narrow >= 120, narrow)
                change = browser.run("const c = document.querySelector('#ranking th:last-child').getBoundingClientRect(); return [c.right, document.documentElement.clientWidth]")
                check("the last column is not cut off", change[0] <= change[1], change)
            if page == "one.html" and width == 1400:
                low = browser.run("return [document.querySelector('#curve canvas'), document.querySelector('.worst tr:nth-child(5)')].map(e => e.getBoundingClientRect().bottom)")
                check("curve and worst lines above the fold", all(edge < 900 for edge in low), low)
    browser.devtools("Emulation.clearDeviceMetricsOverride")
    still(browser, "any width")


def labels_apart(browser):
    """No label of a picture is printed over another."""
    for page in ("one.html", "counters.html"):
        show(browser, page)
        over = browser.run("""return [...document.querySelectorAll('#histograms svg')].flatMap(picture => {
            const boxes = [...picture.querySelectorAll('text')].map(t => [t.getBoundingClientRect(), t.textContent]).sort((a, b) => a[0].left - b[0].left);
            return boxes.flatMap(([a, x], i) => boxes.slice(i + 1).filter(([b]) => a.right > b.left + 1 && a.left < b.right - 1 && a.bottom > b.top + 3 && a.top < b.bottom - 3).map(([, y]) => x + ' over ' + y)); })""")
        check(f"labels of {page}", not over, over)
        check("an axis with numbers", browser.run("return document.querySelectorAll('#histograms svg text').length") > 6)
    still(browser, "labels")


def as_the_terminal_says(browser):
    """The page's own sums, line by line, against those of `annotate`."""
    show(browser, "at-64k.html")
    browser.type("#search", "heat.c")
    shown = {}
    for place, misses in browser.run("return [...document.querySelectorAll('#ranking tbody tr')].map(r => [r.cells[1].textContent, Number(r.querySelector('[data-column=misses]').title)])"):
        shown[place] = shown.get(place, 0) + misses  # a line may be in two functions
    with open(os.path.join(pages, "at-64k.csv"), encoding="utf-8", newline="") as file:
        told = {f"{os.path.basename(row['file'])}:{row['line']}": int(row["misses"]) for row in csv.DictReader(file)}
    check("the terminal has these lines", len(shown) > 3 and all(place in told for place in shown), (shown, told))
    for place, misses in shown.items():  # up to the rounding of a few instructions' shares
        check(f"misses of {place}", abs(misses - told.get(place, -9)) <= 4, (misses, told.get(place)))
    quiet(browser, "at-64k.html")


def by_cycles(browser):
    """Lines are ranked by the cycles of a named machine, which are those of `annotate`, until a size is chosen."""
    show(browser, "zen2.html")
    ranked = "return document.querySelector('#ranking th[aria-sort=descending] button').dataset.sort"
    check("ranked by cycles", browser.run(ranked) == "cycles" and browser.run("return document.getElementById('rank-by').value") == "cycles")
    check("the worst lines too", "cycles" in browser.run("return document.querySelector('table.worst caption').textContent"))
    about = browser.run("return document.getElementById('rank-by').title")
    check("latencies are told", all(word in about for word in ("zen2", "published", "L2 12", "L3 39", "memory 280")), about)
    browser.type("#search", "heat.c")
    rows = browser.run("return [...document.querySelectorAll('#ranking tbody tr')].map(r => [r.cells[1].textContent, Number(r.querySelector('[data-column=cycles]').title)])")
    check("most first", [cycles for _, cycles in rows] == sorted((cycles for _, cycles in rows), reverse=True), rows)
    shown = {}
    for place, cycles in rows:
        shown[place] = shown.get(place, 0) + cycles
    with open(os.path.join(pages, "zen2.csv"), encoding="utf-8", newline="") as file:
        told = {f"{os.path.basename(row['file'])}:{row['line']}": float(row["cycles"]) for row in csv.DictReader(file)}
    for place, cycles in shown.items():  # misses are whole numbers there
        check(f"cycles of {place}", abs(cycles - told.get(place, -9)) <= 4 * 280, (cycles, told.get(place)))
    browser.drag("#curve .u-over", 0.5, 0.02)
    check("by misses at a chosen size", browser.run(ranked) == "misses", browser.run(ranked))
    browser.run("const s = document.getElementById('rank-by'); s.value = 'cycles'; s.dispatchEvent(new Event('change'))")
    browser.frame()
    check("and by cycles again", browser.run(ranked) == "cycles")
    quiet(browser, "zen2.html")


def two_programs(browser):
    show(browser, "two.html")
    head = browser.run("return [...document.querySelectorAll('.readout th')].map(h => h.textContent)")
    check("both are named", head == ["Cache", "columns.data", "rows.data", "Change"], head)
    check("a difference is marked", browser.run("return document.querySelectorAll('.readout .better, .readout .worse').length") > 0)
    check("in the tables too", browser.run("return document.querySelectorAll('#ranking .better, #ranking .worse').length") > 0)
    text = browser.run("return document.getElementById('headline').textContent")
    check("the headline is about both", "columns.data" in text and "rows.data" in text and ("fewer" in text or "more" in text), text)
    check("two curves", browser.run("return document.querySelectorAll('#curve .legend li').length") == 2)
    browser.screenshot("two")
    quiet(browser, "two.html")


def two_models(browser):
    show(browser, "models.html")
    names = browser.run("return [...document.querySelectorAll('#curve .legend li')].map(e => e.textContent)")
    check("private against shared", names == ["models.json, private", "models.json, shared"], names)
    text = browser.run("return document.getElementById('headline').textContent")
    check("the headline has both models", "private" in text and "shared" in text, text)
    check("and neither is better", "Difference" in browser.run("return document.querySelector('.readout thead').textContent"))
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
    """10,000 rows; and one function named to break out of the page."""
    show(browser, "many.html")
    took = browser.run("const t = performance.getEntriesByType('navigation')[0], paint = performance.getEntriesByType('paint')[0]; return [Math.round(t.domComplete), paint ? Math.round(paint.startTime) : -1]")
    print(f"10,000 code rows: first paint after {took[1]} ms, drawn after {took[0]} ms")
    status = browser.run("return document.getElementById('ranking-status').textContent")
    check("all rows are there", "of 10000 rows" in status, status)
    check("few are in the document", len(first_rows(browser)) < 200)
    before = status
    browser.click("#ranking-section .more")
    check("more rows on demand", len(first_rows(browser)) > 50 and before != browser.run("return document.getElementById('ranking-status').textContent"))
    quiet(browser, "many.html")
    show(browser, "evil.html")
    browser.type("#search", EVIL)
    check("the name is text", first_rows(browser) == [EVIL], first_rows(browser))
    check("and no element", browser.run("return document.querySelectorAll('script').length") == 2)
    check("nothing more to show", browser.run("return getComputedStyle(document.querySelector('#ranking-section .more')).display") == "none")
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
    cell = browser.run("const cell = document.querySelector('#sharing-matrix tbody tr').children[3]; return cell.textContent + '; ' + cell.title")
    check("bars in a cell of the matrix: 20 exact misses are added to the ends", cell == "6561–69; thread 3 took 50 (47–53) lines from 1, 40 (31–44) of them falsely; 65 (61–69) misses, 35 (27–37) of them by false sharing")
    check("no bar where a cell is exact", browser.run("return document.querySelectorAll('#sharing-matrix .range').length") == 1)
    check("bars of a line", browser.run("return [...document.querySelectorAll('#sharing table.plain td.number')].map((cell) => cell.textContent).join()") == "310290–333,300277–322")
    check("bars of all together", "35 (27–37) of them by false sharing" in browser.run("return [...document.querySelectorAll('#sharing p')].map((one) => one.textContent).join()"))
    browser.run("document.getElementById('sharing').scrollIntoView()")
    browser.screenshot("sharing")
    quiet(browser, "sharing.html")
    show(browser, "counters.html")
    check("no model is the better one", browser.run("return document.querySelectorAll('.better, .worse').length") == 0)
    check("no addresses of lines", "0x" not in browser.run("return document.getElementById('sharing').textContent"))
    check("a matrix of a real program", browser.run("return document.querySelectorAll('#sharing-matrix tbody tr').length") >= 2)
    check("its misses", browser.run("return [...document.querySelectorAll('#sharing-matrix td')].some((cell) => cell.title.includes('by false sharing'))"))
    check("false sharing with code and data", browser.run("return [...document.querySelectorAll('#sharing table.plain tbody tr')].some((row) => row.textContent.includes('packed') && row.textContent.includes('counters.c:'))"))
    check("ten lines of counters at least", browser.run("return document.querySelectorAll('#sharing .layout').length") >= 10)
    quiet(browser, "counters.html")


def other_results(browser):
    show(browser, "other.html")
    check("a bar for each simulated cache", browser.run("return document.querySelectorAll('#levels rect').length") >= 4)
    check("one curve for each number of threads", browser.run("return document.querySelectorAll('#loop-0 .legend li').length") == 3)
    check("no choice of caches where only a shared one was predicted", not browser.run("return document.querySelector('[id^=caches-]') !== null"))
    before = browser.run("return document.querySelector('#loop-0 .size').textContent")
    browser.type("#t-0", "\ue014")  # right
    check("the slider goes over thread counts", browser.run("return document.querySelector('#loop-0 .size').textContent") != before, before)
    browser.screenshot("other")
    quiet(browser, "other.html")


def samples_and_objects(browser):
    show(browser, "study.html")
    check("two cones for each interval length", browser.run("return document.querySelectorAll('#study-0 .cone polygon').length") == 4)
    widths = browser.run("return [...document.querySelector('#study-0 .cone polygon').points].map(p => p.y)")
    half = len(widths) // 2
    spans = [low - high for high, low in zip(widths[:half], reversed(widths[half:]))]
    check("a cone closes in", spans == sorted(spans, reverse=True) and spans[0] > 2 * spans[-1], spans)
    check("a row for each slice", browser.run("return [...document.querySelectorAll('#study-0 table')].pop().querySelectorAll('tbody tr').length") == 14)
    bias = browser.run("return [...document.querySelector('#study-0 table tbody tr').cells].map(c => c.textContent)")
    check("bias with its sign", bias[1].startswith("+") and bias[3] == "–" and bias[4].startswith("−") and bias[5] == "0 %", bias)
    browser.screenshot("study")
    quiet(browser, "study.html")

    with open(os.path.join(pages, "real-objects.json"), encoding="utf-8") as file:
        caches = json.load(file)["caches"]
    show(browser, "real-objects.html")
    rows = browser.run("return [...document.querySelectorAll('#objects-0 tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    check("a row for each cache of objects", [row[0] for row in rows] == [cache["policy"] for cache in caches], rows)
    check("their misses", all(abs(shown(row[2]) - cache["misses"]) <= 0.005 * cache["misses"] for row, cache in zip(rows, caches)), rows)
    check("a curve for each policy", browser.run("return document.querySelectorAll('#objects-0 .legend li').length") == 3)
    browser.screenshot("real-objects")
    quiet(browser, "real-objects.html")

    show(browser, "real-tlb.html")
    names = browser.run("return [...document.querySelectorAll('#sim-0 table')].slice(1).map(t => [...t.querySelectorAll('tbody tr')].map(r => r.cells[0].textContent))")
    check("TLBs by page size", names == [["itlb", "dtlb", "tlb2", "page walks"]] * 2, names)
    quiet(browser, "real-tlb.html")


def shown(text):
    """The number that "142 k" stands for."""
    number, _, unit = text.partition(" ")
    return float(number) * 1000 ** " kMGT".index(unit or " ")


def digits(text):
    return int("".join(c for c in text if c.isdigit()) or -1)


def straight_from_a_verb(browser):
    """Pages that sim and loops wrote themselves, against their JSON."""
    with open(os.path.join(pages, "real-sim.json"), encoding="utf-8") as file:
        levels = json.load(file)["levels"]
    show(browser, "real-sim.html")
    rows = browser.run("return [...document.querySelectorAll('#sim-0 tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    check("a row for each cache", len(rows) == len(levels) == 3, rows)
    for row, level in zip(rows, levels):
        check(f"{level['name']} {level['config']}", row[:2] == [level["name"], level["config"]] and
              all(abs(shown(cell) - level[key]) <= 0.005 * level[key] for cell, key in ((row[2], "accesses"), (row[3], "misses"))), (row, level))
    check("why it misses", browser.run("return document.querySelectorAll('#levels rect[class^=reason-]').length") >= 3)
    browser.screenshot("real-sim")
    quiet(browser, "real-sim.html")

    show(browser, "real-sample.html")
    check("an estimate with its interval", "90 %" in browser.run("return document.querySelector('#sim-0 tbody').textContent"))
    quiet(browser, "real-sample.html")

    with open(os.path.join(pages, "real-loops.json"), encoding="utf-8") as file:
        loops = json.load(file)["loops"]
    show(browser, "real-loops.html")
    for index, loop in enumerate(loops):
        labels = browser.run(f"return [...document.querySelectorAll('#loop-{index} .legend li')].map(e => e.textContent)")
        check("a curve for each number of threads", [digits(label.split(",")[0]) for label in labels] == [one["t"] for one in loop["threads"]], labels)
        about = browser.run(f"return document.querySelector('#loop-{index} p').textContent")
        told = shown(about.split("source: ")[1].split(" references")[0])
        check("references", abs(told - loop["references"]) <= 0.005 * loop["references"], about)
    with open(os.path.join(pages, "real-loops.json"), encoding="utf-8") as file:
        first = next(one for one in json.load(file)["loops"][0]["threads"] if one["t"] == 1)["references"]
    told = browser.run("return [...document.querySelectorAll('#loop-0 table.plain')].pop().textContent")
    check("misses of each reference", all(row["text"] in told for row in first), told)
    change = browser.run("return [...document.querySelectorAll('#change-0 option')].map(o => o.textContent)")
    check("what if", change == ["as written", "chunk=4", "chunk=8"], change)
    browser.run("const s = document.getElementById('change-0'); s.value = '2'; s.dispatchEvent(new Event('change'));")
    check("a curve for the change", "chunk=8" in browser.run("return document.querySelector('#loop-0 .legend').textContent"))
    before = browser.run("return document.querySelector('#loop-0 .size').textContent")
    browser.type("#t-0", "\ue014\ue014")  # right, twice
    after = browser.run("return document.querySelector('#loop-0 .size').textContent")
    check("the slider goes from 1 to 64 threads", (digits(before), digits(after)) == (1, 64), (before, after))
    browser.screenshot("real-loops")
    quiet(browser, "real-loops.html")


def caches_per_thread(browser):
    """The private view of a loop, and the caches of the machine that was named."""
    with open(os.path.join(pages, "own-loops.json"), encoding="utf-8") as file:
        loop = json.load(file)["loops"][0]
    variants = [loop["threads"], loop["what_if"][0]["threads"]]
    show(browser, "own-loops.html")
    machine = json.loads(browser.run("return document.getElementById('rsc-data').textContent"))["machine"]
    sizes = [level["bytes"] for level in machine] or [32768, 1048576, 33554432]

    def rows(caption):
        return browser.run("const one = [...document.querySelectorAll('#loop-0 table.plain')].find(t => t.caption.textContent.startsWith(arguments[0]));"
                           "return one ? [...one.tBodies[0].rows].map(r => [...r.cells].map(c => c.firstChild.textContent)) : []", caption)

    def close(cell, ratio):
        return cell == "<0.01 %" and ratio < 0.0001 or abs(float(cell.split()[0]) / 100 - ratio) <= 0.0005

    def at(mrc, size):
        return max((point for point in mrc if point["bytes"] <= size), key=lambda point: point["bytes"])["miss_ratio"]

    def whole(which):
        results = variants[which]
        for caption, curve in (("Miss ratio by threads", "mrc"), ("Miss ratio by threads, one cache per thread", "private")):
            browser.run("const s = document.getElementById('caches-0'); s.value = arguments[0]; s.dispatchEvent(new Event('change'));", "private" if curve == "private" else "shared")
            told = rows(caption)
            check(f"{caption} {which}", len(told) == len(results) and
                  all(close(cell, at((one["private"] or one)["mrc"] if curve == "private" else one["mrc"], size)) for row, one in zip(told, results) for cell, size in zip(row[1:], sizes)), told)
        own = [one for one in results if one["private"]]
        told = rows("One cache per thread")
        check(f"first touches and invalidations {which}", [digits(row[0]) for row in told] == [one["t"] for one in own] and
              all(abs(shown(row[2]) - one["private"]["cold"]) <= 0.005 * one["private"]["cold"] and
                  abs(shown(row[3]) - one["private"]["invalidated"]) <= max(0.6, 0.005 * one["private"]["invalidated"]) for row, one in zip(told, own)), told)
        told = rows("skylake-x")
        check(f"caches of the machine {which}", len(told) == len(results) and
              all(close(cell, level["miss_ratio"]) and row[-1] == one["machine"]["made"] for row, one in zip(told, results) for cell, level in zip(row[1:], one["machine"]["levels"])), told)

    check("something is invalidated", variants[0][-1]["private"]["invalidated"] > 0)
    check("private and shared differ where caches are", any(abs(at(one["private"]["mrc"], size) - at(one["mrc"], size)) > 0.01 for one in variants[0] if one["private"] for size in sizes))
    whole(0)
    browser.type("#t-0", "\ue014\ue014")  # right, twice: 64 threads
    told, own = rows("Coherence misses of each array, 64 threads"), variants[0][-1]["private"]["arrays"]
    check("arrays of 64 threads", [row[0] for row in told] == [row["array"] for row in own] and len(own) > 0 and
          all(abs(shown(row[2]) - one["coherence"]) <= max(0.6, 0.005 * one["coherence"]) for row, one in zip(told, own)), told)
    browser.run("document.getElementById('caches-0').focus(); document.querySelector('#loop-0 canvas, #loop-0 .uplot').scrollIntoView()")
    browser.screenshot("own-loops")
    browser.run("const s = document.getElementById('change-0'); s.value = '1'; s.dispatchEvent(new Event('change'));")
    whole(1)
    quiet(browser, "own-loops.html")


def nothing_at_all(browser):
    show(browser, "empty.html")
    check("an empty profile says so", "empty" in browser.run("return document.getElementById('headline').textContent"))
    quiet(browser, "empty.html")


with Browser(screenshots) as chromium:
    chromium.on_page("/url", {"url": "about:blank"})
    chromium.requests()  # the browser's own first page
    for part in (one_program, by_call_path, zoom_and_link, any_width, labels_apart, as_the_terminal_says, by_cycles, two_programs, two_models, sampled_lines, names_of_any_kind, policy_holds, threads_that_share, other_results, samples_and_objects, straight_from_a_verb, caches_per_thread, nothing_at_all):
        begun = time.monotonic()
        part(chromium)
        print(f"{part.__name__}: {time.monotonic() - begun:.1f} s")
sys.exit(1 if failures else 0)
