// Lists classes of the style sheets that no view uses, and style sheets that are not in index.html. Fails if there are any: a
// class that was renamed in only one place leaves a page without its styles, and breaks no build.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const files = (...paths) =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...paths], { encoding: "utf8" })
    .split("\n")
    .filter((file) => file && existsSync(file));

const views = files("src/*.rs", "crates/engine/src/*.rs", "crates/studio/src/*.rs", "index.html", "boot/*").map((file) => readFileSync(file, "utf8")).join("\n");
const used = new Set(views.match(/[\w-]+/g));
const sheets = files("style/*.css");
const unused = sheets.flatMap((file) => {
  const text = readFileSync(file, "utf8").replace(/\/\*[^]*?\*\//g, "").replace(/url\([^)]*\)/g, "");
  const classes = new Set(Array.from(text.matchAll(/\.([a-z][\w-]*)(?=[^;}]*\{)/g), ([, name]) => name));
  return [...classes].filter((name) => !used.has(name)).map((name) => `${file}: .${name}`);
});
for (const line of unused) console.error(`${line} is not used by any view`);
const index = readFileSync("index.html", "utf8");
const unlinked = sheets.filter((file) => !index.includes(`href="${file}"`));
for (const file of unlinked) console.error(`${file} is not in index.html`);
process.exit(unused.length + unlinked.length > 0 ? 1 : 0);
