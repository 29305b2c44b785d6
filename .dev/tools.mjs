// What the steps of a build share: our tools, the folder that cargo builds into, and how a step ends a build.

import { execFileSync } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

// trunk's own tools do not read wasm-bindgen's script, and wasm-opt alone must keep every export. Without
// our tools (`trunk build` by hand) this is null, and wasm, scripts and style sheets stay as they are.
const tools = new URL("../.tools/npm/node_modules/", import.meta.url);
export const esbuild = await import(new URL("esbuild/lib/main.js", tools)).catch(() => null);

export const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../target", import.meta.url));

// One of our tools; what it prints.
export function run(tool, ...more) {
  const own = ["../.tools/bin", "../.tools/npm/node_modules/.bin"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const PATH = [...own, process.env.PATH].join(delimiter);
  return execFileSync(tool, more, { env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
}

export function fail(message) {
  throw new Error(message);
}
