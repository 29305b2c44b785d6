// Says which Rust files no crate compiles, and which tests nothing runs, and fails if there are any:
// `node unreached.mjs`. A file without a `mod` and a `#[test]` in a package that is only ever built
// for wasm32 look like tests, and are none.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"], {
  encoding: "utf8",
})
  .split("\n")
  // A program that a test writes around a snippet is a package of its own.
  .filter((file) => file && existsSync(file) && !file.startsWith("crates/engine/src/snippet/copy-as-rust/"));

const isRoot = (file) =>
  /^(crates\/[^/]+\/)?build\.rs$/.test(file) ||
  file === "tests/browser/main.rs" ||
  /^(crates\/[^/]+\/|tests\/end-to-end\/|)src\/(lib|main)\.rs$/.test(file) ||
  /^(crates\/[^/]+|tests\/end-to-end)\/(src\/bin|tests|examples|benches)\/([^/]+\.rs|[^/]+\/main\.rs)$/.test(file);

const reached = new Set();
function reach(file) {
  if (reached.has(file)) return;
  reached.add(file);
  const text = readFileSync(file, "utf8");
  const name = basename(file, ".rs");
  // Where its modules lie: beside a root or a mod.rs, else in a folder of its name.
  const folder = isRoot(file) || name === "mod" ? dirname(file) : join(dirname(file), name);
  const modules = /^[ \t]*(?:#\[path = "([^"]+)"\]\s*)?(?:pub(?:\([^)]*\))? )?mod (\w+);/gm;
  for (const [, path, module] of text.matchAll(modules)) {
    const found = (path ? [join(dirname(file), path)] : [join(folder, `${module}.rs`), join(folder, module, "mod.rs")])
      .find((candidate) => existsSync(candidate));
    if (found) reach(found);
  }
}
files.filter(isRoot).forEach(reach);

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
