// Lists the uses of `:has()` on the root element in style sheets, and fails if there are any: the browser would search the
// whole page at every change. Attributes on the root element are used instead: see src/view/parts/root_mark.rs.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const listed = ["ls-files", "--cached", "--others", "--exclude-standard", "style/*.css", "boot/*", "index.html"];
const files = execFileSync("git", listed, { encoding: "utf8" }).split("\n").filter((file) => file && existsSync(file));
const found = files.flatMap((file) => {
  const lines = readFileSync(file, "utf8").split("\n");
  const usesHas = /(?<![\w.-])(html|body|:root)(?![\w-])[^\s>+~,{]*:has\(/;
  return lines.flatMap((line, at) => (usesHas.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
});
for (const line of found) console.error(`${line} uses :has() on the root element`);
process.exit(found.length > 0 ? 1 : 0);
