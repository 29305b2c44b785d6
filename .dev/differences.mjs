// Writes what has changed since an earlier release, for browsers that still have its files (compression dictionary transport,
// RFC 9842): `node .dev/differences.mjs FOLDER PREVIOUS`. Both are folders of finished releases.
//
// The difference of FILE is differences/DICTIONARY/FILE.dcz. DICTIONARY is the beginning of the hash of the earlier file, as
// browsers send it in the header Available-Dictionary: base64, so that it may contain a slash.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";
import { fail } from "./tools.mjs";

const [folder, previous] = process.argv.slice(2);
if (!existsSync(join(previous, "index.html"))) fail(`${previous} is not the folder of a release`);

// The length of DICTIONARY in characters. Also in crates/service/src/site/differences.rs.
const PREFIX = 16;
// The first bytes of a file in the format `dcz`, before the hash of the dictionary.
const MAGIC = Buffer.from([0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00]);

const earlier = new Map();
for (const name of programs(previous)) earlier.set(withoutHash(name), name);

let total = 0;
let whole = 0;
for (const name of programs(folder)) {
  const file = join(folder, name);
  const best = existsSync(`${file}.br`) ? readFileSync(`${file}.br`).length : readFileSync(file).length;
  const old = earlier.get(withoutHash(name));
  if (old === name) continue;
  whole += best;
  const difference = old && differenceOf(file, join(previous, old));
  if (!difference || difference.bytes.length >= best) {
    total += best;
    continue;
  }
  total += difference.bytes.length;
  const path = join(folder, "differences", difference.dictionary.slice(0, PREFIX), `${name}.dcz`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, difference.bytes);
}
console.log(`For browsers with the previous release, the changed files take ${total} bytes instead of ${whole}.`);

// The files that are large enough.
function programs(folder) {
  return readdirSync(folder).filter((name) => /-[0-9a-f]{16}[^.]*\.(wasm|js)$/.test(name));
}

function withoutHash(name) {
  return name.replace(/-[0-9a-f]{16}/, "-*");
}

function differenceOf(file, old) {
  // Browsers accept windows of up to 8 MiB, or 1.25 times the dictionary.
  const options = ["--patch-from", old, "--ultra", "-22", "--long=23", "--single-thread", "--no-check", "-qq", "-c", file];
  const { status, stdout, error } = spawnSync("zstd", options, { stdio: ["ignore", "pipe", "inherit"], maxBuffer: 2 ** 28 });
  if (status !== 0) fail(`zstd: ${error?.message ?? `exit code ${status}`}`);
  const hash = createHash("sha256").update(readFileSync(old)).digest();
  return { dictionary: hash.toString("base64"), bytes: Buffer.concat([MAGIC, hash, stdout]) };
}
