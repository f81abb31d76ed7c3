#!/usr/bin/python3
"""The HTML page's bundle (web/dist/page.html) against its sources.

    page_bundle.py SOURCE_DIR TOOL

One line a problem, exit status 1 if there are any:
  - the bundle was not made from the sources beside it
  - the hashes of its content security policy are not those of its script and style
  - the policy allows anything else, or the page names an address to fetch from
  - it is over 400 KB, or the licence of uPlot or d3-hierarchy is not in it
  - a page that the tool makes does not carry the bundle's script and style
  - package-lock.json says where to download from
Where node and web/node_modules are there, the bundle is also made anew: the same bytes.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def stamp(web):
    names = ["build.mjs", "package-lock.json"] + ["src/" + name for name in sorted(os.listdir(os.path.join(web, "src")))]
    lines = ""
    for name in names:
        with open(os.path.join(web, name), "rb") as file:
            lines += f"{name}\n{sha256(file.read())}\n"
    return "sources sha256:" + sha256(lines.encode())


def parts(page):
    policy = re.search(rb'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1).decode()
    style = re.search(rb"<style>(.*?)</style>", page, re.S).group(1)
    script = re.search(rb"<script>(.*?)</script>", page, re.S).group(1)
    return policy, style, script


def policy_problems(page):
    policy, style, script = parts(page)
    allowed = dict((rule.split() + [""])[:2] for rule in policy.split("; "))
    for name, data in (("script-src", script), ("style-src", style)):
        wanted = "'sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode() + "'"
        if allowed.pop(name, None) != wanted:
            yield f"the policy's {name} is not the hash of what stands in the page"
    rest = {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'", "require-trusted-types-for": "'script'"}
    if allowed != rest:
        yield f"the policy is {policy}"


def bundle_problems(web, page):
    if stamp(web).encode() not in page:
        yield "web/dist/page.html is older than its sources: cd web && npm ci && npm run build"
    yield from policy_problems(page)
    if len(page) > 400 * 1024:
        yield f"web/dist/page.html is {len(page)} bytes"
    if b"Leon Sorokin" not in page or b"Permission is hereby granted" not in page:
        yield "uPlot's licence is not in the bundle"
    if b"Mike Bostock" not in page or b"and this permission notice appear in all copies" not in page:
        yield "d3-hierarchy's licence is not in the bundle"
    outside = re.findall(rb'(?:src|href)\s*=\s*"(?!#|data:)[^"]*"|url\((?!data:)[^)]*\)|@import', page)
    if outside:
        yield f"the page would fetch {outside[:3]}"
    with open(os.path.join(web, "package-lock.json"), encoding="utf-8") as file:
        if '"resolved"' in file.read():
            yield "package-lock.json has download addresses: npm install --omit-lockfile-registry-resolved"


def rebuilt_problems(web, page):
    if not shutil.which("node") or not os.path.exists(os.path.join(web, "node_modules", "esbuild")):
        return
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "page.html")
        subprocess.run(["node", os.path.join(web, "build.mjs"), made], check=True, stdout=subprocess.DEVNULL)
        with open(made, "rb") as file:
            if file.read() != page:
                yield "building web/dist/page.html again gives other bytes"


def tool_problems(tool, page):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "t.din"), "w", encoding="ascii") as file:
            file.write("0 0\n0 40\n0 0\n")
        subprocess.run([tool, "analyze", "-q", "t.din", "-o", "t.html"], cwd=folder, check=True)
        with open(os.path.join(folder, "t.html"), "rb") as file:
            made = file.read()
    yield from policy_problems(made)
    if parts(made) != parts(page):
        yield "the tool's page is not the bundle's"


def main():
    web, tool = os.path.join(sys.argv[1], "web"), sys.argv[2]
    with open(os.path.join(web, "dist", "page.html"), "rb") as file:
        page = file.read()
    problems = [*bundle_problems(web, page), *rebuilt_problems(web, page), *tool_problems(tool, page)]
    print("\n".join(problems) if problems else f"web/dist/page.html: {len(page)} bytes")
    return 1 if problems else 0


sys.exit(main())
