// Warns of Rust files, style sheets and scripts of more than 800 lines: such a file probably contains more than one concept.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const MAX_LINES = 800;

const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.rs", "*.css", "*.mjs"], {
  encoding: "utf8",
});
for (const file of listed.split("\n").filter((file) => file && existsSync(file))) {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n").length;
  if (lines > MAX_LINES) console.warn(`${file}: ${lines} lines. Consider splitting it.`);
}
