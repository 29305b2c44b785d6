// Shared by the steps of a build: our tools, cargo's target folder, and the failure of a step.

import { execFileSync } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

// trunk's own tools do not read wasm-bindgen's script, so its wasm-opt must keep every export. Without our tools (`trunk build`
// called directly) this is null, and wasm, scripts and style sheets stay unchanged.
const tools = new URL("../.tools/npm/node_modules/", import.meta.url);
export const esbuild = await import(new URL("esbuild/lib/main.js", tools)).catch(() => null);

export const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../target", import.meta.url));

// Runs one of our tools, and returns its output.
export function run(tool, ...more) {
  const own = ["../.tools/bin", "../.tools/npm/node_modules/.bin"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const PATH = [...own, process.env.PATH].join(delimiter);
  return execFileSync(tool, more, { env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
}

export function fail(message) {
  throw new Error(message);
}
