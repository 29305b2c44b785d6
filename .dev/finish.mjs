// Finishes a release build that trunk has just made: the wasm in three parts (src/boot/program.rs), without what
// no one calls; scripts and style sheets joined and made small; every file named by what is in it
// (names.mjs); the Content-Security-Policy (with the hashes of the inline scripts, which are only known
// now), 404.html for hosts that serve it for unknown paths (so that the page's own routes work), and .br and
// .gz beside every file that compresses.
//
// trunk calls it as a hook and says in the environment where the files are. How they are once the wasm is
// done, which takes longest, is kept in target/unfinished: `node .dev/finish.mjs FOLDER` goes on with such
// a folder, so that tests can make releases that differ.
//
// The wasm and its script are dealt with in wasm_parts.mjs, the style sheets in styles.mjs.

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
  keep(folder);
}

const index = join(folder, "index.html");
if (esbuild) {
  const wasm = minifyScripts(folder);
  const html = withEarlyWasm(withIcon(readFileSync(index, "utf8")));
  const parts = PARTS.map((part) => partOf(wasm, part)).filter(existsSync).map((path) => basename(path));
  writeFileSync(index, withOneScript(withStyles(folder, html, parts)));
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
    // A typeface is in a style sheet of ours (styles.mjs).
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

// The scripts in the page as one: each takes a hash in the policy, which does not compress. They are the
// same where they all stand before what they watch over.
function withOneScript(html) {
  const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)];
  const { code } = esbuild.transformSync(scripts.map(([, text]) => text).join("\n"), { loader: "js", minify: true });
  const one = `<script>${code.trim()}</script>`;
  return scripts.reduce((html, [tag], at) => html.replace(tag, () => (at === 0 ? one : "")), html).replace(/>\n\s*</g, "><");
}

function compress(folder) {
  // How brotli writes distances (NPOSTFIX, NDIRECT): which is best differs from file to file by some hundred bytes. Of
  // what no visit waits for, it is not tried out: that takes its time.
  const distances = [[0, 0], [0, 8], [1, 8], [3, 0], [3, 15]];
  const text = new Set([".html", ".js", ".css", ".wasm", ".svg", ".json", ".webmanifest", ".txt", ".ico", ".xml"]);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !text.has(extname(entry.name))) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const bytes = readFileSync(path);
    const isAwaited = !path.includes("_pages");
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
