// Splits the page's wasm in two: what the first view needs, and what can come right after it.
//
// The first view is the list of models. Which functions come later is told by their names:
// everything that mentions one of `later`'s modules, and what nothing but those calls. In the first module they become imports; the script
// passes calls of them on. The second module borrows memory, table, globals and all other functions
// from the first, so that to the program the two are one.

import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs";

// Modules whose code no first view needs. src/later.rs sees to it that they are called only once
// they are here. Names are no proof: the compiler makes one function of several that are alike, and
// gives it the name of any. Should the first view call such a one, the script fetches the second
// module at that moment, and complains.
const later = /\b(atelier::(archive|batches|browser::tables|runner::kept|tables|view::(batch|form|integrations|model|pages|parts::(answer|confirm|held)|settings|task|tasks))|atelier_engine::(archive|batch|calendar|compose|control|function_schema|highlight|history|kept|manifest|press|rerun|seed|snippet))::/;

const ENTRY = /^\$"?atelier::view::pages::page"?$/;

const ALIKE = /^\$"?<?(alloc|core|std)::|\batelier::erased::/;

// Lines as wasm-dis writes them.
const SMALL = 40;

// Splits WASM (which has its names) into itself and the file LATER. `run(tool, …arguments)` runs one
// of binaryen's tools. Gives whether there was anything to split.
export function split(wasm, laterWasm, run) {
  const text = `${wasm}.wat`;
  run("wasm-dis", wasm, "-o", text);
  const items = topLevel(readFileSync(text, "utf8"));
  unlinkSync(text);

  const functions = new Map();
  const kept = new Set();
  for (const item of items) {
    if (item.startsWith("(func ")) functions.set(nameOf(item), { item, callers: new Set() });
    // What the table or the outside refers to may be called by anyone.
    else if (/^\((elem|export|start) /.test(item)) for (const name of references(item)) kept.add(name);
  }
  for (const [caller, { item }] of functions) {
    for (const callee of references(item.slice(item.indexOf("\n")))) functions.get(callee)?.callers.add(caller);
  }
  const named = new Set([...functions.keys()].filter((name) => later.test(plain(name))));
  // What others call directly stays, but for the way in. So does what is likely to be somebody
  // else's, too: the standard library's code for our types, what src/erased.rs makes alike, and what
  // anyone may call through the table and is too small to be worth a call across the border.
  const stays = (name, { item, callers }) => !ENTRY.test(plain(name)) && (ALIKE.test(plain(name))
    || [...callers].some((caller) => !named.has(caller)) || (kept.has(name) && item.split("\n").length < SMALL));
  const moved = new Set([...named].filter((name) => !stays(name, functions.get(name))));
  if (moved.size === 0) return false;
  for (let before = -1; before !== moved.size; ) {
    before = moved.size;
    for (const [name, { callers }] of functions) {
      if (!moved.has(name) && !kept.has(name) && callers.size > 0 && [...callers].every((caller) => moved.has(caller))) moved.add(name);
    }
  }

  // Only what is called across the border needs a name there.
  const lent = new Map([...functions.keys()].filter((name) => !moved.has(name)).map((name, at) => [name, `f${at.toString(36)}`]));
  const borrowed = [];
  const own = [];
  for (const item of items) {
    const name = /^\((?:func|global|memory|table|tag) /.test(item) ? nameOf(item) : null;
    const kind = item.slice(1, item.indexOf(" "));
    if (kind === "func" && moved.has(name)) own.push(item);
    else if (kind === "func") borrowed.push(`(import "main" "${lent.get(name)}" ${head(item)})`);
    else if (kind === "global") borrowed.push(`(import "main" "g${borrowed.length}" ${global(item)})`);
    else if (kind === "memory" || kind === "table") borrowed.push(`(import "main" "${kind}${borrowed.length}" ${item})`);
    else if (kind === "type" || kind === "rec" || kind === "import") own.unshift(item);
  }
  // Imports stand before everything that is defined; types before those.
  const order = (item) => (/^\((type|rec) /.test(item) ? 0 : item.startsWith("(import ") ? 1 : 2);
  const exported = [...moved].map((name, at) => ({ name, as: `l${at.toString(36)}` }));
  write(laterWasm, [...own.filter((item) => order(item) === 0).reverse(), ...own.filter((item) => order(item) === 1).reverse(), ...borrowed,
    ...own.filter((item) => order(item) === 2), ...exported.map(({ name, as }) => `(export "${as}" (func ${name}))`)], run);

  // The first module exports what the second, once it is optimised, still asks for.
  const asked = new Set(WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(laterWasm)))
    .filter(({ module }) => module === "main").map(({ name }) => name));
  const exports = borrowed.flatMap((item) => {
    const [, as, kind, name] = /^\(import "main" "(\w+)" \((\w+) (\$(?:"(?:[^"\\]|\\.)*"|\S+?))[\s)]/.exec(item);
    return asked.has(as) ? [`(export "${as}" (${kind} ${name}))`] : [];
  });
  const calls = exported.map(({ name, as }) => `(import "later" "${as}" ${head(functions.get(name).item)})`);
  const rest = items.filter((item) => !(item.startsWith("(func ") && moved.has(nameOf(item))));
  write(wasm, [...rest.filter((item) => order(item) < 2), ...calls, ...rest.filter((item) => order(item) === 2), ...exports], run);

  // And of the second only what the first can call.
  const called = new Set(WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(wasm)))
    .filter(({ module }) => module === "later").map(({ name }) => name));
  keepExports(laterWasm, called, run);
  return true;
}

// Drops what none of these exports reaches, then optimises for size.
export function keepExports(wasm, names, run) {
  const graph = `${wasm}.graph.json`;
  writeFileSync(graph, JSON.stringify([...names].map((name) => ({ name, export: name, root: true }))));
  run("wasm-metadce", wasm, "-o", wasm, "-g", `--graph-file=${graph}`);
  unlinkSync(graph);
}

function write(wasm, items, run) {
  const text = `${wasm}.wat`;
  writeFileSync(text, `(module\n${items.join("\n")}\n)\n`);
  run("wasm-as", text, "-g", "-o", wasm);
  run("wasm-opt", wasm, "-g", "-o", wasm, "--remove-unused-module-elements");
  unlinkSync(text);
}

// The parts of a module, as wasm-dis writes them: each begins on a line of its own, one space in.
function topLevel(text) {
  const inside = text.slice(text.indexOf("\n") + 1, text.lastIndexOf(")"));
  return inside.split(/\n(?= \()/).map((item) => item.replace(/^\n? /, "").replace(/\n ;;.*$/gm, "").trimEnd());
}

const NAME = /\$(?:"(?:[^"\\]|\\.)*"|[^\s()"]+)/g;

const references = (text) => new Set(text.match(NAME) ?? []);
const nameOf = (item) => item.match(NAME)[0];
// Without the hashes of crates.
const plain = (name) => name.replace(/\[[0-9a-f]+\]/g, "");

// `(func $name (type $t) (param …) (result …))`, without a body.
function head(item) {
  const line = item.slice(0, item.indexOf("\n") < 0 ? item.length : item.indexOf("\n"));
  return `${line.replace(/\)$/, (end) => (item.includes("\n") ? end : ""))})`;
}

// `(global $name (mut i32))`, without what it begins with.
function global(item) {
  const [, name, type] = /^\(global (\$(?:"(?:[^"\\]|\\.)*"|\S+)) (\(mut \w+\)|\w+)/.exec(item);
  return `(global ${name} ${type})`;
}
