// Counts the costs of opening a form of 200 parameters, and fails if they exceed the limits: `node counts.mjs SITE`.

import { Chromium } from "./chromium.mjs";
import { counts } from "./forms.mjs";
import { Service } from "./service.mjs";

const NODES_PER_FIELD = 20;
const STYLED_PER_ELEMENT = 1.5;
const LAYOUTS = 4;

const MINUTES = 4;

const services = [];
const serve = async (options) => {
  services.push(await Service.start(process.argv[2], options));
  return services.at(-1);
};
const browser = await Chromium.start();
setTimeout(() => {
  console.error(`no result after ${MINUTES} minutes`);
  browser.process.kill("SIGKILL");
  process.exit(1);
}, MINUTES * 60_000).unref();
try {
  const { elements, layouts, nodes, styled } = await counts({ browser, serve });
  const limits = [
    ["nodes per field", nodes, NODES_PER_FIELD],
    [`elements restyled, of ${elements}`, styled, STYLED_PER_ELEMENT * elements],
    ["layouts", layouts, LAYOUTS],
  ];
  for (const [name, count, limit] of limits) {
    console.log(`${count.toFixed(1).padStart(9)}  ${name}; the limit is ${limit}`);
    // A count of zero means that the browser uses other event names.
    if (!(count > 0 && count <= limit)) process.exitCode = 1;
  }
} finally {
  await browser.stop();
  for (const service of services) await service.stop();
}
