// Finishes a release build that trunk has just made: the wasm in two parts (src/program.rs), without what
// no one calls; scripts and style sheets joined and made small; every file named by what is in it
// (names.mjs); the Content-Security-Policy (with the hashes of the inline scripts, which are only known
// now), 404.html for hosts that serve it for unknown paths (so that the page's own routes work), and .br and
// .gz beside every file that compresses.
//
// trunk calls it as a hook and says in the environment where the files are. How they are once the wasm is
// done, which takes longest, is kept in target/unfinished: `node .dev/finish.mjs FOLDER` goes on with such
// a folder, so that tests can make releases that differ.
//
// `joined` and `withoutUnusedClasses` (and short_names.mjs) change generated scripts by patterns: those of
// wasm-bindgen and wasm_split_helpers in Cargo.lock, and of wasm-split-cli (`wasm_split_version` in dev, the
// same as the helpers'). Where `joined` fails after an upgrade, target/split has what it read: correct its
// pattern, or build without `--features split` (`release` in dev): one wasm, no `joined`. `withoutUnusedClasses`
// takes nothing away when it finds nothing; it may be left out.

import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, delimiter, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { LASTING, nameByContent } from "./names.mjs";
import { withShortNames } from "./short_names.mjs";

// What styles only the deferred part of the program: its links in index.html have this.
const DEFERRED_STYLE = /\sdata-deferred\b/;

// The part of the typeface that every page needs: it comes within the deferred style sheet, a request less.
const TYPEFACE = "bricolage-grotesque-latin.woff2";

// What a wasm imports that is to be split and is not yet.
const PLACEHOLDER = "__wasm_split_placeholder__";

// trunk's own tools do not read wasm-bindgen's script, and wasm-opt alone must keep every export. Without
// our tools (`trunk build` by hand) wasm, scripts and style sheets stay as they are.
const tools = new URL("../.tools/npm/node_modules/", import.meta.url);
const esbuild = await import(new URL("esbuild/lib/main.js", tools)).catch(() => null);

const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../target", import.meta.url));
const folder = process.argv[2] ?? process.env.TRUNK_STAGING_DIR;
if (!process.argv[2]) {
  if (process.env.TRUNK_PROFILE !== "release" || !folder) process.exit(0);
  if (esbuild) shrink(folder);
  keep(folder);
}

const index = join(folder, "index.html");
if (esbuild) {
  const wasm = minifyScripts(folder);
  const deferred = deferredOf(wasm);
  const html = withEarlyWasm(withIcon(readFileSync(index, "utf8")));
  writeFileSync(index, withOneScript(withStyles(html, existsSync(deferred) ? basename(deferred) : null)));
}
nameByContent(folder);
// What explains the source is not sent.
const html = withPolicy(readFileSync(index, "utf8").replace(/\s*<!--[^]*?-->/g, ""));
writeFileSync(index, html);
writeFileSync(join(folder, "404.html"), html);
writeFileSync(join(folder, "worker.js"), worker(html));
// `./dev serve` has no use for compressed files and would wait for them.
if (process.env.ATELIER_COMPRESS !== "no") compress(folder);

function keep(folder) {
  const unfinished = join(target, "unfinished");
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(folder, unfinished, { recursive: true });
}

function withPolicy(html) {
  const scripts = /<script\b([^>]*)>([\s\S]*?)<\/script>/gi;
  const hashes = [...html.matchAll(scripts)]
    .filter(([, attributes]) => !/\ssrc\s*=/i.test(attributes))
    .map(([, , text]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  const policy = [
    "default-src 'none'",
    ["script-src 'self' 'wasm-unsafe-eval'", ...hashes].join(" "),
    "style-src 'self'",
    // `TYPEFACE` is in a style sheet of ours.
    "font-src 'self' data:",
    "manifest-src 'self'",
    "worker-src 'self'",
    // The service's address is a setting, and its outputs may lie anywhere.
    "connect-src 'self' http: https: data: blob:",
    "img-src 'self' http: https: data: blob:",
    "media-src 'self' http: https: data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  // Before everything that it is to govern. The charset has to stay within the first 1024 bytes.
  const head = /<head\b[^>]*>/i;
  if (!head.test(html)) fail("index.html has no <head> to put the policy into");
  const charset = /<meta\s+charset=[^>]*>/i.exec(html)?.[0] ?? "";
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  // The release's own name, by which an open page sees that there is a newer one.
  const release = `<meta name="release" content="${createHash("sha256").update(html).digest("hex").slice(0, 16)}">`;
  // A function, because `$` has a meaning in a replacement text.
  return html.replace(charset, "").replace(head, (tag) => tag + charset + meta + release);
}

// The service worker of this release: it keeps what the page is made of.
function worker(html) {
  const release = /<meta name="release" content="(\w+)">/.exec(html)[1];
  const files = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && [".js", ".css", ".wasm", ".woff2"].includes(extname(entry.name)))
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/"))
    .filter((path) => !LASTING.has(path))
    .map((path) => `/${path}`)
    .sort();
  const source = readFileSync(new URL("../public/worker.js", import.meta.url), "utf8")
    .replace("__RELEASE__", release)
    .replace("__FILES__", JSON.stringify(files));
  return esbuild ? esbuild.transformSync(source, { loader: "js", minify: true }).code : source;
}

// Scripts without what only their readers need. Gives the wasm that one of them is for.
function minifyScripts(folder) {
  let ours;
  for (const name of readdirSync(folder).filter((name) => extname(name) === ".js")) {
    const path = join(folder, name);
    const wasm = wasmOf(path);
    let script = readFileSync(path, "utf8");
    if (existsSync(wasm)) {
      ours = wasm;
      // A default that nobody uses; but so the script's name follows from the wasm's.
      script = script.replace(/\w+_bg\.wasm/, basename(wasm));
    }
    writeFileSync(path, esbuild.transformSync(script, { loader: "js", minify: true }).code);
  }
  return ours ?? fail("there is no script with its wasm");
}

// The icon in the page itself: it is smaller than what asking for it takes.
function withIcon(html) {
  return html.replace(/(<link\b[^>]*\brel="?icon"?[^>]*\bhref=")([^"]+)"/i, (_, before, href) => {
    const path = join(folder, basename(href));
    const drawing = readFileSync(path, "utf8").trim();
    unlinkSync(path);
    return `${before}data:image/svg+xml,${encodeURIComponent(drawing)}"`;
  });
}

// The wasm is asked for by a script, and trunk's own takes that answer: with trunk's
// `<link rel="preload">` WebKit asks for it twice.
function withEarlyWasm(html) {
  const link = /<link\b[^>]*\brel="?preload"?[^>]*\bhref="?([^"\s>]+\.wasm)[^>]*>/i;
  const taken = /module_or_path: '[^']*'/;
  const wasm = link.exec(html)?.[1];
  if (!wasm || !taken.test(html)) fail("trunk loads the wasm in another way than before");
  // Who waits for the answer hears that there is none.
  const ask = `<script>var wasmAnswer = fetch("${wasm}"); wasmAnswer.catch(function () {});</script>`;
  return html.replace(link, "").replace(taken, "module_or_path: atelierFirstCards().then(() => wasmAnswer)").replace("</title>", (tag) => tag + ask);
}

// Style sheets joined into one, or, with a deferred part, into two, of which the second comes with that.
function withStyles(html, deferredWasm) {
  const links = [...html.matchAll(/<link\b[^>]*\brel="?stylesheet"?[^>]*>/gi)].map(([tag]) => {
    const href = /\bhref="?([^"\s>]+)/i.exec(tag)[1];
    return { tag, name: basename(href), root: href.slice(0, -basename(href).length) };
  });
  if (links.length === 0) return html;
  const { root } = links[0];
  const isDeferred = ({ tag }) => deferredWasm !== null && DEFERRED_STYLE.test(tag);
  const joinInto = (name, parts) => {
    const text = parts.map((part) => readFileSync(join(folder, part.name), "utf8")).join("\n");
    writeFileSync(join(folder, name), esbuild.transformSync(text, { loader: "css", minify: true }).code);
  };
  joinInto("first.css", links.filter((link) => !isDeferred(link)));
  let tags = `<link rel="stylesheet" href="${root}first.css">`;
  if (deferredWasm !== null) {
    joinInto("deferred.css", links.filter(isDeferred));
    withTypeface(join(folder, "deferred.css"));
    tags += `<meta name="deferred-style" content="${root}deferred.css">`;
    tags += `<script>${preload(root + deferredWasm, `${root}deferred.css`)}</script>`;
  }
  for (const { tag, name } of links) {
    html = html.replace(tag, () => { const own = tags; tags = ""; return own; });
    unlinkSync(join(folder, name));
  }
  return html;
}

function withTypeface(style) {
  const path = join(folder, TYPEFACE);
  const text = readFileSync(style, "utf8");
  const address = new RegExp(`url\\("?${TYPEFACE.replaceAll(".", "\\.")}"?\\)`);
  if (!address.test(text)) fail(`no ${TYPEFACE} in the deferred style sheet`);
  const data = `url(data:font/woff2;base64,${readFileSync(path, "base64")})`;
  writeFileSync(style, text.replace(address, data));
  unlinkSync(path);
}

// The scripts in the page as one: each takes a hash in the policy, which does not compress. They are the
// same where they all stand before what they watch over.
function withOneScript(html) {
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)];
  const { code } = esbuild.transformSync(scripts.map(([, text]) => text).join("\n"), { loader: "js", minify: true });
  const one = `<script>${code.trim()}</script>`;
  return scripts.reduce((html, [tag], at) => html.replace(tag, () => (at === 0 ? one : "")), html).replace(/>\n\s*</g, "><");
}

// A page that begins elsewhere than at the list of models needs the deferred part at once.
function preload(wasm, style) {
  return `if (location.pathname != "/") {
  var deferredAnswer = fetch("${wasm}"), link = document.createElement("link");
  deferredAnswer.catch(function () {});
  link.rel = "preload"; link.as = "style"; link.href = "${style}";
  document.head.append(link);
}`;
}

// wasm-bindgen exports a class for every exported type of every crate below us, for other scripts to
// use. There are none: the page's only script is this one.
function withoutUnusedClasses(script) {
  return script
    .replace(/^export class \w+ \{\n[\s\S]*?^\}\n/gm, "")
    .replace(/^if \(Symbol\.dispose\) .*\n/gm, "")
    .replace(/^const \w+Finalization = [\s\S]*?;\n/gm, "");
}

function wasmOf(script) {
  return script.replace(/\.js$/, "_bg.wasm");
}

function deferredOf(wasm) {
  return wasm.replace(/_bg\.wasm$/, "_deferred.wasm");
}

// Splits the wasm if it is built for that, keeps the exports that are used, and optimises for size.
function shrink(folder) {
  const features = ["bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "reference-types", "multivalue"];
  const options = features.map((feature) => `--enable-${feature}`);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const wasm = wasmOf(path);
    if (extname(name) !== ".js" || !existsSync(wasm)) continue;
    const parts = [wasm];
    if (imports(wasm).some(({ module }) => module === PLACEHOLDER)) {
      split(path);
      parts.push(deferredOf(wasm));
    }
    const script = withoutUnusedClasses(readFileSync(path, "utf8"));
    const used = new Set(script.match(/[A-Za-z_$][\w$]*/g));
    const exports = WebAssembly.Module.exports(compiled(wasm)).map(({ name }) => name);
    keepExports(wasm, exports.filter((name) => used.has(name)), options);
    for (const file of parts) {
      // Inlining what is called once makes less code, but code that compresses worse.
      // The second round finds what the first has made.
      const passes = ["-Oz", "-Oz", "--one-caller-inline-max-function-size=20", "--strip-producers", "--strip-target-features"];
      // The other part has the memory and the table alone to import.
      if (file === wasm) passes.push("--minify-imports-and-exports-and-modules");
      // Code that is alike then stands together; the first part is too small to gain by it.
      else passes.push("--reorder-functions", "--reorder-locals");
      const said = run("wasm-opt", ...options, file, "-o", file, ...passes);
      if (file === wasm) writeFileSync(path, withShortNames(script, JSON.parse(said)));
    }
  }
}

// Does once more what trunk did, with the wasm split before wasm-bindgen sees it, and joins the script that
// loads the deferred part with wasm-bindgen's.
function split(script) {
  const name = basename(script, ".js");
  const work = join(target, "split");
  rmSync(work, { recursive: true, force: true });
  run("wasm-split-cli", join(target, "wasm32-unknown-unknown/web/atelier.wasm"), work, "--out-name", name);
  // What the parts share of each other is among the linker's exports.
  run("wasm-bindgen", join(work, `${name}.wasm`), "--target=web", "--no-typescript", "--keep-lld-exports",
    `--out-dir=${folder}`, `--out-name=${name}`);
  copyFileSync(join(work, "split_deferred.wasm"), deferredOf(wasmOf(script)));
  writeFileSync(script, joined(readFileSync(script, "utf8"), readFileSync(join(work, "__wasm_split.js"), "utf8"),
    basename(deferredOf(wasmOf(script)))));
}

function joined(script, loader, deferred) {
  const replace = (text, from, to) => (from.test(text) ? text.replace(from, to) : fail(`no ${from} in a generated script`));
  script = replace(script, /^import \* as import1 from "\.\/__wasm_split\.js"\n/m, "");
  script = replace(script, /"\.\/__wasm_split\.js": import1/, '"./__wasm_split.js": { __wasm_split_load_deferred }');
  loader = replace(loader, /^import .*\n/m, "");
  loader = replace(loader, /^export const __wasm_split_load_deferred/m, "const __wasm_split_load_deferred");
  loader = replace(loader, /split_deferred\.wasm/, deferred);
  // Asked for early: see `preload`. Where that has failed, it is asked for anew.
  loader = replace(loader, /fetch\((new URL\([^)]*\))\)/, "fetchDeferred($1)");
  loader += `\nasync function fetchDeferred(address) {
  const early = globalThis.deferredAnswer;
  globalThis.deferredAnswer = undefined;
  const answer = await early?.catch(() => undefined);
  return answer?.ok ? answer : fetch(address);
}\n`;
  // As wasm-bindgen does: it goes another way where a host says that a wasm is something else.
  loader = replace(loader, /WebAssembly\.instantiateStreaming\(src, imports\)/, "__wbg_load(await src, imports)");
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

// One of our tools; what it prints.
function run(tool, ...more) {
  const own = ["../.tools/bin", "../.tools/npm/node_modules/.bin"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const PATH = [...own, process.env.PATH].join(delimiter);
  return execFileSync(tool, more, { env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
}

function compress(folder) {
  const text = new Set([".html", ".js", ".css", ".wasm", ".svg", ".json", ".webmanifest", ".txt", ".ico", ".xml"]);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !text.has(extname(entry.name))) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const bytes = readFileSync(path);
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

function fail(message) {
  throw new Error(message);
}
