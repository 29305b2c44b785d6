// Finishes a release build that trunk has just made: the Content-Security-Policy (with the hashes of
// the inline scripts, which are only known now), 404.html for hosts that serve it for unknown paths
// (so that the page's own routes work), and .br and .gz beside every file that compresses.
//
// trunk calls it as a hook and says in the environment where the files are.

import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = process.env.TRUNK_STAGING_DIR;
if (process.env.TRUNK_PROFILE !== "release" || !folder) process.exit(0);

await minify(folder);
const index = join(folder, "index.html");
const html = withPolicy(readFileSync(index, "utf8"));
writeFileSync(index, html);
writeFileSync(join(folder, "404.html"), html);
// `./dev serve` has no use for compressed files and would wait for them.
if (process.env.ATELIER_COMPRESS !== "no") compress(folder);

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
  // A function, because `$` has a meaning in a replacement text.
  return html.replace(charset, "").replace(head, (tag) => tag + charset + meta);
}

// Scripts and style sheets without what only their readers need, and the wasm without what no script
// calls. trunk's own tools do neither: its minifier does not read wasm-bindgen's script, and wasm-opt
// alone must keep every export. Without our tools (`trunk build` by hand) files stay as they are.
async function minify(folder) {
  const tools = new URL("../.tools/npm/node_modules/", import.meta.url);
  const esbuild = await import(new URL("esbuild/lib/main.js", tools)).catch(() => null);
  if (!esbuild) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (extname(name) === ".js") {
      const script = withoutUnusedClasses(readFileSync(path, "utf8"));
      const wasm = path.replace(/\.js$/, "_bg.wasm");
      if (existsSync(wasm)) shrink(wasm, script, fileURLToPath(new URL(".bin/", tools)));
      writeFileSync(path, esbuild.transformSync(script, { loader: "js", minify: true }).code);
    } else if (extname(name) === ".css") {
      writeFileSync(path, esbuild.transformSync(readFileSync(path, "utf8"), { loader: "css", minify: true }).code);
    }
  }
}

// wasm-bindgen exports a class for every exported type of every crate below us, for other scripts to
// use. There are none: the page's only script is this one.
function withoutUnusedClasses(script) {
  return script
    .replace(/^export class \w+ \{\n[\s\S]*?^\}\n/gm, "")
    .replace(/^if \(Symbol\.dispose\) .*\n/gm, "")
    .replace(/^const \w+Finalization = [\s\S]*?;\n/gm, "");
}

// Keeps the exports that the script names, then optimises for size.
function shrink(wasm, script, bin) {
  const named = new Set([...script.matchAll(/\.([A-Za-z_$][\w$]*)/g)].map(([, name]) => name));
  const exports = WebAssembly.Module.exports(new WebAssembly.Module(readFileSync(wasm)));
  const kept = exports.filter(({ name }) => named.has(name));
  const graph = `${wasm}.graph.json`;
  writeFileSync(graph, JSON.stringify(kept.map(({ name }) => ({ name, export: name, root: true }))));
  const features = ["bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "reference-types", "multivalue"];
  const options = features.map((feature) => `--enable-${feature}`);
  const run = (tool, ...more) => execFileSync(join(bin, tool), [...options, wasm, "-o", wasm, ...more], { stdio: ["ignore", "ignore", "inherit"] });
  run("wasm-metadce", `--graph-file=${graph}`);
  // Inlining what is called once makes less code, but code that compresses worse.
  run("wasm-opt", "-Oz", "--one-caller-inline-max-function-size=20");
  unlinkSync(graph);
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
