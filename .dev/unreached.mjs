// Says which Rust files no crate compiles, and which tests nothing runs, and fails if there are any:
// `node unreached.mjs`. A file without a `mod` and a `#[test]` in a package that is only ever built
// for wasm32 look like tests, and are none. What has run in the end is counted by counted.mjs.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { contents, targets } from "./sources.mjs";

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"], {
  encoding: "utf8",
})
  .split("\n")
  // A program that a test writes around a snippet is a package of its own.
  .filter((file) => file && existsSync(file) && !file.startsWith("crates/studio/src/share/snippet/copy-as-rust/"));

const reached = new Set(targets().flatMap(({ root }) => [...contents(root).files]));
const problems = files.filter((file) => !reached.has(file)).map((file) => `${file}: no crate has it`);
const counts = { native: 0, browser: 0, "end-to-end": 0 };
for (const file of files) {
  const tests = readFileSync(file, "utf8").match(/^\s*#\[(?:tokio::|wasm_bindgen_)?test(?:\(.*\))?\]/gm) ?? [];
  const isWasm = file.startsWith("src/") || file.startsWith("tests/browser/");
  const isBrowser = (test) => test.includes("wasm_bindgen_test");
  if (tests.some((test) => isBrowser(test) !== isWasm)) problems.push(`${file}: a test that its package never runs`);
  counts[isWasm ? "browser" : file.startsWith("crates/") ? "native" : "end-to-end"] += tests.length;
}
for (const problem of problems) console.error(problem);
console.log(
  `${files.length} files; tests: ${counts.native} native, ${counts.browser} in the browser, ${counts["end-to-end"]} end to end`,
);
process.exit(problems.length > 0 ? 1 : 0);
