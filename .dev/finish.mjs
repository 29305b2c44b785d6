// Finishes a release build that trunk has just made: the wasm without what no one calls, and in two parts
// (split.mjs); scripts and style sheets made small; every file named by what is in it (names.mjs); the
// Content-Security-Policy (with the hashes of the inline scripts, which are only known now), 404.html for
// hosts that serve it for unknown paths (so that the page's own routes work), and .br and .gz beside every
// file that compresses.
//
// trunk calls it as a hook and says in the environment where the files are. How they are once the wasm is
// done, which takes longest, is kept in target/unfinished: `node .dev/finish.mjs FOLDER` goes on with such
// a folder, so that tests can make releases that differ.

import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { nameByContent } from "./names.mjs";
import { keepExports, split } from "./split.mjs";

// What styles only the part of the program that comes later (.dev/split.mjs).
const LATER_STYLES = /^(model|task|tasks|batch|integrations)-/;

// trunk's own tools do not read wasm-bindgen's script, and wasm-opt alone must keep every export. Without
// our tools (`trunk build` by hand) wasm, scripts and style sheets stay as they are.
const tools = new URL("../.tools/npm/node_modules/", import.meta.url);
const esbuild = await import(new URL("esbuild/lib/main.js", tools)).catch(() => null);

const folder = process.argv[2] ?? process.env.TRUNK_STAGING_DIR;
if (!process.argv[2]) {
  if (process.env.TRUNK_PROFILE !== "release" || !folder) process.exit(0);
  if (esbuild) shrink(folder, fileURLToPath(new URL(".bin/", tools)));
  keep(folder);
}

const index = join(folder, "index.html");
const page = readFileSync(index, "utf8");
const laterStyles = styles(page).filter(({ name }) => LATER_STYLES.test(name));
const isSplit = minify(folder, laterStyles.map(({ name }) => name));
writeFileSync(index, isSplit ? laterStyles.reduce((page, { tag }) => page.replace(tag, ""), page) : page);
try {
  nameByContent(folder);
} catch (error) {
  fail(error.message);
}
const html = withPolicy(readFileSync(index, "utf8"));
writeFileSync(index, html);
writeFileSync(join(folder, "404.html"), html);
// `./dev serve` has no use for compressed files and would wait for them.
if (process.env.ATELIER_COMPRESS !== "no") compress(folder);

function keep(folder) {
  const unfinished = join(process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../target", import.meta.url)), "unfinished");
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(folder, unfinished, { recursive: true });
}

function styles(html) {
  const links = html.matchAll(/<link\b[^>]*\brel="?stylesheet"?[^>]*>/gi);
  return [...links].map(([tag]) => ({ tag, name: basename(/\bhref="?([^"\s>]+)/i.exec(tag)[1]) }));
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
    "font-src 'self'",
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

// Scripts and style sheets without what only their readers need. Gives whether there is a later part.
function minify(folder, laterStyles) {
  if (!esbuild) return false;
  let isSplit = false;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (extname(name) === ".js") {
      let script = withoutUnusedClasses(readFileSync(path, "utf8"));
      const wasm = wasmOf(path);
      if (existsSync(wasm)) {
        // A default that nobody uses; but so the script's name follows from the wasm's.
        script = script.replace(/\w+_bg\.wasm/, basename(wasm));
        isSplit = existsSync(laterOf(wasm));
        if (isSplit) script = withLater(script, [basename(laterOf(wasm)), ...laterStyles]);
      }
      writeFileSync(path, esbuild.transformSync(script, { loader: "js", minify: true }).code);
    } else if (extname(name) === ".css") {
      writeFileSync(path, esbuild.transformSync(readFileSync(path, "utf8"), { loader: "css", minify: true }).code);
    }
  }
  return isSplit;
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

function laterOf(wasm) {
  return wasm.replace(/_bg\.wasm$/, "_later.wasm");
}

// Keeps the exports that the script names, splits off what comes later, and optimises for size.
function shrink(folder, bin) {
  const features = ["bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "reference-types", "multivalue"];
  const options = features.map((feature) => `--enable-${feature}`);
  const run = (tool, ...more) => execFileSync(join(bin, tool), [...options, ...more], { stdio: ["ignore", "ignore", "inherit"] });
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const wasm = wasmOf(path);
    if (extname(name) !== ".js" || !existsSync(wasm)) continue;
    const script = withoutUnusedClasses(readFileSync(path, "utf8"));
    const named = new Set([...script.matchAll(/\.([A-Za-z_$][\w$]*)/g)].map(([, name]) => name));
    const exports = WebAssembly.Module.exports(new WebAssembly.Module(readFileSync(wasm)));
    keepExports(wasm, exports.map(({ name }) => name).filter((name) => named.has(name)), run);
    split(wasm, laterOf(wasm), run);
    for (const file of [wasm, laterOf(wasm)].filter(existsSync)) {
      // Inlining what is called once makes less code, but code that compresses worse.
      run("wasm-opt", file, "-o", file, "-Oz", "--one-caller-inline-max-function-size=20");
    }
  }
}

// wasm-bindgen's script, which also fetches what comes later when it is asked to: the wasm, and the
// style sheets, without which it must not be shown.
function withLater(script, [wasm, ...styles]) {
  const once = "async function __wbg_init_once", imports = "const imports = __wbg_get_imports();";
  const [before, after] = script.split(once);
  if (!after?.includes(imports)) fail("wasm-bindgen's script is not as expected");
  return `${before}${once}${after.replace(imports, `${imports} imports.later = passedOn;`)}
let later, coming;
const passedOn = new Proxy({}, { get: (_, name) => (...given) => (later ?? now(name))[name](...given) });
// The last resort: nothing goes on before it is here.
const now = (name) => {
  console.warn("Atelier waits for a part of itself: " + name + " is needed before its time");
  const request = new XMLHttpRequest();
  request.open("GET", here("${wasm}"), false);
  request.overrideMimeType("text/plain; charset=x-user-defined");
  request.send();
  const bytes = Uint8Array.from(request.responseText, (letter) => letter.charCodeAt(0));
  return later ??= new WebAssembly.Instance(new WebAssembly.Module(bytes), { ...__wbg_get_imports(), main: wasm }).exports;
};
const here = (file) => new URL(file, import.meta.url);
const style = (file) => new Promise((done, failed) => {
  const link = document.createElement("link");
  const missing = () => { link.remove(); failed(Error(file)); };
  // Some hosts answer with a page where a file is gone: then there are no rules.
  const onload = () => link.sheet?.cssRules.length ? done() : missing();
  document.head.append(Object.assign(link, { rel: "stylesheet", href: here(file), onload, onerror: missing }));
});
// A page that begins elsewhere than at the first view needs it at once.
let early = location.pathname === "/" ? null : fetch(here("${wasm}")).catch(() => null);
const answered = async () => { const answer = await early; early = null; return answer ?? fetch(here("${wasm}")); };
const code = () => answered().then((answer) => {
  if (!answer.ok || /html/.test(answer.headers.get("content-type"))) throw Error("${wasm}");
  return __wbg_load(answer, { ...__wbg_get_imports(), main: wasm });
});
globalThis.loadLater = () => coming ??= Promise.all([code(), ...${JSON.stringify(styles)}.map(style)]).then(
  ([{ instance }]) => { later ??= instance.exports }, (error) => { coming = undefined; throw error });
`;
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
  console.error(`finish: ${message}`);
  process.exit(1);
}
