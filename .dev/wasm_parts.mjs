// Splits the wasm of a release into the parts of the program (src/boot/program.rs), joins the script that loads the later
// parts with wasm-bindgen's script, removes unused code, and optimises for size.
//
// `joined` and `withoutUnusedClasses` (and short_names.mjs) change generated scripts by patterns. The scripts are those of
// wasm-bindgen and wasm_split_helpers (versions in Cargo.lock) and of wasm-split-cli (`wasm_split_version` in dev, the same as
// the helpers'). If `joined` fails after an upgrade, correct its pattern; its input is in target/split. Or build without
// `--features split` (`release` in dev): then there is one wasm, and `joined` is not called. `withoutUnusedClasses` changes
// nothing if it finds nothing, and may be removed.

import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { withShortNames } from "./short_names.mjs";
import { fail, run, target } from "./tools.mjs";

// The parts of the program that are loaded later, in this order: each is loaded after those before it. In index.html, `data-…` marks the style sheets of a part.
export const PARTS = ["deferred", "pages", "more"];

// A module that a wasm imports if it must be split.
const PLACEHOLDER = "__wasm_split_placeholder__";

export function wasmOf(script) {
  return script.replace(/\.js$/, "_bg.wasm");
}

export function partOf(wasm, part) {
  return wasm.replace(/_bg\.wasm$/, `_${part}.wasm`);
}

// Splits the wasm if it was built for that, removes unused exports, and optimises for size.
export function shrink(folder) {
  const features = ["bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "reference-types", "multivalue"];
  const options = features.map((feature) => `--enable-${feature}`);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const wasm = wasmOf(path);
    if (extname(name) !== ".js" || !existsSync(wasm)) continue;
    const parts = [wasm];
    if (imports(wasm).some(({ module }) => module === PLACEHOLDER)) {
      split(folder, path, options);
      parts.push(...PARTS.map((part) => partOf(wasm, part)));
    }
    const script = withoutUnusedClasses(readFileSync(path, "utf8"));
    const used = new Set(script.match(/[A-Za-z_$][\w$]*/g));
    const exports = WebAssembly.Module.exports(compiled(wasm)).map(({ name }) => name);
    keepExports(wasm, exports.filter((name) => used.has(name)), options);
    // Inlining functions that are called once gives less code, but it compresses worse.
    const inlining = ["--one-caller-inline-max-function-size=20"];
    // This puts similar code together.
    const order = ["--reorder-functions", "--reorder-locals"];
    for (const file of parts) {
      // The second -Oz finds further optimisations after the first.
      // --low-memory-unused is valid because the lowest addresses are the far end of the stack, and never computed.
      const passes = ["--low-memory-unused", "-Oz", "-Oz", ...inlining, "--strip-producers", "--strip-target-features"];
      // The other parts import only the memory and the table.
      if (file === wasm) passes.push("--minify-imports-and-exports-and-modules");
      // The first part is too small to benefit.
      else passes.push(...order);
      const output = run("wasm-opt", ...options, file, "-o", file, ...passes);
      if (file === wasm) writeFileSync(path, withShortNames(script, JSON.parse(output)));
      // Another run on the reordered functions makes the file smaller.
      else run("wasm-opt", ...options, file, "-o", file, "--low-memory-unused", "-Oz", ...inlining, ...order);
      writeFileSync(file, withoutLibraryPaths(readFileSync(file)));
    }
  }
}

// Replaces the paths of about a hundred library files in panic messages with spaces. They do not help the user, and spaces
// compress to almost nothing. The length must not change. The paths of our own files stay.
function withoutLibraryPaths(wasm) {
  const paths = /(?:\/rustc\/[0-9a-f]{40}\/library|crates\/[\w.-]+-[0-9a-f]{16})\/[\w./-]+?\.rs/g;
  return Buffer.from(wasm.toString("latin1").replace(paths, (path) => " ".repeat(path.length)), "latin1");
}

// Removes the classes that wasm-bindgen exports for the types of all dependencies. They are for other scripts, and the page has
// none.
function withoutUnusedClasses(script) {
  return script
    .replace(/^export class \w+ \{\n[\s\S]*?^\}\n/gm, "")
    .replace(/^if \(Symbol\.dispose\) .*\n/gm, "")
    .replace(/^const \w+Finalization = [\s\S]*?;\n/gm, "");
}

// Repeats trunk's steps, but splits the wasm before wasm-bindgen reads it, and joins the script that loads the deferred part with
// wasm-bindgen's script.
function split(folder, script, options) {
  const name = basename(script, ".js");
  const work = join(target, "split");
  rmSync(work, { recursive: true, force: true });
  run("wasm-split-cli", join(target, "wasm32-unknown-unknown/web/atelier.wasm"), work, "--out-name", name);
  // The parts use some of the linker's exports of each other.
  run("wasm-bindgen", join(work, `${name}.wasm`), "--target=web", "--no-typescript", "--keep-lld-exports",
    `--out-dir=${folder}`, `--out-name=${name}`);
  const wasm = wasmOf(script);
  const loader = readFileSync(join(work, "__wasm_split.js"), "utf8");
  const chunks = chunksOf(loader);
  for (const part of PARTS) merge(work, part, chunks.get(part), partOf(wasm, part), options);
  writeFileSync(script, joined(readFileSync(script, "utf8"), loader, wasm));
}

// Returns the names of the chunks to merge into each part. A chunk is code that several parts need, and saves a request if it
// is merged into the first of them, which is always loaded before the others.
function chunksOf(loader) {
  const chunks = new Map(PARTS.map((part) => [part, []]));
  for (const [, users, chunk] of loader.matchAll(/^\/\* (.*) \*\/\nconst __(chunk_\d+) = /gm)) {
    const first = PARTS.find((part) => users.split(", ").includes(part));
    if (!first) fail(`${chunk} is needed by ${users}: no part of the program`);
    chunks.get(first).push(chunk);
  }
  return chunks;
}

// Merges chunks into a part. The chunks use the memory and the table of the part.
function merge(work, part, chunks, output, options) {
  const path = join(work, `split_${part}.wasm`);
  if (chunks.length === 0) return copyFileSync(path, output);
  writeFileSync(path, withImportsExported(readFileSync(path)));
  const files = chunks.flatMap((chunk) => {
    const path = join(work, `${chunk}.wasm`);
    writeFileSync(path, withImportsFrom("the_receiver", readFileSync(path)));
    return [path, chunk];
  });
  // -g keeps names: wasm-opt sorts functions with equally many calls by name, so that similar ones stay together.
  run("wasm-merge", ...options, "-g", path, "the_receiver", ...files, "-o", output);
}

// Exports all imports of a wasm that has no exports, so that a wasm that is merged with it uses the same memory and the same
// table.
function withImportsExported(bytes) {
  const KINDS = ["function", "table", "memory", "global"];
  const EXPORTS = 7;
  const numbers = new Map();
  const entries = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map(({ name, kind }) => {
    const number = numbers.get(kind) ?? 0;
    numbers.set(kind, number + 1);
    return [name.length, ...Buffer.from(name), KINDS.indexOf(kind), number];
  });
  const content = [entries.length, ...entries.flat()];
  // Each number must be one byte of LEB128.
  if ([content.length, ...content].some((byte) => byte > 127)) fail("a part has more imports than expected");
  for (let at = 8; at < bytes.length; ) {
    let [size, shift, end] = [0, 0, at + 1];
    do (size += (bytes[end] & 127) * 2 ** shift), (shift += 7); while (bytes[end++] & 128);
    if (bytes[at] === EXPORTS && bytes[end] === 0) {
      const exports = Buffer.from([EXPORTS, content.length, ...content]);
      return Buffer.concat([bytes.subarray(0, at), exports, bytes.subarray(end + size)]);
    }
    at = end + size;
  }
  return fail("a part has no empty section of exports");
}

// Replaces the module name of all imports of a wasm with another name of the same length.
function withImportsFrom(module, bytes) {
  const changed = Buffer.from(bytes);
  let at = 0;
  for (const { module: before, name } of WebAssembly.Module.imports(new WebAssembly.Module(bytes))) {
    if (before.length !== module.length) fail(`${module} is not as long as ${before}`);
    at = changed.indexOf(before, at);
    at += changed.write(module, at);
    at = changed.indexOf(name, at) + name.length;
  }
  return changed;
}

function joined(script, loader, wasm) {
  const replace = (text, from, to) => (from.test(text) ? text.replace(from, to) : fail(`no ${from} in a generated script`));
  const loads = PARTS.map((part) => `__wasm_split_load_${part}`).join(", ");
  // The script has an import for each function.
  script = replace(script, /^import \* as import\d+ from "\.\/__wasm_split\.js"\n/gm, "");
  script = replace(script, /"\.\/__wasm_split\.js": import1/, `"./__wasm_split.js": { ${loads} }`);
  script = script.replace(/^.*"\.\/__wasm_split\.js": import\d+.*\n/gm, "");
  loader = replace(loader, /^import .*\n/m, "");
  // The chunks were merged into parts: see `chunksOf`.
  loader = replace(loader, /^\/\*.*\*\/\nconst (__chunk_\d+) = makeLoad\([^]*?^, \[\]\);\n/gm, "");
  loader = replace(loader, /\[__chunk_\d+(?:, __chunk_\d+)*\]/g, "[]");
  loader = replace(loader, /^export const (?=__wasm_split_load_)/gm, "const ");
  loader = replace(loader, /split_(\w+)\.wasm/g, (_, part) => basename(partOf(wasm, part)));
  // Uses the early request of `preload` in styles.mjs. If that has failed, requests the part again.
  loader = replace(loader, /fetch\((new URL\([^)]*\))\)/g, "fetchPart($1)");
  // The response may have been truncated, and the browser may have cached it, so the second request bypasses the cache.
  loader += `\nconst answers = globalThis.partAnswers ?? {};
async function fetchPart({ href, pathname }) {
  const early = answers[pathname];
  const cache = pathname in answers && !early ? "reload" : "default";
  answers[pathname] = undefined;
  const answer = await early?.catch(() => {});
  return answer?.ok ? answer : fetch(href, { cache });
}\n`;
  // wasm-bindgen's function also handles hosts that send wasm with a wrong content type.
  loader = replace(loader, /WebAssembly\.instantiateStreaming\(src, imports\)/g, "__wbg_load(await src, imports)");
  // The tool writes these names in a random order.
  loader = loader.replace(/\{ ((?:\w+, ?)+) ?\}/g, (_, names) => `{ ${names.match(/\w+/g).sort().join(", ")} }`);
  return `${script}\n${loader}`;
}

function compiled(wasm) {
  return new WebAssembly.Module(readFileSync(wasm));
}

function imports(wasm) {
  return WebAssembly.Module.imports(compiled(wasm));
}

// Removes all code that is not reachable from these exports.
function keepExports(wasm, names, options) {
  const graph = `${wasm}.graph.json`;
  writeFileSync(graph, JSON.stringify(names.map((name) => ({ name, export: name, root: true }))));
  run("wasm-metadce", ...options, wasm, "-o", wasm, "-g", `--graph-file=${graph}`);
  unlinkSync(graph);
}
