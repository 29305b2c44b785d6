// Compares the built page with a hand-written one (by-hand.html). Both are measured alternately in one run, because only ratios
// can be compared between machines and days, not times.
//
// `node bench.mjs SITE JSON RUNS [BEFORE]`: prints a table, and writes all measurements to JSON. BEFORE is another build of the
// page, which is measured as well.

import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { Chromium } from "./chromium.mjs";
import * as firstView from "./first_view.mjs";
import * as forms from "./forms.mjs";
import * as interaction from "./interaction.mjs";
import { median } from "./numbers.mjs";
import { Service } from "./service.mjs";
import * as tasks from "./tasks.mjs";

const [site, output, runs, before] = process.argv.slice(2);
const byHand = fileURLToPath(new URL("by-hand.html", import.meta.url));
const PAGES = [["by hand", byHand], ["Atelier", site]];
if (before) PAGES.push(["before", before]);
const SCENARIOS = [firstView, forms, interaction, tasks];

const measured = Object.fromEntries(PAGES.map(([page]) => [page, {}]));
let version;

for (let run = 0; run < runs; run += 1) {
  for (const scenario of SCENARIOS) {
    for (const [page, files] of PAGES) {
      if (scenario.isOfOurs && files === byHand) continue;
      process.stderr.write(`\rrun ${run + 1} of ${runs}: ${page}        `);
      const values = await measure(scenario, files);
      for (const [id, value] of Object.entries(values)) (measured[page][id] ??= []).push(value);
    }
  }
}
process.stderr.write("\r");
report();

async function measure(scenario, site) {
  const services = [];
  const serve = async (options) => {
    const service = await Service.start(site, options);
    services.push(service);
    return service;
  };
  const browser = await Chromium.start();
  try {
    version ??= (await browser.call("Browser.getVersion")).product;
    return await scenario.measure({ browser, serve });
  } finally {
    await browser.stop();
    for (const service of services) await service.stop();
  }
}

function report() {
  const machine = `${cpus().length} × ${cpus()[0].model}, ${version}`;
  const date = new Date().toISOString().slice(0, 10);
  const rows = SCENARIOS.flatMap((scenario) => scenario.rows).map((row) => {
    const pages = Object.fromEntries(PAGES.map(([page]) => [page, summary(measured[page][row.id])]));
    const [limit, own] = [pages["by hand"], pages.Atelier];
    return { ...row, ...pages, ratio: limit && own && own.median / limit.median };
  });
  writeFileSync(output, `${JSON.stringify({ date, machine, runs: Number(runs), rows }, null, 2)}\n`);
  console.log(`${date}, ${machine}; medians of ${runs} (lowest – highest)\n`);
  const names = PAGES.map(([page]) => page);
  const cells = [["", ...names, "ratio"], ["---", ...names.map(() => "---:"), "---:"]].concat(rows.map((row) => [
    row.unit ? `${row.name} (${row.unit})` : row.name,
    ...names.map((page) => words(row[page])),
    row.ratio?.toFixed(2) ?? "",
  ]));
  for (const line of cells) console.log(`| ${line.join(" | ")} |`);
}

function summary(values = []) {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return null;
  return { median: median(known), lowest: Math.min(...known), highest: Math.max(...known), values: known };
}

function words(summary) {
  if (!summary) return "–";
  const { median, lowest, highest } = summary;
  const short = (value) => (value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1));
  return lowest === highest ? `${short(median)}` : `${short(median)} (${short(lowest)} – ${short(highest)})`;
}
