// Measures the search in the list of models.

import { median } from "./numbers.mjs";

export const rows = [
  { id: "search", name: "search at 10,000 models: settled after a key", unit: "ms" },
  { id: "search_slowest", name: "the same, slowest key", unit: "ms" },
  { id: "letter", name: "the typed letter itself", unit: "ms" },
];

const SEARCHES = ["portrait", "voice 77", "landscpae", "studio anime"];

export async function measure({ browser, serve }) {
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
