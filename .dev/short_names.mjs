// The wasm and wasm-bindgen's script refer to each other's functions by long names with sixteen random digits, which do not
// compress. wasm-opt gives the functions names of one or two letters in the wasm, and prints these names
// (`--minify-imports-and-exports-and-modules`). This module uses the same names in the script.
//
// Anything unexpected is an error: a page with a wrong name would not start.
//
// The patterns match the script that wasm-bindgen writes (version in Cargo.lock) and the output of binaryen's wasm-opt
// (`binaryen_version` in dev). If one fails after an upgrade, compare it with the script in target/unfinished and correct it.
// To skip this step, remove `--minify-imports-and-exports-and-modules` in `shrink` of wasm_parts.mjs and write `script`
// unchanged; then 4 kB more are transferred.

// Returns the script with the short names, and without functions that the wasm does not import.
export function withShortNames(script, { imports, exports }) {
  const table = only(script, /const import0 = \{\n[^]*?^    \};\n/gm);
  const modules = only(script, /return \{\s+__proto__: null,\s+("[^"]+": [^\n]+,\s+)+\};\n/g);
  const [own, foreign] = [imports.filter(isOwn), imports.filter((each) => !isOwn(each))];
  const names = new Map(own.map(([, name, short]) => [name, short]));
  const functions = table.split(/^(?= {8}\w+: )/m).flatMap((text) => {
    const name = /^ {8}(\w+)/.exec(text)?.[1];
    return names.has(name) ? [text.replace(name, () => names.get(name)).replace(/^ {4}\};\n/m, "")] : [];
  });
  if (functions.length !== own.length) fail(`the script has ${functions.length} of ${own.length} functions`);
  // The script contains these functions under their own names.
  functions.push(...foreign.map(([, name, short]) => `        ${short}: ${name},\n`));

  const shorts = new Map(exports);
  const short = (name) => shorts.get(name) ?? fail(`the wasm does not export ${name}`);
  return script
    .replace(modules, () => "return { a: import0 };\n")
    .replace(table, () => `const import0 = {\n        __proto__: null,\n${functions.join("")}    };\n`)
    .replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${short(name)}`)
    // The exports that the parts share.
    .replace(/(?<=const \{ )[^}]+(?= \} = initSync\()/, (shared) => shared.replace(/\w+/g, (name) => `${short(name)}: ${name}`));
}

function isOwn([module]) {
  return module.endsWith("_bg.js");
}

function only(script, pattern) {
  const found = script.match(pattern) ?? [];
  return found.length === 1 ? found[0] : fail(`${found.length} of ${pattern} in the script`);
}

function fail(message) {
  throw new Error(message);
}
