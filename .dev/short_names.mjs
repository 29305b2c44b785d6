// wasm and wasm-bindgen's script know each other's functions by long names with sixteen random digits
// each, which no compression makes smaller. wasm-opt gives them names of a letter or two in the wasm, and
// says which (`--minify-imports-and-exports-and-modules`); here the script gets the same ones.
//
// Whatever is not as it is expected is an error: a page with a name that does not match would not begin.
//
// The patterns are of the script that wasm-bindgen writes (its version is that of Cargo.lock), and of what
// binaryen's wasm-opt prints (`binaryen_version` in dev). Where one fails after an upgrade, look at the script
// in target/unfinished and correct the pattern. To go on without this step, in finish.mjs's `shrink`: leave
// `--minify-imports-and-exports-and-modules` away and write `script` as it is; 4 kB more are transferred.

// The script with these names. What the wasm does not import (any more) goes.
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
  // These the script has under their own names.
  functions.push(...foreign.map(([, name, short]) => `        ${short}: ${name},\n`));

  const shorts = new Map(exports);
  const short = (name) => shorts.get(name) ?? fail(`the wasm does not export ${name}`);
  return script
    .replace(modules, () => "return { a: import0 };\n")
    .replace(table, () => `const import0 = {\n        __proto__: null,\n${functions.join("")}    };\n`)
    .replace(/\bwasm\.(\w+)/g, (_, name) => `wasm.${short(name)}`)
    // What the parts share.
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
