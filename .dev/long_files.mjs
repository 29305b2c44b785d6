// Says which Rust files, style sheets and scripts are longer than a person takes in at once, and fails if there
// are any: such a file has more than one concept in it, or a table that can stand in a file of its own.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";

const MOST = { ".rs": 400, ".css": 300, ".mjs": 300 };

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.rs", "*.css", "*.mjs"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file && existsSync(file));
const length = (file) => readFileSync(file, "utf8").trimEnd().split("\n").length;
const most = (file) => MOST[extname(file)];

const long = files.filter((file) => length(file) > most(file));
for (const file of long) console.error(`${file}: ${length(file)} lines, and ${most(file)} are the most`);
process.exit(long.length > 0 ? 1 : 0);
