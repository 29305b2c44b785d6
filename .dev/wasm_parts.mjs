// Splits the wasm of a release into the parts of the program (src/boot/program.rs), joins the script that loads the later
// ones with wasm-bindgen's, takes out what no one calls, and optimises for size.
//
// `joined` and `withoutUnusedClasses` (and short_names.mjs) change generated scripts by patterns: those of
// wasm-bindgen and wasm_split_helpers in Cargo.lock, and of wasm-split-cli (`wasm_split_version` in dev, the
// same as the helpers'). Where `joined` fails after an upgrade, target/split has what it read: correct its
// pattern, or build without `--features split` (`release` in dev): one wasm, no `joined`. `withoutUnusedClasses`
// takes nothing away when it finds nothing; it may be left out.

import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { withShortNames } from "./short_names.mjs";
import { fail, run, target } from "./tools.mjs";

// The parts of the program that come later, in this order. What styles one says so in index.html: `data-…`.
export const PARTS = ["deferred", "pages"];

// What a wasm imports that is to be split and is not yet.
const PLACEHOLDER = "__wasm_split_placeholder__";

export function wasmOf(script) {
  return script.replace(/\.js$/, "_bg.wasm");
}

export function partOf(wasm, part) {
  return wasm.replace(/_bg\.wasm$/, `_${part}.wasm`);
}

// Splits the wasm if it is built for that, keeps the exports that are used, and optimises for size.
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
    // Inlining what is called once makes less code, but code that compresses worse.
    const inlining = ["--one-caller-inline-max-function-size=20"];
    // Code that is alike then stands together.
    const order = ["--reorder-functions", "--reorder-locals"];
    for (const file of parts) {
      // The second round finds what the first has made.
      // The far end of the stack has the lowest addresses: none of them is ever computed.
      const passes = ["--low-memory-unused", "-Oz", "-Oz", ...inlining, "--strip-producers", "--strip-target-features"];
      // The other parts have the memory and the table alone to import.
      if (file === wasm) passes.push("--minify-imports-and-exports-and-modules");
      // The first part is too small to gain by it.
      else passes.push(...order);
      const said = run("wasm-opt", ...options, file, "-o", file, ...passes);
      if (file === wasm) writeFileSync(path, withShortNames(script, JSON.parse(said)));
      // Read anew in that order, it gets smaller once more.
      else run("wasm-opt", ...options, file, "-o", file, "--low-memory-unused", "-Oz", ...inlining, ...order);
      writeFileSync(file, withoutLibraryPaths(readFileSync(file)));
    }
  }
}

// A panic says in which file of which library it happened: of those there are about a hundred, and a person is told
// nothing by them. Blank, and as long as before, they pack to nothing. Our own files are named as ever.
function withoutLibraryPaths(wasm) {
  const paths = /(?:\/rustc\/[0-9a-f]{40}\/library|crates\/[\w.-]+-[0-9a-f]{16})\/[\w./-]+?\.rs/g;
  return Buffer.from(wasm.toString("latin1").replace(paths, (path) => " ".repeat(path.length)), "latin1");
}

// wasm-bindgen exports a class for every exported type of every crate below us, for other scripts to
// use. There are none: the page's only script is this one.
function withoutUnusedClasses(script) {
  return script
    .replace(/^export class \w+ \{\n[\s\S]*?^\}\n/gm, "")
    .replace(/^if \(Symbol\.dispose\) .*\n/gm, "")
    .replace(/^const \w+Finalization = [\s\S]*?;\n/gm, "");
}

// Does once more what trunk did, with the wasm split before wasm-bindgen sees it, and joins the script that
// loads the deferred part with wasm-bindgen's.
function split(folder, script, options) {
  const name = basename(script, ".js");
  const work = join(target, "split");
  rmSync(work, { recursive: true, force: true });
  run("wasm-split-cli", join(target, "wasm32-unknown-unknown/web/atelier.wasm"), work, "--out-name", name);
  // What the parts share of each other is among the linker's exports.
  run("wasm-bindgen", join(work, `${name}.wasm`), "--target=web", "--no-typescript", "--keep-lld-exports",
    `--out-dir=${folder}`, `--out-name=${name}`);
  const wasm = wasmOf(script);
  // What both parts need is with the one that is always there first: a request less.
  const shared = readdirSync(work).filter((name) => /^chunk_\d+\.wasm$/.test(name));
  if (shared.length !== 1) fail(`${shared.length} files with what the parts share: one is expected`);
  const [deferred, chunk] = [join(work, "split_deferred.wasm"), join(work, shared[0])];
  writeFileSync(deferred, withImportsExported(readFileSync(deferred)));
  writeFileSync(chunk, withImportsFrom("the_deferred", readFileSync(chunk)));
  // Keeps names: wasm-opt sorts functions with equally many calls by name, so that similar ones stay together.
  run("wasm-merge", ...options, "-g", deferred, "the_deferred", chunk, "shared", "-o", partOf(wasm, "deferred"));
  copyFileSync(join(work, "split_pages.wasm"), partOf(wasm, "pages"));
  writeFileSync(script, joined(readFileSync(script, "utf8"), readFileSync(join(work, "__wasm_split.js"), "utf8"), wasm));
}

// What a wasm imports that exports nothing, it exports as well: so that one that is merged with it has the same
// memory and the same table.
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
  // So that each number is one byte of LEB128.
  if ([content.length, ...content].some((byte) => byte > 127)) fail("a part imports more than was expected");
  for (let at = 8; at < bytes.length; ) {
    let [size, shift, end] = [0, 0, at + 1];
    do (size += (bytes[end] & 127) * 2 ** shift), (shift += 7); while (bytes[end++] & 128);
    if (bytes[at] === EXPORTS && bytes[end] === 0) {
      const exports = Buffer.from([EXPORTS, content.length, ...content]);
      return Buffer.concat([bytes.subarray(0, at), exports, bytes.subarray(end + size)]);
    }
    at = end + size;
  }
  return fail("a part has no exports that are none");
}

// What it imports, by the name of another module, which is as long as that of theirs.
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
  // Of each function by itself.
  script = replace(script, /^import \* as import\d+ from "\.\/__wasm_split\.js"\n/gm, "");
  script = replace(script, /"\.\/__wasm_split\.js": import1/, `"./__wasm_split.js": { ${loads} }`);
  script = script.replace(/^.*"\.\/__wasm_split\.js": import\d+.*\n/gm, "");
  loader = replace(loader, /^import .*\n/m, "");
  // Merged: see `split`.
  loader = replace(loader, /^\/\*.*\*\/\nconst (__chunk_\d+) = makeLoad\([^]*?^, \[\]\);\n/m, "");
  loader = replace(loader, /\[__chunk_\d+\]/g, "[]");
  loader = replace(loader, /^export const (?=__wasm_split_load_)/gm, "const ");
  loader = replace(loader, /split_(\w+)\.wasm/g, (_, part) => basename(partOf(wasm, part)));
  // Asked for early: see `preload` in styles.mjs. Where that has failed, it is asked for anew.
  loader = replace(loader, /fetch\((new URL\([^)]*\))\)/g, "fetchPart($1)");
  // What came before may have been cut short on its way, and the browser keeps it: past that, the second time.
  loader += `\nconst answers = globalThis.partAnswers ?? {};
async function fetchPart({ href, pathname }) {
  const early = answers[pathname];
  const cache = pathname in answers && !early ? "reload" : "default";
  answers[pathname] = undefined;
  const answer = await early?.catch(() => {});
  return answer?.ok ? answer : fetch(href, { cache });
}\n`;
  // As wasm-bindgen does: it goes another way where a host says that a wasm is something else.
  loader = replace(loader, /WebAssembly\.instantiateStreaming\(src, imports\)/g, "__wbg_load(await src, imports)");
  // The tool has them in another order each time.
  loader = loader.replace(/\{ ((?:\w+, ?)+) ?\}/g, (_, names) => `{ ${names.match(/\w+/g).sort().join(", ")} }`);
  return `${script}\n${loader}`;
}

function compiled(wasm) {
  return new WebAssembly.Module(readFileSync(wasm));
}

function imports(wasm) {
  return WebAssembly.Module.imports(compiled(wasm));
}

// Drops what none of these exports reaches.
function keepExports(wasm, names, options) {
  const graph = `${wasm}.graph.json`;
  writeFileSync(graph, JSON.stringify(names.map((name) => ({ name, export: name, root: true }))));
  run("wasm-metadce", ...options, wasm, "-o", wasm, "-g", `--graph-file=${graph}`);
  unlinkSync(graph);
}
