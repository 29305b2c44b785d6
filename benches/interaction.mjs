// What a person does with the list and with a form of 200 parameters.

import { median, quantile } from "./numbers.mjs";

export const rows = [
  { id: "form", name: "form of 200 parameters: click to its first fields painted", unit: "ms" },
  { id: "form_whole", name: "the same, to its last field", unit: "ms" },
  { id: "form_again", name: "opened again: click to its first fields painted", unit: "ms" },
  { id: "key", name: "key in that form, p95", unit: "ms" },
  { id: "search", name: "search at 10,000 models: settled after a key", unit: "ms" },
  { id: "search_slowest", name: "the same, slowest key", unit: "ms" },
  { id: "letter", name: "the typed letter itself", unit: "ms" },
];

const KEYS = "a quiet harbour at dawn, in fog, with gulls";
const SEARCHES = ["portrait", "voice 77", "landscpae", "studio anime"];

export async function measure({ browser, serve }) {
  const page = await browser.page();
  const { origin } = await serve({ models: 1_000 });
  await page.open(`${origin}/`);
  await page.run("bench.firstCard");
  await page.rest();
  const first = await openForm(page);
  await page.rest();
  const key = await typeInForm(page);
  await page.run("history.back()");
  await page.painted("document.querySelector('li h3 a')");
  await page.rest();
  const again = await openForm(page);
  await page.close();
  return {
    form: first.first, form_whole: first.whole, form_again: again.first,
    key: quantile(key, 0.95), ...await search(browser, serve),
  };
}

async function openForm(page) {
  const [x, y] = await page.run(`(() => {
    const { left, top } = document.querySelector("li h3 a").getBoundingClientRect();
    return [left + 20, top + 8];
  })()`);
  const opened = await page.begin(`new Promise((done) => addEventListener("click", ({ timeStamp }) => {
    const since = (time) => time - timeStamp;
    Promise.all([
      bench.painted(() => document.querySelector("form textarea")),
      bench.painted(() => document.querySelectorAll("form .field").length >= 200),
    ]).then(([first, whole]) => done({ first: since(first), whole: since(whole) }));
  }, { capture: true, once: true }))`);
  await page.click(x, y);
  return opened();
}

async function typeInForm(page) {
  await page.run("document.querySelector('form textarea').focus()");
  const times = [];
  for (const letter of KEYS) times.push((await pressed(page, letter)).settled);
  return times;
}

async function search(browser, serve) {
  const page = await browser.page();
  const { origin } = await serve({ models: 10_000 });
  await page.open(`${origin}/`);
  await page.run("bench.firstCard");
  await page.rest();
  await page.run("document.querySelector('input[type=search]').focus()");
  await page.rest();
  const times = [];
  for (const word of SEARCHES) {
    for (const letter of word) times.push(await pressed(page, letter));
    await page.run("document.activeElement.select()");
    await pressed(page, "Backspace");
  }
  await page.close();
  const settled = times.map(({ settled }) => settled);
  return { search: median(settled), search_slowest: Math.max(...settled), letter: median(times.map(({ letter }) => letter)) };
}

export async function pressed(page, letter) {
  const seen = await page.begin(`bench.after("keydown")`);
  await page.press(letter);
  return seen();
}
