// Prints how many bytes a visit to the list of models transfers (brotli), and fails if that exceeds the limits:
// `node budget.mjs FOLDER CARDS PROGRAM VISIT`, in bytes. The first cards need index.html and its style sheet. The program
// needs all files to which index.html refers, and the snippets that its script imports. A visit also transfers the deferred
// part, which drives tasks, but not the pages.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const [cardsLimit, programLimit, visitLimit] = process.argv.slice(3).map(Number);
const html = readFileSync(join(folder, "index.html"), "utf8");

const files = new Set(["index.html"]);
const tags = [...html.matchAll(/<(?:link|script|img)\b[^>]*>/gi)];
const named = tags.map(([tag]) => /\s(?:href|src)\s*=\s*["']?([^"'\s>]+)/i.exec(tag)?.[1]);
// The addresses of the wasm files.
const fetched = [...html.matchAll(/\bfetch\("([^"]+_bg\.wasm)"\)/g)].map(([, address]) => address);
for (const address of [...named, ...fetched]) {
  if (!address || /^(?:[a-z]+:|\/\/)/i.test(address)) continue;
  files.add(address.replace(/^\.?\//, "").replace(/[?#].*$/, ""));
}
const snippets = join(folder, "snippets");
if (existsSync(snippets)) {
  for (const path of readdirSync(snippets, { recursive: true })) {
    if (path.endsWith(".js")) files.add(join("snippets", path));
  }
}

let [cards, total] = [0, 0];
for (const file of files) {
  const path = join(folder, file);
  if (!existsSync(path)) {
    console.error(`index.html refers to ${file}, which does not exist`);
    process.exit(1);
  }
  const bytes = statSync(existsSync(`${path}.br`) ? `${path}.br` : path).size;
  total += bytes;
  if (/\.(html|css)$/.test(file)) cards += bytes;
  console.log(`${String(bytes).padStart(9)}  ${file}`);
}
let visit = total;
for (const path of readdirSync(folder).filter((path) => /(_(deferred|pages|more)\.wasm\.br|^(deferred|pages|more)-.*\.css\.br|\.woff2)$/.test(path))) {
  const { size } = statSync(join(folder, path));
  const isOfVisit = /_deferred\.wasm|^deferred-/.test(path);
  if (isOfVisit) visit += size;
  console.log(`(${String(size).padStart(7)}  ${path.replace(/\.br$/, "")}, loaded later${isOfVisit ? "" : " if needed"})`);
}
console.log(`${String(cards).padStart(9)}  before the first cards, brotli; the limit is ${cardsLimit}`);
console.log(`${String(total).padStart(9)}  before the program runs; the limit is ${programLimit}`);
console.log(`${String(visit).padStart(9)}  of a visit to the list of models; the limit is ${visitLimit}`);
if (![...files].some((file) => file.endsWith(".wasm"))) {
  console.error("index.html refers to no .wasm file: the count is wrong");
  process.exit(1);
}
process.exit(cards <= cardsLimit && total <= programLimit && visit <= visitLimit ? 0 : 1);
