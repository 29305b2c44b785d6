// Says which modules of a crate import each other in a circle, and fails if there are any: `node circles.mjs`.
// What is in a circle can only be understood, tested and moved as a whole.
//
// A module and those inside it are one thing in several files: what the inner one takes of the one around it
// (`use super::…`) is no circle. Whoever takes a name that a module only hands on takes it from where it is
// made. Tests may use anything.

import { contents, targets } from "./sources.mjs";

// Circles that may stay: `crate: a::module` of each, and why.
const ALLOWED = new Map([]);

// What drives browsers has its parts in one type (`Browser`), a file for each engine.
const ROOMS = ["atelier-contract", "atelier-engine", "atelier-studio", "atelier", "atelier-procedural", "atelier-service"];

const problems = targets().filter((each) => each.kind === "lib" && ROOMS.includes(each.package)).flatMap(({ package: name, root }) => circles(name, root));
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function circles(crate, root) {
  const { modules } = contents(root, { tests: false });
  for (const [path, module] of modules) Object.assign(module, importsOf(path, module.code, modules));
  const graph = new Map([...modules.keys()].map((path) => [path, edges(path, modules)]));
  return components(graph)
    .filter((each) => each.length > 1 && !each.some((path) => ALLOWED.has(`${crate}: ${path}`)))
    .map((each) => {
      const ring = shortestCircle(each, graph);
      const others = each.filter((path) => !ring.includes(path)).sort();
      return `${crate}: ${[...ring, ring[0]].join(" → ")}${others.length > 0 ? `; in circles with these: ${others.join(", ")}` : ""}`;
    });
}

// What a module binds by `use` (a path by each name; what it takes all of), and which paths it writes out.
function importsOf(path, code, modules) {
  const names = new Map();
  const globs = [];
  const paths = [];
  const here = path === "" ? [] : path.split("::");
  const from = (segments) => absolute(segments, here, modules);
  const rest = code.replace(/\buse\s+([^;]+);/g, (_, tree) => {
    for (const { segments, name } of flattened(tree)) {
      const target = from(segments);
      if (!target) continue;
      if (name === "*") globs.push(target);
      else names.set(name, target);
      paths.push(target);
    }
    return "";
  });
  for (const [text] of rest.matchAll(/(?<![\w:])\w+(?:::\w+)+/g)) {
    const [first, ...more] = text.split("::");
    const target = names.has(first) ? [...names.get(first), ...more] : from([first, ...more]);
    if (target) paths.push(target);
  }
  return { names, globs, paths };
}

// `a::{b, c as d}` as its paths, each with the name that it has here.
function flattened(tree, before = []) {
  const text = tree.trim();
  const brace = text.indexOf("{");
  if (brace >= 0) {
    const inner = text.slice(brace + 1, text.lastIndexOf("}"));
    const parts = [""];
    let depth = 0;
    for (const letter of inner) {
      depth += { "{": 1, "}": -1 }[letter] ?? 0;
      if (letter === "," && depth === 0) parts.push("");
      else parts[parts.length - 1] += letter;
    }
    const prefix = [...before, ...text.slice(0, brace).split("::").map((each) => each.trim()).filter(Boolean)];
    return parts.filter((part) => part.trim()).flatMap((part) => flattened(part, prefix));
  }
  const [path, alias] = text.split(/\s+as\s+/);
  let segments = [...before, ...path.split("::").map((each) => each.trim()).filter(Boolean)];
  if (segments.at(-1) === "*") return [{ segments: segments.slice(0, -1), name: "*" }];
  if (segments.at(-1) === "self" && segments.length > 1) segments = segments.slice(0, -1);
  return [{ segments, name: alias ?? segments.at(-1) }];
}

// From the crate's root; nothing for what is of another crate.
function absolute([first, ...more], here, modules) {
  if (first === "crate") return more;
  if (first === "self") return [...here, ...more];
  if (first === "super") {
    const up = here.slice(0, -1);
    return more[0] === "super" ? absolute(more, up, modules) : [...up, ...more];
  }
  return modules.has([...here, first].join("::")) ? [...here, first, ...more] : undefined;
}

// The module in which what has this path is made.
function home(path, modules, seen = new Set()) {
  let length = 0;
  while (length < path.length && modules.has(path.slice(0, length + 1).join("::"))) length++;
  const module = path.slice(0, length).join("::");
  if (length === path.length || seen.has(path.join())) return { module, isModule: length === path.length };
  seen.add(path.join());
  const { names, globs, code } = modules.get(module);
  const [name, ...more] = path.slice(length);
  if (names.has(name)) return home([...names.get(name), ...more], modules, seen);
  const makes = new RegExp(`\\b(?:fn|struct|enum|union|trait|type|const|static|mod)\\s+${name}\\b`);
  const glob = globs.find((each) => makes.test(modules.get(each.join("::"))?.code ?? ""));
  return !makes.test(code) && glob ? home([...glob, name, ...more], modules, seen) : { module, isModule: false };
}

function edges(from, modules) {
  const found = new Set();
  for (const path of modules.get(from).paths) {
    const { module, isModule } = home(path, modules);
    // A module that is named to say where something is; what is taken from it stands in a path of its own.
    if (isModule) continue;
    const isAround = module === "" || from === module || from.startsWith(`${module}::`);
    if (!isAround) found.add(module);
  }
  return found;
}

// Tarjan's strongly connected components.
function components(graph) {
  const [index, low, stack, found] = [new Map(), new Map(), [], []];
  const visit = (node) => {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    for (const next of graph.get(node)) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node), low.get(next)));
    }
    if (low.get(node) === index.get(node)) found.push(stack.splice(stack.indexOf(node)));
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}

function shortestCircle(nodes, graph) {
  const rings = nodes.map((begin) => {
    const ways = [[begin]];
    const seen = new Set();
    for (const way of ways) {
      for (const next of graph.get(way.at(-1))) {
        if (next === begin) return way;
        if (nodes.includes(next) && !seen.has(next)) ways.push([...way, next]);
        seen.add(next);
      }
    }
  });
  return rings.reduce((best, ring) => (ring.length < best.length ? ring : best));
}
