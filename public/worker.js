// The service worker, with which Atelier opens without a network. `.dev/finish.mjs` writes RELEASE and FILES into it: the name
// of a release and the names of all its files.
//
// Releases are never mixed: each has its own cache, which is filled completely or not at all, and the name of every file
// contains a hash of its content. The worker does not handle requests to a service or to other sites.

const RELEASE = "__RELEASE__";
const FILES = __FILES__;

const PREFIX = "atelier-";
const CACHE = PREFIX + RELEASE;
const SHELL = "/";

// Paths of a service at the page's own address.
const SERVICE = /^\/(api|v2|outputs)\//;

addEventListener("install", (event) => event.waitUntil(install()));

// Handles the user's setting. If it is switched off and on while a page is open, the worker stays installed although its files
// were deleted, so they are cached again.
addEventListener("message", (event) => {
  if (event.data === "drop") activation = null;
  if (event.data !== "keep") return;
  activation ??= {};
  event.waitUntil(refill(activation));
});

// A new object each time the setting is switched on; null while it is off. If it changes, caching is aborted.
let activation = {};

// The present run of `install`.
let filling = null;

// If two pages request this at once, the second request waits for the first.
async function refill(own) {
  while (filling && filling.activation !== own) await filling.catch(() => {});
  if (own !== activation || (await cached(SHELL))) return;
  if (!filling) {
    filling = install(own).finally(() => (filling = null));
    filling.activation = own;
  }
  await filling;
}

async function install(own = activation) {
  check(own);
  const cache = await caches.open(CACHE);
  try {
    // The browser has cached most of these files already, because their names contain hashes.
    // The files are requested one at a time, because the user is using the page meanwhile.
    for (const file of FILES) {
      await store(cache, file, {}, matchesName);
      check(own);
    }
    await store(cache, SHELL, { cache: "no-cache" }, isOfRelease);
    check(own);
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

function check(own) {
  if (own !== activation) throw new Error("the setting was switched off");
}

async function store(cache, path, options, isRight) {
  const response = await fetch(path, options);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  const bytes = await response.arrayBuffer();
  // A host may respond with some other page, or with the page of another release.
  if (!(await isRight(path, bytes))) throw new Error(`${path}: unexpected content`);
  // A new response is created, because a redirected one can't be returned to a page.
  const headers = new Headers(response.headers);
  for (const name of ["Content-Encoding", "Content-Length", "Vary"]) headers.delete(name);
  await cache.put(path, new Response(bytes, { headers }));
}

async function matchesName(path, bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const sum = [...digest.slice(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return path.includes(`-${sum}`);
}

async function isOfRelease(_, bytes) {
  return new TextDecoder().decode(bytes).includes(`name="release" content="${RELEASE}"`);
}

addEventListener("activate", (event) => event.waitUntil(activate()));

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
  }
  // The browser requests the page while it starts the worker.
  await registration.navigationPreload?.enable();
}

// The last message of each page: its release, and the time. Lost when the browser stops the worker.
const pages = new Map();

// The pages that were asked for their release and have not responded.
const asked = new Set();

// This worker replaces the previous one once every open page has reported that it is of this release.
addEventListener("message", (event) => {
  if (!event.source || typeof event.data?.release !== "string") return;
  const { id } = event.source;
  pages.set(id, { release: event.data.release, at: performance.now() });
  if (!asked.delete(id)) event.waitUntil(takeOver());
});

// How long to wait for responses, in milliseconds. A page that does not respond is not in use: browsers also list pages in the
// back/forward cache and frozen pages, which may have responded earlier.
const ANSWER_MS = 2000;
// How often the pages are checked. A page that is being closed may still respond, so one check is not enough.
const CHECKS = 5;

// The present run of `checkPages`.
let checking = null;

// Replaces the previous worker if possible. Messages that arrive during a check are considered by that check.
function takeOver() {
  checking ??= checkPages().finally(() => (checking = null));
  return checking;
}

async function checkPages() {
  for (let times = 0; times < CHECKS; times++) {
    const since = performance.now();
    const isOfAnother = ({ id }) => pages.get(id)?.release !== RELEASE;
    const others = (await open()).filter(isOfAnother);
    for (const page of others) {
      asked.add(page.id);
      page.postMessage("release?");
    }
    if (others.length > 0) await new Promise((done) => setTimeout(done, ANSWER_MS));
    const hasResponded = ({ id }) => pages.has(id) && pages.get(id).at >= since;
    if (!(await open()).some((page) => isOfAnother(page) && hasResponded(page))) return skipWaiting();
  }
}

function open() {
  return clients.matchAll({ type: "window", includeUncontrolled: true });
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || SERVICE.test(pathname)) return;
  if (request.mode === "navigate") return event.respondWith(page(event));
  if (FILES.includes(pathname)) event.respondWith(file(request, pathname));
});

// Returns the newest page, or the cached one if the host can't be reached.
async function page(event) {
  let response;
  try {
    response = (await event.preloadResponse) ?? (await fetch(event.request));
    // Without a network, Firefox returns an error response instead of throwing (github.com/GoogleChrome/workbox/issues/3134).
    if (response.type !== "error" && response.status < 500) return response;
  } catch {}
  return (await cached(SHELL)) ?? response ?? Response.error();
}

async function file(request, pathname) {
  return (await cached(pathname)) ?? fetch(request);
}

// Opening a cache would create it again after the user has deleted it.
function cached(path) {
  return caches.match(path, { cacheName: CACHE });
}
