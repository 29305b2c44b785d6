// Measures the time until the list of models is shown, and its costs.

export const rows = [
  { id: "list", name: "clickable list of 1,000 models", unit: "ms" },
  { id: "list_slow", name: "the same, 4× CPU, 1.6 Mbit/s, 150 ms", unit: "ms" },
  { id: "program_slow", name: "the same, until the program is at work", unit: "ms" },
  { id: "tasks_slow", name: "the same, until tasks are followed", unit: "ms" },
  { id: "few_slow", name: "list of 100, throttled", unit: "ms" },
  { id: "returning", name: "the list of 1,000 on another visit, with what the first one cached", unit: "ms" },
  { id: "cpu", name: "main-thread CPU to the list of 1,000", unit: "ms" },
  { id: "bytes_first", name: "own bytes before the first card", unit: "kB" },
  { id: "bytes", name: "own bytes of a visit to /", unit: "kB" },
  { id: "files_first", name: "own requests before the first card", unit: "" },
  { id: "files", name: "own requests of a visit to /", unit: "" },
  { id: "memory", name: "renderer memory, 10,000 models", unit: "MB" },
];

const firstCard = "bench.firstCard ?? new Promise((done) => { bench.onFirstCard = () => done(bench.firstCard); })";

// Waits until the program runs. In the hand-written page, that is immediately.
const atWork = `new Promise((done) => {
  const check = () => (document.getElementById("boot") ? requestAnimationFrame(check) : done(performance.now()));
  check();
})`;

// Waits until the part that drives tasks is loaded, which adds hearts to the cards.
const tasksFollowed = `new Promise((done) => {
  const check = () => (document.querySelector(".heart") || !document.querySelector(".model-card") ? done(performance.now()) : requestAnimationFrame(check));
  check();
})`;

export async function measure({ browser, serve }) {
  const measured = {};
  const visit = async (options, look) => {
    const page = await browser.page(options);
    const result = await look(page);
    await page.close();
    return result;
  };
  const service = await serve({ models: 1_000 });
  Object.assign(measured, await visit({}, (page) => transferred(page, service.origin)));
  measured.returning = await visit({}, (page) => openedAgain(page, service.origin));
  measured.cpu = await visit({}, (page) => mainThread(browser, page, service.origin));
  await visit({ slow: true }, async (page) => {
    measured.list_slow = await opened(page, service.origin);
    measured.program_slow = await page.run(atWork);
    measured.tasks_slow = await page.run(tasksFollowed);
  });
  const few = await serve({ models: 100 });
  measured.few_slow = await visit({ slow: true }, (page) => opened(page, few.origin));
  const many = await serve({ models: 10_000 });
  measured.memory = await visit({}, (page) => memory(browser, page, many.origin));
  return measured;
}

async function opened(page, origin) {
  await page.open(`${origin}/`);
  return page.run(firstCard);
}

// Opens the page again, after the service worker has cached it. It is installed some seconds after the list is shown.
async function openedAgain(page, origin) {
  await opened(page, origin);
  await page.rest(4_000);
  await page.open("about:blank");
  return opened(page, origin);
}

async function transferred(page, origin) {
  const files = new Map();
  page.on("Network.requestWillBeSent", ({ requestId, request, timestamp }) => {
    const { origin: of, pathname } = new URL(request.url);
    if (of === origin && !pathname.startsWith("/api/")) files.set(requestId, { bytes: 0, begun: timestamp });
  });
  page.on("Network.loadingFinished", ({ requestId, timestamp, encodedDataLength }) => {
    const file = files.get(requestId);
    if (file) Object.assign(file, { bytes: encodedDataLength, ended: timestamp });
  });
  const list = await opened(page, origin);
  await page.rest();
  const all = [...files.values()];
  const began = Math.min(...all.map(({ begun }) => begun));
  const first = all.filter(({ ended }) => (ended - began) * 1_000 <= list);
  const sum = (files) => files.reduce((sum, { bytes }) => sum + bytes, 0) / 1_000;
  return { list, bytes_first: sum(first), bytes: sum(all), files_first: first.length, files: all.length };
}

// Measures CPU time, which does not include the other work of the machine.
async function mainThread(browser, page, origin) {
  const { events } = await browser.traced(() => opened(page, origin));
  const mark = events.find(({ name }) => name === "first card");
  const begin = events.find(({ name, pid, args }) =>
    name === "navigationStart" && pid === mark.pid && args.data?.documentLoaderURL?.startsWith(origin));
  const tasks = events.filter(({ name, pid, tid, ts }) =>
    name === "ThreadControllerImpl::RunTask" && pid === mark.pid && tid === mark.tid && ts >= begin.ts && ts <= mark.ts);
  return tasks.reduce((sum, { tdur }) => sum + (tdur ?? 0), 0) / 1_000;
}

async function memory(browser, page, origin) {
  await opened(page, origin);
  await page.rest(1_500);
  await page.call("HeapProfiler.collectGarbage");
  await page.rest(500);
  return browser.rendererMemory() / 1e6 || undefined;
}
