// Names every file of a release by a hash of its content, so that hosts may let browsers cache it forever:
// `atelier-3f9c2b7a10d4e5f6_bg.wasm`. trunk also names files by their content, but before their last change.
//
// A file that contains the names of other files is named after these, because its content depends on their names.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";

// Users and hosts request these files by their names.
export const LASTING = new Set(["index.html", "404.html", "worker.js"]);

// The types of files that can contain names of other files.
const TEXTS = new Set([".html", ".js", ".css", ".svg", ".json", ".webmanifest"]);

// Renames the files in FOLDER. Afterwards only index.html may change.
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
      throw new Error(`no file refers to ${path}, so the page can't find its new name`);
    }
  }
  while (unnamed.size > 0) {
    // A file whose references all have their final names.
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

// Matches a file name in a text, alone or at the end of a path.
function mention(path) {
  return new RegExp(`(?<![\\w.-])${path.replace(/[.*+?^$()[\]{}|\\]/g, "\\$&")}(?![\\w.-])`, "g");
}

function withHash(path, bytes) {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const trunkHash = /-[0-9a-f]{8,16}(?=[._])/;
  return trunkHash.test(name) ? name.replace(trunkHash, `-${hash}`) : name.replace(/(\.\w+)?$/, `-${hash}$1`);
}
