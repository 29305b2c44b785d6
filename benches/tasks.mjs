// Measures a thousand tasks at once: submitting, polling and listing them, and packing their outputs. Only for Atelier, because the
// hand-written page has no tasks.

import { pressed } from "./interaction.mjs";
import { median } from "./numbers.mjs";

export const rows = [
  { id: "rows_key", name: "table of 1,000 rows: settled after a key, median", unit: "ms" },
  { id: "rows_longest", name: "the same, and while it is stored: longest task", unit: "ms" },
  { id: "submit_longest", name: "1,000 items submitted at once: longest task", unit: "ms" },
  { id: "poll_calls", name: "1,000 running: calls in a round", unit: "" },
  { id: "poll_cpu", name: "the same: main-thread CPU in a round", unit: "ms" },
  { id: "poll_longest", name: "the same: longest task", unit: "ms" },
  { id: "tasks_opened", name: "Tasks with 2,000: opened", unit: "ms" },
  { id: "tasks_longest", name: "the same: longest task", unit: "ms" },
  { id: "tasks_key", name: "the same: settled after a key in its search, median", unit: "ms" },
  { id: "zip", name: "ZIP of 200 outputs", unit: "ms" },
  { id: "zip_longest", name: "the same: longest task", unit: "ms" },
];

export const isOfOurs = true;

const MODEL = "/models/text-to-image/studio-portrait-0";
const ITEMS = 1_000;
const TASKS = 2_000;
const OUTPUTS = 200;

// The number of rounds of polls to measure.
const ROUNDS = 2;

export async function measure({ browser, serve }) {
  const measured = {};
  for (const scenario of [submit, follow, history, pack]) Object.assign(measured, await scenario(browser, serve));
  return measured;
}

async function submit(browser, serve) {
  const service = await serve({ models: 10, parameters: 6, running: true });
  const page = await browser.page();
  await compose(page, service.origin, ITEMS);
  await page.run(`document.querySelector('[aria-label="prompt, row 2"]').focus()`);
  let keys;
  const typed = await busy(browser, page, async () => {
    keys = await type(page, "and a dog");
    await page.rest(1_000);
  });
  await page.run(`${button(`Generate ${ITEMS}`)}.click()`);
  await page.rest(300);
  const sent = await busy(browser, page, async () => {
    await page.run(`${button("Send them")}.click()`);
    await until(() => items(service, "/v2/generate-batch") >= ITEMS / 10);
  });
  await page.close();
  return { rows_key: median(keys), rows_longest: typed.longest, submit_longest: sent.longest };
}

async function follow(browser, serve) {
  const service = await serve({ models: 10, running: true });
  const page = await withStored(browser, service, ITEMS, "running");
  await page.open(`${service.origin}/tasks`);
  const polls = () => items(service, "/v2/status-batch");
  await until(() => polls() >= ITEMS);
  const [before, calls] = [polls(), service.calls.length];
  const followed = await busy(browser, page, () => until(() => polls() >= before + ROUNDS * ITEMS));
  const rounds = (polls() - before) / ITEMS;
  await page.close();
  return {
    poll_calls: (service.calls.length - calls) / rounds, poll_cpu: followed.cpu / rounds, poll_longest: followed.longest,
  };
}

async function history(browser, serve) {
  const service = await serve({ models: 10 });
  const page = await withStored(browser, service, TASKS, "ready");
  let opened;
  const reloaded = await busy(browser, page, async () => {
    await page.open(`${service.origin}/tasks`);
    opened = await page.painted("document.querySelectorAll('ul[aria-label=Tasks] li, ol[aria-label=Tasks] li').length > 3");
  });
  await page.rest(300);
  await page.run("document.querySelector('input[type=search]').focus()");
  const keys = await type(page, "harbour 10");
  await page.close();
  return { tasks_opened: opened, tasks_longest: reloaded.longest, tasks_key: median(keys) };
}

async function pack(browser, serve) {
  const service = await serve({ models: 10, parameters: 6 });
  const page = await browser.page();
  await compose(page, service.origin, OUTPUTS);
  await page.run(`${button(`Generate ${OUTPUTS}`)}.click()`);
  await page.run(`document.querySelector("dialog[open]") && ${button("Send them")}.click()`);
  await page.painted(`document.querySelector('.stretches')?.ariaValueNow == '${OUTPUTS}'`);
  await page.rest(300);
  let packed;
  const work = await busy(browser, page, async () => {
    packed = await page.run(`new Promise((done) => {
      const begun = performance.now();
      ${button("Download all")}.click();
      bench.painted(() => document.body.innerText.includes(".zip saved")).then((time) => done(time - begun));
    })`);
  });
  await page.close();
  return { zip: packed, zip_longest: work.longest };
}

// Types a text. Returns the time until the page has settled, for each key.
async function type(page, text) {
  const times = [];
  for (const letter of text) times.push((await pressed(page, letter)).settled);
  return times;
}

async function compose(page, origin, count) {
  await page.open(`${origin}${MODEL}?mode=batch`);
  await page.painted("document.querySelector('#prompts')");
  await page.run("document.querySelector('#prompts').focus()");
  const text = Array.from({ length: count }, (_, n) => `a harbour at dawn, number ${n}, with gulls and one small lamp`).join("\n");
  await page.call("Input.insertText", { text });
  await page.painted(`${button(`Generate ${count}`)}?.disabled === false`);
  await page.rest(500);
}

// Opens a page in a browser that has stored this many tasks.
async function withStored(browser, { origin }, count, state) {
  const page = await browser.page();
  await page.open(`${origin}/tasks`);
  await page.painted("document.body.innerText.includes('Nothing submitted yet')");
  await page.run(`(${store})(${count}, "${state}")`);
  return page;
}

function button(name) {
  return `[...document.querySelectorAll("button")].find((button) => button.textContent.trim() === "${name}")`;
}

// Measures the CPU time of the page's main thread while `act` runs, in ms: in total, and of the longest task.
async function busy(browser, page, act) {
  const { events } = await browser.traced(async () => {
    await page.run("performance.mark('bench begins')");
    await act();
  });
  const mark = events.find(({ name }) => name === "bench begins");
  const tasks = events.filter(({ name, pid, tid, ts }) =>
    name === "ThreadControllerImpl::RunTask" && pid === mark.pid && tid === mark.tid && ts >= mark.ts);
  const times = tasks.map(({ tdur }) => (tdur ?? 0) / 1_000);
  return { cpu: times.reduce((sum, time) => sum + time, 0), longest: Math.max(...times) };
}

function items(service, path) {
  return service.calls.filter(({ pathname }) => pathname === path).reduce((sum, { items }) => sum + items, 0);
}

async function until(condition) {
  while (!condition()) await new Promise((done) => setTimeout(done, 20));
}

// Runs in the page: stores tasks in Atelier's format, which finished a while ago or were sent just now.
function store(count, word) {
  const model = { category: "text-to-image", subcategory: "studio-portrait-0" };
  const picture = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";
  const states = {
    ready: (n) => ({ state: { state: "ready", id: `t${n}`, outputs: [picture] }, finished: 1.7e12 + n * 60_000 + 5_000 }),
    running: (n) => ({ state: { state: "running", id: `t${n}`, word: "processing" }, accepted: Date.now() }),
  };
  const task = (n) => ({
    key: `many-${n}`, account: { address: "", uid: "guest" }, model, model_name: "Studio portrait 0",
    input: { model, values: { prompt: `a harbour at dawn, number ${n}` } }, watching: true,
    created: word === "running" ? Date.now() : 1.7e12 + n * 60_000, ...states[word](n),
  });
  return new Promise((done, failed) => {
    const opening = indexedDB.open("atelier");
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction("tasks", "readwrite");
      for (let n = 0; n < count; n += 1) transaction.objectStore("tasks").put(JSON.stringify(task(n)), task(n).key);
      transaction.oncomplete = () => { database.close(); done(true); };
      transaction.onabort = failed;
    };
  });
}
