// Names every file of a release by the bytes that are served, so that hosts may have them kept for ever:
// `atelier-3f9c2b7a10d4e5f6_bg.wasm`. trunk names files, too, but before their last change.
//
// What refers to other files by their names is named after those are, because it holds their names.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";

// These are asked for by people, and by hosts.
export const LASTING = new Set(["index.html", "404.html", "worker.js"]);

// What can hold a name.
const TEXTS = new Set([".html", ".js", ".css", ".svg", ".json", ".webmanifest"]);

// Renames the files in FOLDER. After that no file but index.html may change.
export function nameByContent(folder) {
  const texts = new Map();
  const paths = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/"));
  for (const path of paths) {
    if (TEXTS.has(extname(path))) texts.set(path, readFileSync(join(folder, path), "utf8"));
  }

  const unnamed = new Set(paths.filter((path) => !LASTING.has(path)));
  for (const path of unnamed) {
    if (![...texts].some(([other, text]) => other !== path && mention(path).test(text))) {
      throw new Error(`nothing refers to ${path}: it can't be had by a name that nobody knows`);
    }
  }
  while (unnamed.size > 0) {
    // All that it refers to has its name.
    const next = [...unnamed].find((path) => ![...unnamed].some((other) => mention(other).test(texts.get(path) ?? "")));
    if (!next) throw new Error(`these refer to each other: ${[...unnamed].join(", ")}`);
    unnamed.delete(next);
    const named = join(dirname(next), withHash(next, readFileSync(join(folder, next)))).replaceAll("\\", "/");
    renameSync(join(folder, next), join(folder, named));
    texts.set(named, texts.get(next));
    texts.delete(next);
    for (const [path, text] of texts) {
      if (!text || !mention(next).test(text)) continue;
      texts.set(path, text.replace(mention(next), named));
      writeFileSync(join(folder, path), texts.get(path));
    }
  }
}

// The name as it stands in a text: by itself, or at the end of a path.
function mention(path) {
  return new RegExp(`(?<![\\w.-])${path.replace(/[.*+?^$()[\]{}|\\]/g, "\\$&")}(?![\\w.-])`, "g");
}

function withHash(path, bytes) {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const trunks = /-[0-9a-f]{8,16}(?=[._])/;
  return trunks.test(name) ? name.replace(trunks, `-${hash}`) : name.replace(/(\.\w+)?$/, `-${hash}$1`);
}
