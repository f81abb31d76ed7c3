// build.mjs - web/src into dist/page.html: `npm ci && npm run build`.
//
// The result is committed, so that building reusescope needs no node. It depends
// on nothing but the sources and the versions in package-lock.json: the same bytes
// everywhere. It carries a hash of its sources, by which a test sees that it is not
// stale, and hashes of its script and style, outside of which the page runs nothing.
import { build, version } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, name), "utf8");
const sha256 = (text, form) => createHash("sha256").update(text, "utf8").digest(form);

async function bundle(entry) {
  const result = await build({
    absWorkingDir: here, entryPoints: [entry], bundle: true, write: false, minify: true, format: "iife", target: ["es2021", "chrome100", "firefox100", "safari15"],
    charset: "utf8", legalComments: "none", logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

// tests/page_bundle.py counts the same way.
function stamp() {
  const names = ["build.mjs", "package-lock.json", ...readdirSync(join(here, "src")).sort().map((name) => "src/" + name)];
  return "sources sha256:" + sha256(names.map((name) => name + "\n" + sha256(read(name), "hex") + "\n").join(""), "hex");
}

const notice = (name, where, folder) => `/*! ${name}, ${where}\n${read("node_modules/" + folder + "/LICENSE").trim()}\n*/\n`;
const notices = notice("uPlot", "https://github.com/leeoniya/uPlot", "uplot") + notice("d3-hierarchy", "https://github.com/d3/d3-hierarchy", "d3-hierarchy");
const script = notices + await bundle("src/main.js");
const style = await bundle("src/page.css");
for (const part of [script, style]) if (/<\/(script|style)/i.test(part)) throw new Error("a part would end its own element");
const policy = `default-src 'none'; script-src 'sha256-${sha256(script, "base64")}'; style-src 'sha256-${sha256(style, "base64")}'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;
const parts = { POLICY: policy, STAMP: stamp(), STYLE: style, SCRIPT: script };
const page = read("src/page.html").replace(/@@(POLICY|STAMP|STYLE|SCRIPT)@@/g, (all, name) => parts[name]);
if (page.split("@@DATA@@").length !== 2) throw new Error("there must be one place for the data");
const out = process.argv[2] || join(here, "dist/page.html");
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
console.log(`${out}: ${page.length} characters, esbuild ${version}`);
