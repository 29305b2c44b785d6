// Says whether a run of `cargo test` has run every test that stands in the sources of its targets, and fails
// if not: `node counted.mjs LOG COMMAND…`, the command as it was run. Those that failed, were ignored, or
// left out by a filter count as run: what is looked for is a test that no runner has ever heard of.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { contents, targets } from "./sources.mjs";

const [log, ...command] = process.argv.slice(2);
const end = command.indexOf("--");
const options = end < 0 ? command : command.slice(0, end);
const values = (name) => options.flatMap((each, at) =>
  each === name ? [options[at + 1]] : each.startsWith(`${name}=`) ? [each.slice(name.length + 1)] : []);
const [packages, named] = [values("-p"), values("--test")];
const conditions = {
  features: values("--features").flatMap((each) => each.split(",")),
  wasm: values("--target").some((each) => each.startsWith("wasm32")),
};
const wanted = targets().filter((each) => packages.includes(each.package) &&
  (named.length > 0 ? each.kind === "test" && named.includes(each.name) : each.tested));

// What each target says: how many tests it knows, and which it has named.
const said = new Map();
let current = null;
for (const line of readFileSync(log, "utf8").replace(/\x1b\[[0-9;]*m/g, "").split("\n")) {
  const running = /^\s+Running (?:unittests )?(\S+) \((.+)\)$/.exec(line);
  if (running) {
    const name = basename(running[2]).replace(/-[0-9a-f]+(\.\w+)?$/, "");
    const target = wanted.find((each) => each.root.endsWith(running[1]) && each.name.replaceAll("-", "_") === name.replaceAll("-", "_"));
    current = { count: null, names: new Set() };
    if (target) said.set(target, current);
  } else if (/^\s+Doc-tests /.test(line)) current = null;
  else if (current && line === "no tests to run!") current.count = 0;
  else if (current && line.startsWith("test result:")) {
    const numbers = line.matchAll(/(\d+) (?:passed|failed|ignored|measured|filtered out)/g);
    current.count = [...numbers].reduce((sum, [, number]) => sum + Number(number), 0);
  } else if (current) {
    const name = /^test (\S+)/.exec(line)?.[1];
    if (name) current.names.add(name);
  }
}
// Nothing was built, and whoever called this has seen that.
if (said.size === 0) process.exit(0);

const problems = [];
let sum = 0;
for (const target of wanted) {
  const { tests, uncountable } = contents(target.root, conditions);
  sum += tests.length;
  problems.push(...uncountable.map((each) => `${each}: write its tests out, so that they can be counted`));
  const heard = said.get(target);
  if (!heard) {
    if (tests.length > 0) problems.push(`${target.root}: not run, and ${tests.length} tests with it`);
  } else if (heard.count === null) {
    problems.push(`${target.root}: ended before it said how many tests it has run`);
  } else if (heard.count !== tests.length) {
    const silent = tests.filter((test) => !heard.names.has(test));
    problems.push(`${target.root}: ${heard.count} tests run, ${tests.length} in its sources` +
      `${silent.length > 0 ? `; not heard of: ${silent.join(", ")}` : ""}`);
  }
}
for (const problem of problems) console.log(problem);
if (problems.length === 0) console.log(`all ${sum} tests in the sources of these ${wanted.length} targets are accounted for`);
process.exit(problems.length > 0 ? 1 : 0);
