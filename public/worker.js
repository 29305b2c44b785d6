// The service worker: Atelier opens without network, too. `.dev/finish.mjs` writes RELEASE and FILES
// into it, the names of a release and of all its files.
//
// No two releases are mixed: each has a cache of its own, which is filled whole or not at all, and every
// file's name says what is in it. What is asked of a service, and of any other site, is none of the
// worker's business.

const RELEASE = "__RELEASE__";
const FILES = __FILES__;

const PREFIX = "atelier-";
const CACHE = PREFIX + RELEASE;
const SHELL = "/";

// The service's own, at the page's address.
const SERVICE = /^\/(api|v2|outputs)\//;

addEventListener("install", (event) => event.waitUntil(install()));

// Switched off and on under an open page, it stays as it is and nothing is installed: its files are gone all the same.
addEventListener("message", (event) => {
  if (event.data === "drop") wish = null;
  if (event.data !== "keep") return;
  wish ??= {};
  event.waitUntil(refill(wish));
});

// It is another each time that it was switched on: what is filled for one before is given up.
let wish = {};

let filling = null;

// Of two pages that say so at once, the second waits for the first's.
async function refill(mine) {
  while (filling && filling.wish !== mine) await filling.catch(() => {});
  if (mine !== wish || (await kept(SHELL))) return;
  if (!filling) {
    filling = install(mine).finally(() => (filling = null));
    filling.wish = mine;
  }
  await filling;
}

async function install(mine = wish) {
  check(mine);
  const cache = await caches.open(CACHE);
  try {
    // Asked for by name for ever: the browser has most of them already.
    // One after the other: a person is at the page meanwhile.
    for (const file of FILES) {
      await keep(cache, file, {}, hasItsName);
      check(mine);
    }
    await keep(cache, SHELL, { cache: "no-cache" }, isOfRelease);
    check(mine);
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

function check(mine) {
  if (mine !== wish) throw new Error("it is not wanted any more");
}

async function keep(cache, path, options, isRight) {
  const response = await fetch(path, options);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  const bytes = await response.arrayBuffer();
  // A host may answer with some page, or with that of another release.
  if (!(await isRight(path, bytes))) throw new Error(`${path} is not what it should be`);
  // Made anew: what came by a detour can't be given to a page.
  const headers = new Headers(response.headers);
  for (const name of ["Content-Encoding", "Content-Length", "Vary"]) headers.delete(name);
  await cache.put(path, new Response(bytes, { headers }));
}

async function hasItsName(path, bytes) {
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
  // The page is asked for while the worker wakes up.
  await registration.navigationPreload?.enable();
}

// What the pages have said last: their release, and when. It is gone when the browser lets the worker rest.
const pages = new Map();

// The pages that were asked and have not answered.
const asked = new Set();

// The worker before this one gives way once every page that is open has said that it is of this release.
addEventListener("message", (event) => {
  if (!event.source || typeof event.data?.release !== "string") return;
  const { id } = event.source;
  pages.set(id, { release: event.data.release, at: performance.now() });
  if (!asked.delete(id)) event.waitUntil(takeOver());
});

// A page that does not answer is none that anybody looks at: browsers count those that Back would show, and
// those that they have put to sleep, whatever these said before.
const ANSWER_MS = 2000;
// A page that is just being left still answers: it is looked again.
const LOOKS = 5;

let looking = null;

// Pages that say something meanwhile are heard by the look that is under way.
function takeOver() {
  looking ??= look().finally(() => (looking = null));
  return looking;
}

async function look() {
  for (let times = 0; times < LOOKS; times++) {
    const since = performance.now();
    const isOfAnother = ({ id }) => pages.get(id)?.release !== RELEASE;
    const others = (await open()).filter(isOfAnother);
    for (const page of others) {
      asked.add(page.id);
      page.postMessage("release?");
    }
    if (others.length > 0) await new Promise((done) => setTimeout(done, ANSWER_MS));
    const hasAnswered = ({ id }) => pages.has(id) && pages.get(id).at >= since;
    if (!(await open()).some((page) => isOfAnother(page) && hasAnswered(page))) return skipWaiting();
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

// The newest page, where it can be had.
async function page(event) {
  let response;
  try {
    response = (await event.preloadResponse) ?? (await fetch(event.request));
    // Without network Firefox gives an error for an answer (github.com/GoogleChrome/workbox/issues/3134).
    if (response.type !== "error" && response.status < 500) return response;
  } catch {}
  return (await kept(SHELL)) ?? response ?? Response.error();
}

async function file(request, pathname) {
  return (await kept(pathname)) ?? fetch(request);
}

// To open a cache would make it anew where a person has just deleted it.
function kept(path) {
  return caches.match(path, { cacheName: CACHE });
}
