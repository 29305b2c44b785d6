// Controls a headless Chromium with the DevTools protocol through a pipe, so that only Node.js is needed.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BINARIES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

// The timeout after which a browser that does not respond counts as hung, in ms.
const TIMEOUT = 60_000;

const ON_A_MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

const FLAGS = [
  "--headless", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-quic", "--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe",
];

export class Chromium {
  #waiting = new Map();
  #listeners = new Map();
  #next = 0;

  static async start() {
    const browser = new Chromium();
    browser.profile = mkdtempSync(join(tmpdir(), "atelier-bench-"));
    const binary = process.env.CHROMIUM ?? find();
    const flags = [...FLAGS, `--user-data-dir=${browser.profile}`, "--window-size=1440,900", "about:blank"];
    browser.process = spawn(binary, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const [input, output] = [browser.process.stdio[3], browser.process.stdio[4]];
    browser.input = input;
    browser.ended = new Promise((done) => browser.process.once("close", done));
    const end = (reason) => browser.#end(reason);
    browser.process.once("error", end);
    browser.process.once("exit", () => end(new Error("the browser process has ended")));
    input.on("error", end);
    let parts = [];
    output.on("data", (part) => {
      let end;
      while ((end = part.indexOf(0)) >= 0) {
        browser.#receive(JSON.parse(Buffer.concat([...parts, part.subarray(0, end)])));
        parts = [];
        part = part.subarray(end + 1);
      }
      if (part.length) parts.push(part);
    });
    return browser;
  }

  async stop() {
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 5_000);
    this.call("Browser.close").catch(() => {});
    await this.ended;
    clearTimeout(timer);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  call(method, params = {}, sessionId = undefined) {
    const id = (this.#next += 1);
    this.input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((done, failed) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        failed(new Error(`${method}: no response after ${TIMEOUT / 1_000} s`));
      }, TIMEOUT);
      this.#waiting.set(id, { done, failed, method, timer });
    });
  }

  // Rejects all pending calls.
  #end(reason) {
    for (const { failed, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      failed(reason);
    }
    this.#waiting.clear();
  }

  on(event, sessionId, listener) {
    const name = `${sessionId ?? ""} ${event}`;
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  // Waits for the next event with this name.
  event(name, sessionId) {
    return new Promise((done, failed) => {
      const timer = setTimeout(() => (stop(), failed(new Error(`${name}: no such event after ${TIMEOUT / 1_000} s`))), TIMEOUT);
      const stop = this.on(name, sessionId, (params) => (stop(), clearTimeout(timer), done(params)));
    });
  }

  #receive({ id, sessionId, method, params, result, error }) {
    if (id === undefined) {
      for (const listener of this.#listeners.get(`${sessionId ?? ""} ${method}`) ?? []) listener(params);
      return;
    }
    const waiting = this.#waiting.get(id);
    // The response may be later than the timeout.
    if (!waiting) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error) waiting.failed(new Error(`${waiting.method}: ${error.message}`));
    else waiting.done(result);
  }

  // Opens a page in a new browser context, without a cache. `slow` simulates a slow phone on a slow connection.
  async page({ slow = false } = {}) {
    const { browserContextId } = await this.call("Target.createBrowserContext");
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await this.call("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, browserContextId);
    await page.call("Page.enable");
    await page.call("Runtime.enable");
    await page.call("Network.enable");
    await page.call("Page.addScriptToEvaluateOnNewDocument", { source: PROBE });
    if (slow) {
      const rate = 1.6e6 / 8;
      const line = { offline: false, latency: 150, downloadThroughput: rate, uploadThroughput: rate };
      await page.call("Network.emulateNetworkConditions", line);
      await page.call("Emulation.setCPUThrottlingRate", { rate: 4 });
    }
    return page;
  }

  // Records a trace while `act` runs. Returns the result of `act` and the events.
  async traced(act, categories = ["toplevel", "blink.user_timing", "devtools.timeline"]) {
    const events = [];
    const stopListening = this.on("Tracing.dataCollected", undefined, ({ value }) => events.push(...value));
    const traceConfig = { includedCategories: categories, excludedCategories: ["*"] };
    await this.call("Tracing.start", { transferMode: "ReportEvents", traceConfig });
    const result = await act();
    const complete = this.event("Tracing.tracingComplete", undefined);
    await this.call("Tracing.end");
    await complete;
    stopListening();
    return { result, events };
  }

  // Returns the private memory of the largest renderer process, in bytes. Works only on Linux.
  rendererMemory() {
    const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const sizes = children.map((id) => {
      try {
        const command = readFileSync(`/proc/${id}/cmdline`, "utf8");
        if (!command.includes("--type=renderer") || !command.includes(this.profile)) return 0;
        const rollup = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
        const size = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(rollup)?.[1] ?? 0);
        return 1024 * (size("Private_Dirty") + size("Private_Clean"));
      } catch {
        return 0; // The process has ended.
      }
    });
    return Math.max(0, ...sizes);
  }
}

class Page {
  constructor(browser, sessionId, context) {
    Object.assign(this, { browser, sessionId, context });
  }

  call(method, params) {
    return this.browser.call(method, params, this.sessionId);
  }

  on(event, listener) {
    return this.browser.on(event, this.sessionId, listener);
  }

  close() {
    return this.browser.call("Target.disposeBrowserContext", { browserContextId: this.context });
  }

  // Returns the value of an expression, after awaiting it.
  async run(expression) {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", options);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  // Starts the promise of an expression in the page. Returns a function that waits for it.
  async begin(expression) {
    await this.run(`void (bench.begun = ${expression})`);
    return () => this.run("bench.begun");
  }

  async open(url) {
    const loaded = this.browser.event("Page.loadEventFired", this.sessionId);
    const { errorText } = await this.call("Page.navigate", { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  // Returns when `condition` was first met and painted, in ms since the navigation.
  painted(condition) {
    return this.run(`bench.painted(() => ${condition})`);
  }

  point(x, y) {
    return this.call("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  }

  async click(x, y) {
    const at = { x, y, button: "left", clickCount: 1 };
    await this.call("Input.dispatchMouseEvent", { ...at, type: "mousePressed" });
    await this.call("Input.dispatchMouseEvent", { ...at, type: "mouseReleased" });
  }

  async press(letter) {
    const key = letter === "Backspace"
      ? { key: letter, code: letter, windowsVirtualKeyCode: 8 }
      : { key: letter, text: letter };
    await this.call("Input.dispatchKeyEvent", { ...key, type: "keyDown" });
    await this.call("Input.dispatchKeyEvent", { ...key, type: "keyUp", text: undefined });
  }

  // Waits until there were no requests and no long tasks for a while.
  async rest(ms = 800) {
    await this.run(`bench.rest(${ms})`);
  }
}

function find() {
  const folders = (process.env.PATH ?? "").split(":");
  const paths = folders.flatMap((folder) => BINARIES.map((name) => join(folder, name)));
  const found = [...paths, ON_A_MAC].find(existsSync);
  if (!found) throw new Error("no Chromium found on the PATH; set CHROMIUM to its path");
  return found;
}

// Runs in each page before its own scripts.
const PROBE = `
window.bench = {
  // Returns the time at which the next frame ends.
  frame: () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(performance.now());
    port2.postMessage(0);
  })),
  painted: (condition) => new Promise((done) => {
    const check = () => {
      if (!condition()) return false;
      bench.frame().then(done);
      return true;
    };
    if (check()) return;
    const observer = new MutationObserver(() => check() && observer.disconnect());
    observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
  }),
  rest: (ms) => new Promise((done) => {
    let timer;
    const again = () => {
      clearTimeout(timer);
      timer = setTimeout(() => { observer.disconnect(); done(); }, ms);
    };
    const observer = new PerformanceObserver(again);
    observer.observe({ entryTypes: ["resource", "longtask"] });
    again();
  }),
  // Measures the next event of a kind. Returns the times from the event to the frame that shows the typed letter, and to the
  // last frame that shows a consequence, in ms.
  after: (kind) => new Promise((done) => addEventListener(kind, ({ timeStamp }) => {
    const times = { letter: 0, settled: 0 };
    let timer;
    const again = () => {
      clearTimeout(timer);
      timer = setTimeout(() => { observer.disconnect(); done(times); }, 100);
    };
    const see = () => bench.frame().then((time) => {
      times.letter ||= time - timeStamp;
      times.settled = time - timeStamp;
      again();
    });
    const observer = new MutationObserver(see);
    observer.observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
    see();
  }, { capture: true, once: true })),
};
// Observes the first card of any of the measured pages.
new MutationObserver((_, observer) => {
  if (!document.querySelector("li h3 a")) return;
  observer.disconnect();
  bench.firstCard = bench.frame().then((time) => {
    performance.mark("first card");
    return time;
  });
  bench.onFirstCard?.();
}).observe(document, { childList: true, subtree: true });
`;
