// Lists the tests that docs/security.md names for a promise and that do not exist, and fails if there are any:
// `node promises.mjs`.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = "docs/security.md";
const SERVICE = "crates/service";

/** The rows of the tables in that file: a promise, and for each of its tests the file and the function. */
const rows = readFileSync(PAGE, "utf8").split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| ---"));
const problems = rows.filter((row) => !row.includes("| Proven by |")).flatMap((row) => {
  const proof = row.split(" | ").at(-1);
  const names = [...proof.matchAll(/`([^`]+)`/g)].map((match) => match[1]);
  let file = null;
  const missing = [];
  let found = 0;
  for (const name of names) {
    if (name.endsWith(".rs")) {
      const isWhole = /^(crates|tests)\//.test(name);
      file = isWhole ? name : join(SERVICE, name.startsWith("src/") ? name : join("tests", name));
      if (!existsSync(file)) missing.push(`${file} does not exist`);
    } else if (file && existsSync(file)) {
      // A test, not a helper.
      const test = new RegExp(`#\\[(?:tokio::)?test[^\\]]*\\]\\s+(?:#\\[[^\\]]*\\]\\s+)*(?:async )?fn ${name}\\(`);
      if (test.test(readFileSync(file, "utf8"))) found += 1;
      else missing.push(`${file} has no test ${name}`);
    }
  }
  if (found === 0 && missing.length === 0) missing.push(`no test: ${row}`);
  return missing;
});
for (const problem of problems) console.error(`${PAGE}: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
