// Measures how long it takes to open forms of several sizes, and counts other costs, which are the same in each run.

import { quantile } from "./numbers.mjs";

const SIZES = [10, 50, 200];
const SMALLEST = Math.min(...SIZES);
const LARGEST = Math.max(...SIZES);

export const rows = [
  ...SIZES.flatMap((size) => [
    { id: `form_${size}`, name: `form of ${size} parameters: click to its last field painted`, unit: "ms" },
    { id: `form_${size}_again`, name: "opened again", unit: "ms" },
  ]),
  { id: "form_first", name: `form of ${LARGEST} parameters: click to its first fields painted`, unit: "ms" },
  { id: "form_busy", name: "its main-thread time, opened again", unit: "ms" },
  { id: "form_styled", name: "elements whose style was computed meanwhile", unit: "" },
  { id: "form_layouts", name: "layouts meanwhile", unit: "" },
  { id: "form_nodes", name: "nodes per field", unit: "" },
  { id: "form_pointed", name: `form of ${SMALLEST} parameters, first opening, the pointer over its link before`, unit: "ms" },
  { id: "form_compiled", name: "functions of wasm compiled in its first opening without that", unit: "" },
  { id: "key", name: "key in that form, p95", unit: "ms" },
];

const KEYS = "a quiet harbour at dawn, in fog, with gulls";

export async function measure({ browser, serve }) {
  const values = {};
  for (const size of SIZES) {
    const { origin } = await serve({ models: 1_000, parameters: size });
    if (size === SMALLEST) Object.assign(values, await otherOpenings(browser, origin, size));
    const page = await list(browser, origin);
    const first = await openForm(page, size);
    values[`form_${size}`] = first.whole;
    await page.rest();
    if (size === LARGEST) {
      Object.assign(values, { form_first: first.first, key: quantile(await typeInForm(page), 0.95) });
      values.form_nodes = await nodesPerField(page);
    }
    await backToList(page);
    values[`form_${size}_again`] = (await openForm(page, size)).whole;
    if (size === LARGEST) {
      await page.rest();
      await backToList(page);
      Object.assign(values, await costs(browser, page, size));
    }
    await page.close();
  }
  return values;
}

async function list(browser, origin) {
  const page = await browser.page();
  await page.open(`${origin}/`);
  await page.painted("document.querySelector('li h3 a')");
  await page.rest();
  return page;
}

async function otherOpenings(browser, origin, size) {
  const pointed = await list(browser, origin);
  await pointed.point(...(await firstLink(pointed)));
  await pointed.rest(500);
  const { whole } = await openForm(pointed, size);
  await pointed.close();
  const page = await list(browser, origin);
  const { events } = await browser.traced(() => openForm(page, size), ["v8.wasm"]);
  await page.close();
  return { form_pointed: whole, form_compiled: events.filter(({ name }) => name === "wasm.CompileLazy").length };
}

function firstLink(page) {
  return page.run(`(() => {
    const { left, top } = document.querySelector("li h3 a").getBoundingClientRect();
    return [left + 20, top + 8];
  })()`);
}

function nodesPerField(page) {
  return page.run(`(() => {
    const count = (node) => [...node.childNodes].reduce((sum, child) => sum + count(child), 1);
    const fields = [...document.querySelectorAll("form .field")];
    return fields.reduce((sum, field) => sum + count(field), 0) / fields.length;
  })()`);
}

// Counts the costs of opening a form again; `./dev test` checks them. On a busy machine, the same work may take more frames, which
// increases the counts. So the lowest of three counts is used.
export async function counts({ browser, serve }) {
  const { origin } = await serve({ models: 100, parameters: LARGEST });
  const page = await list(browser, origin);
  await openForm(page, LARGEST);
  const [styled, layouts] = [[], []];
  for (let opening = 0; opening < 3; opening += 1) {
    await page.rest();
    await backToList(page);
    const { form_styled, form_layouts } = await costs(browser, page, LARGEST);
    styled.push(form_styled);
    layouts.push(form_layouts);
  }
  const elements = await page.run("document.querySelector('main').querySelectorAll('*').length");
  const nodes = await nodesPerField(page);
  await page.close();
  return { elements, layouts: Math.min(...layouts), nodes, styled: Math.min(...styled) };
}

async function backToList(page) {
  await page.run("history.back()");
  await page.painted("document.querySelector('li h3 a')");
  await page.rest();
}

// Measures the work of the page from the click until all fields are painted.
async function costs(browser, page, size) {
  const { events } = await browser.traced(async () => {
    await openForm(page, size);
    await page.run("performance.mark('form painted')");
  });
  const end = events.find(({ name }) => name === "form painted");
  const named = (name) =>
    events.filter((event) => event.name === name && event.ph === "X" && event.pid === end.pid && event.tid === end.tid && event.ts <= end.ts);
  // SVG images are documents as well.
  const { frameTree } = await page.call("Page.getFrameTree");
  const ofPage = ({ args }) => args.beginData?.frame === frameTree.frame.id;
  const total = (list, of) => list.reduce((sum, event) => sum + of(event), 0);
  return {
    form_busy: total(named("ThreadControllerImpl::RunTask"), ({ dur }) => dur ?? 0) / 1_000,
    form_styled: total(named("UpdateLayoutTree").filter(ofPage), ({ args }) => args?.elementCount ?? 0),
    form_layouts: named("Layout").filter(ofPage).length,
  };
}

async function openForm(page, size) {
  const [x, y] = await firstLink(page);
  const opened = await page.begin(`new Promise((done) => addEventListener("click", ({ timeStamp }) => {
    const since = (time) => time - timeStamp;
    Promise.all([
      bench.painted(() => document.querySelector("form textarea")),
      bench.painted(() => document.querySelectorAll("form .field").length >= ${size}),
    ]).then(([first, whole]) => done({ first: since(first), whole: since(whole) }));
  }, { capture: true, once: true }))`);
  await page.click(x, y);
  return opened();
}

async function typeInForm(page) {
  await page.run("document.querySelector('form textarea').focus()");
  const times = [];
  for (const letter of KEYS) {
    const seen = await page.begin(`bench.after("keydown")`);
    await page.press(letter);
    times.push((await seen()).settled);
  }
  return times;
}
