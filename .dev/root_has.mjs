// Says where a style sheet asks the page's root what is in it, and fails if any does: the browser would look through the
// whole page whenever anything in it changes. What the root has to know is marked there: see src/view/parts/root_mark.rs.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const listed = ["ls-files", "--cached", "--others", "--exclude-standard", "style/*.css", "boot/*", "index.html"];
const files = execFileSync("git", listed, { encoding: "utf8" }).split("\n").filter((file) => file && existsSync(file));
const found = files.flatMap((file) => {
  const lines = readFileSync(file, "utf8").split("\n");
  const asks = /(?<![\w.-])(html|body|:root)(?![\w-])[^\s>+~,{]*:has\(/;
  return lines.flatMap((line, at) => (asks.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
});
for (const line of found) console.error(`${line} asks the root what is in it`);
process.exit(found.length > 0 ? 1 : 0);
