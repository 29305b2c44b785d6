// Lists Rust files that no crate compiles and tests that no runner runs, and fails if there are any. Reads the
// dependency files (`*.d`) of the compiler, so all targets must be checked before.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

const target = process.env.CARGO_TARGET_DIR ?? "target";
const compiled = new Set();
for (const folder of ["debug/deps", "debug/examples", "wasm32-unknown-unknown/debug/deps"].map((it) => join(target, it))) {
  if (!existsSync(folder)) continue;
  for (const name of readdirSync(folder).filter((it) => it.endsWith(".d"))) {
    // Each file that the compiler has read has a line of its own: `src/lib.rs:`.
    for (const [, file] of readFileSync(join(folder, name), "utf8").matchAll(/^(.+\.rs):$/gm)) compiled.add(relative(".", file));
  }
}
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"], { encoding: "utf8" })
  .split("\n")
  // A test compiles these files as a separate package.
  .filter((file) => file && existsSync(file) && !file.startsWith("crates/studio/src/share/snippet/copy-as-rust/"));

const problems = files.filter((file) => !compiled.has(file) && !file.endsWith("build.rs")).map((file) => `${file}: no crate compiles it`);
for (const file of files) {
  const tests = readFileSync(file, "utf8").match(/^\s*#\[(?:tokio::|wasm_bindgen_)?test(?:\(.*\))?\]/gm) ?? [];
  const isWasm = file.startsWith("src/") || file.startsWith("tests/browser/");
  if (tests.some((test) => test.includes("wasm_bindgen_test") !== isWasm)) problems.push(`${file}: has a test that its package never runs`);
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
