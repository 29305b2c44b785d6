// Finishes a release build that trunk has just made:
// - splits the wasm into four parts (src/boot/program.rs) and removes unused code;
// - joins and minifies scripts and style sheets;
// - names every file by its content (names.mjs);
// - adds the Content-Security-Policy, with the hashes of the inline scripts;
// - adds 404.html, for hosts that serve it for unknown paths, so that the page's own routes work;
// - adds a .br and a .gz file for every file that compresses well.
//
// trunk calls this script as a hook, with the folder of the files in an environment variable. The wasm takes longest. The
// files after that step are stored in target/unfinished: `node .dev/finish.mjs FOLDER` continues with such a folder, so that
// tests can make different releases.
//
// wasm_parts.mjs handles the wasm and its script, styles.mjs the style sheets.

import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, extname, join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { LASTING, nameByContent } from "./names.mjs";
import { withStyles } from "./styles.mjs";
import { esbuild, fail, target } from "./tools.mjs";
import { PARTS, partOf, shrink, wasmOf } from "./wasm_parts.mjs";

const folder = process.argv[2] ?? process.env.TRUNK_STAGING_DIR;
if (!process.argv[2]) {
  if (process.env.TRUNK_PROFILE !== "release" || !folder) process.exit(0);
  if (esbuild) shrink(folder);
  storeUnfinished(folder);
}

const index = join(folder, "index.html");
if (esbuild) {
  const wasm = minifyScripts(folder);
  const html = withEarlyWasm(withIcon(readFileSync(index, "utf8")));
  const parts = PARTS.map((part) => partOf(wasm, part)).filter(existsSync).map((path) => basename(path));
  writeFileSync(index, withOneScript(withStyles(folder, html, parts)));
}
nameByContent(folder);
// Comments are not sent.
const html = withPolicy(readFileSync(index, "utf8").replace(/\s*<!--[^]*?-->/g, ""));
writeFileSync(index, html);
writeFileSync(join(folder, "404.html"), html);
writeFileSync(join(folder, "worker.js"), worker(html));
// `./dev serve` does not use compressed files, and would wait for them.
if (process.env.ATELIER_COMPRESS !== "no") compress(folder);

function storeUnfinished(folder) {
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
    // One of our style sheets contains a typeface (styles.mjs).
    "font-src 'self' data:",
    "manifest-src 'self'",
    "worker-src 'self'",
    // The service's address is a setting, and its outputs may be at any address.
    "connect-src 'self' http: https: data: blob:",
    "img-src 'self' http: https: data: blob:",
    "media-src 'self' http: https: data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  // The policy comes first, because it applies only to what follows. The charset must be within the first 1024 bytes.
  const head = /<head\b[^>]*>/i;
  if (!head.test(html)) fail("index.html has no <head> to put the policy into");
  const charset = /<meta\s+charset=[^>]*>/i.exec(html)?.[0] ?? "";
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  // The name of the release, by which an open page notices a newer one.
  const release = `<meta name="release" content="${createHash("sha256").update(html).digest("hex").slice(0, 16)}">`;
  // A function, because `$` has a special meaning in a replacement string.
  return html.replace(charset, "").replace(head, (tag) => tag + charset + meta + release);
}

// Returns the service worker of this release, which caches the files of the page.
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

// Minifies the scripts. Returns the wasm that one of them loads.
function minifyScripts(folder) {
  let found;
  for (const name of readdirSync(folder).filter((name) => extname(name) === ".js")) {
    const path = join(folder, name);
    const wasm = wasmOf(path);
    let script = readFileSync(path, "utf8");
    if (existsSync(wasm)) {
      found = wasm;
      // This default is not used, but makes the script's name depend on the wasm's name.
      script = script.replace(/\w+_bg\.wasm/, basename(wasm));
    }
    writeFileSync(path, esbuild.transformSync(script, { loader: "js", minify: true }).code);
  }
  return found ?? fail("no script has a wasm file");
}

// Puts the icon into the page: it is smaller than a request for it.
function withIcon(html) {
  return html.replace(/(<link\b[^>]*\brel="?icon"?[^>]*\bhref=")([^"]+)"/i, (_, before, href) => {
    const path = join(folder, basename(href));
    const drawing = readFileSync(path, "utf8").trim();
    unlinkSync(path);
    return `${before}data:image/svg+xml,${encodeURIComponent(drawing)}"`;
  });
}

// Requests the wasm in a script. trunk's script uses that response. With trunk's `<link rel="preload">`, WebKit requests the
// wasm twice.
function withEarlyWasm(html) {
  const link = /<link\b[^>]*\brel="?preload"?[^>]*\bhref="?([^"\s>]+\.wasm)[^>]*>/i;
  const taken = /module_or_path: '[^']*'/;
  const wasm = link.exec(html)?.[1];
  if (!wasm || !taken.test(html)) fail("unexpected script of trunk: it loads the wasm in another way than before");
  // The error is handled by the code that awaits the response.
  const ask = `<script>var wasmAnswer = fetch("${wasm}"); wasmAnswer.catch(function () {});</script>`;
  return html.replace(link, "").replace(taken, "module_or_path: atelierFirstCards().then(() => wasmAnswer)").replace("</title>", (tag) => tag + ask);
}

// Joins the inline scripts into one, at the place of the first: each script needs a hash in the policy, and hashes do not
// compress. Joined, they still run before the elements that they observe.
function withOneScript(html) {
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)];
  const { code } = esbuild.transformSync(scripts.map(([, text]) => text).join("\n"), { loader: "js", minify: true });
  const one = `<script>${code.trim()}</script>`;
  return scripts.reduce((html, [tag], at) => html.replace(tag, () => (at === 0 ? one : "")), html).replace(/>\n\s*</g, "><");
}

function compress(folder) {
  // brotli's parameters for distances (NPOSTFIX, NDIRECT). The best ones differ from file to file, and save some hundred
  // bytes. They are not tried out for files that no visit waits for, because that takes time.
  const distances = [[0, 0], [0, 8], [1, 8], [3, 0], [3, 15]];
  const text = new Set([".html", ".js", ".css", ".wasm", ".svg", ".json", ".webmanifest", ".txt", ".ico", ".xml"]);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !text.has(extname(entry.name))) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const bytes = readFileSync(path);
    const isAwaited = !/_(pages|more)\./.test(path);
    const packed = distances.slice(0, isAwaited ? undefined : 1).map(([postfix, direct]) => {
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        [constants.BROTLI_PARAM_NPOSTFIX]: postfix,
        [constants.BROTLI_PARAM_NDIRECT]: direct << postfix,
      };
      return brotliCompressSync(bytes, { params });
    });
    writeFileSync(`${path}.br`, packed.reduce((best, next) => (next.length < best.length ? next : best)));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
}
