// What cargo's targets are made of, read from the sources: which files, and which tests. It is read, not
// compiled, so that what a compiler never sees is seen too: a file that no `mod` names, a test that its
// conditions leave out.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

// Every target of every package: { package, name, kind, root (a path from here), tested (by default) }.
export function targets() {
  const options = { encoding: "utf8", maxBuffer: 1 << 26 };
  const text = execFileSync("cargo", ["metadata", "--no-deps", "--offline", "--format-version", "1"], options);
  return JSON.parse(text).packages.flatMap((each) =>
    each.targets.map(({ name, kind, src_path, test }) =>
      ({ package: each.name, name, kind: kind[0], root: relative(process.cwd(), src_path), tested: test })));
}

// The files of a target, the code of its modules (`a::b`) without comments and the insides of strings,
// and the paths of its tests (`module::function`) under these conditions: { features, wasm }. With `{}` as
// conditions: whatever they are. With { tests: false }: without what is there for tests alone.
export function contents(root, conditions = {}) {
  const found = { files: new Set(), modules: new Map(), tests: [], uncountable: [] };
  readModule(found, root, dirname(root), [], conditions);
  return found;
}

// Where its modules lie: beside a root or a mod.rs, else in a folder of its name.
function folderOf(file) {
  return basename(file) === "mod.rs" ? dirname(file) : join(dirname(file), basename(file, ".rs"));
}

// FOLDER is where the files of its modules lie, PATH the names of the modules that it is in.
function readModule(found, file, folder, path, conditions) {
  found.files.add(file);
  const text = readFileSync(file, "utf8");
  const code = withoutText(text);
  const blocks = [];
  const cut = [];
  // The attributes that the next item has, and where they begin.
  let attributes = [];
  let begin = 0;
  const holds = () => attributes.every((each) => conditionHolds(each, conditions));
  const pattern = /#!?\[|[{};]|\bmod\s+(\w+)\s*([;{])|\bfn\s+(\$?\w+)|\bmacro_rules!\s*\w+\s*\{/g;
  for (let match; (match = pattern.exec(code)); ) {
    const [token, module, end, name] = match;
    if (token.endsWith("[")) {
      const close = closing(code, pattern.lastIndex - 1);
      // Strings are part of some: of the original text.
      const attribute = text.slice(pattern.lastIndex, close);
      pattern.lastIndex = close + 1;
      if (token === "#[") {
        if (attributes.length === 0) begin = match.index;
        attributes.push(attribute);
      }
      // All of the file, or of the module that it stands in.
      else if (!conditionHolds(attribute, conditions)) {
        if (blocks.length === 0) return;
        blocks.at(-1).left_out = true;
      }
    } else if (token === "}") {
      const block = blocks.pop();
      if (block?.left_out) cut.push([block.begin, pattern.lastIndex]);
      attributes = [];
    } else if (token === ";") {
      if (!holds()) cut.push([begin, pattern.lastIndex]);
      attributes = [];
    } else if (token.startsWith("macro_rules")) {
      const close = closing(code, pattern.lastIndex - 1);
      // How often it will be there, no one can see here.
      if (/#\[[\w:]*\btest\b/.test(code.slice(match.index, close))) found.uncountable.push(`${file}: ${token.slice(0, -1).trim()}`);
      pattern.lastIndex = close + 1;
      attributes = [];
    } else {
      const within = blocks.flatMap((block) => block.module ?? []);
      const left_out = blocks.some((block) => block.left_out) || !holds();
      if (module && end === ";") {
        if (!left_out) readDeclared(found, file, join(folder, ...within), module, [...path, ...within, module], attributes, conditions);
        attributes = [];
      } else if (name) {
        if (!left_out && attributes.some(isTest)) found.tests.push([...path, ...within, name].join("::"));
        // Its block has them, too.
        pattern.lastIndex = match.index + token.length;
      } else {
        blocks.push({ module, left_out, begin: attributes.length > 0 ? begin : match.index });
        attributes = [];
      }
    }
  }
  found.modules.set(path.join("::"), {
    file,
    code: cut.reduce((code, [from, to]) => code.slice(0, from) + code.slice(from, to).replace(/[^\n]/g, " ") + code.slice(to), code),
  });
}

function readDeclared(found, file, folder, module, path, attributes, conditions) {
  const named = attributes.map((each) => /^path\s*=\s*"([^"]+)"/.exec(each)?.[1]).find(Boolean);
  const candidates = named ? [join(dirname(file), named)] : [join(folder, `${module}.rs`), join(folder, module, "mod.rs")];
  const next = candidates.find((candidate) => existsSync(candidate));
  if (next) readModule(found, next, folderOf(next), path, conditions);
}

export function isTest(attribute) {
  return /^(?:\w+::)*(?:wasm_bindgen_)?test\b/.test(attribute);
}

// Whether what has this attribute is compiled, in a test.
function conditionHolds(attribute, { features, wasm, tests }) {
  const condition = /^cfg\s*\(([^]*)\)$/.exec(attribute)?.[1];
  if (condition === undefined) return true;
  if (features === undefined) return tests !== false || condition.trim() !== "test";
  return judge(condition.trim());

  function judge(text) {
    const [, word, rest] = /^(\w+)\s*([^]*)$/.exec(text);
    const parts = () => separated(rest.slice(1, -1)).map(judge);
    const value = /^=\s*"([^"]*)"$/.exec(rest)?.[1];
    switch (word) {
      case "all": return parts().every(Boolean);
      case "any": return parts().some(Boolean);
      case "not": return !parts()[0];
      case "feature": return features.includes(value);
      case "test": case "debug_assertions": return true;
      case "unix": return !wasm && process.platform !== "win32";
      case "windows": return !wasm && process.platform === "win32";
      case "target_arch": if (value === "wasm32") return wasm; break;
      case "target_os": return !wasm && value === { darwin: "macos", win32: "windows" }[process.platform] || value === process.platform;
    }
    throw new Error(`cfg(${text}): sources.mjs does not know whether that holds`);
  }
}

function separated(text) {
  const parts = [""];
  let depth = 0;
  for (const letter of text) {
    depth += { "(": 1, ")": -1 }[letter] ?? 0;
    if (letter === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

// Where the bracket that opens at BEGIN is closed.
function closing(code, begin) {
  let depth = 0;
  for (let at = begin; at < code.length; at++) {
    if ("([{".includes(code[at])) depth++;
    if (")]}".includes(code[at]) && --depth === 0) return at;
  }
  throw new Error("a bracket that is not closed");
}

// The code with comments and the insides of strings as spaces: everything stays where it is.
export function withoutText(text) {
  const hidden = /\/\/[^\n]*|\/\*[^]*?\*\/|\b[bc]?r(#*)"[^]*?"\1|"(?:\\[^]|[^"\\])*"|'(?:\\[^\n]+?|[^\\'\n])'/g;
  return text.replace(hidden, (each) => each.replace(/[^\n]/g, " "));
}
