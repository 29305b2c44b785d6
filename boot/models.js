// Renders the first screen of the list of models from the early response while the program is still loading: on a slow
// connection, that is a second earlier. The program continues with what the user has pressed or typed there. Unusual responses
// are left to the program.
(() => {
  let early = window.atelierEarly;
  const MAX_CARDS = 24;
  const MAX_CATEGORIES = 24;
  // A larger list is left to the program.
  const MAX_BYTES = 8_000_000;
  // How long the program, once it is loaded, waits for the first cards, in ms.
  const MAX_WAIT = 100;

  async function open() {
    if (document.readyState === "loading") {
      await new Promise((parsed) => document.addEventListener("readystatechange", parsed, { once: true }));
    }
    const boot = document.getElementById("boot");
    if (!boot || location.pathname !== "/") return;
    boot.className = "boot-models";
    boot.replaceChildren(boot.querySelector("template").content);
    boot.addEventListener("click", openPage);
    boot.addEventListener("input", updateQuery);
    // Only the program can filter the list by a query.
    if (!early || location.search) return;
    const response = await early.answer;
    if (!response.ok || !boot.isConnected) return;
    const bytes = await readBody(response.clone());
    if (!bytes || !boot.isConnected) return;
    const list = renderList(JSON.parse(new TextDecoder().decode(bytes)));
    const page = boot.querySelector(".page");
    if (!page) return;
    page.replaceChildren(list);
    // The program shows the same list in the frame in which it removes this one.
    early.body = bytes;
    // The program owns the list now. A reference here would keep a large list in memory twice.
    early = null;
    await afterPaint();
  }

  // Returns the body of a response, unless it is too large.
  async function readBody({ body }) {
    const reader = body.getReader();
    const parts = [];
    for (let left = MAX_BYTES; left >= 0; ) {
      const { done, value } = await reader.read();
      if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
      parts.push(value);
      left -= value.length;
    }
    reader.cancel();
  }

  function renderList({ data: models, guest }) {
    const stored = read("atelier.first-models");
    const first = stored.split("\n").map((line) => models.find((model) => id(model) === line)).filter(Boolean);
    const ordered = new Set([...first, ...models]);
    // The categories are in the order of the service, as in the program.
    const groups = new Map(models.map(({ category }) => [category, []]));
    for (const model of ordered) groups.get(model.category).push(model);
    const isPlain = (text) => typeof text === "string" && text.length <= 500;
    if (!models.every((model) => isPlain(model.category) && isPlain(model.subcategory)) || groups.size > MAX_CATEGORIES) throw new Error("left to the program");

    const list = copy("boot-list");
    list.querySelector("[role=status]").textContent = models.length === 1 ? "1 model" : `${models.length} models`;
    const welcome = list.querySelector(".welcome");
    if (stored || !models.some(({ category }) => category.includes("image"))) welcome.remove();
    if (!guest && !JSON.parse(read("atelier.settings") || "{}").uid) welcome.querySelector("button").remove();
    list.querySelector("fieldset").append(chip("All", ""), ...[...groups.keys()].map((name) => chip(name, name)));
    const groupsList = list.querySelector(".boot-groups");
    // As in src/view/models/model_grid.rs.
    groupsList.style.setProperty("--most", Math.max(3, ...[...groups.values()].map((members) => members.length)));
    let left = MAX_CARDS;
    for (const [name, members] of groups) {
      if (left <= 0) break;
      groupsList.append(group(name, members, left));
      left -= members.length;
    }
    return list;
  }

  function chip(name, value) {
    const made = copy("boot-chip");
    const input = made.querySelector("input");
    input.value = value;
    input.checked = value === "";
    made.querySelector("span").textContent = name;
    return made;
  }

  function group(name, models, most) {
    const made = copy("boot-group");
    const [category, count] = made.querySelectorAll("span");
    category.textContent = name;
    count.textContent = models.length;
    made.querySelector("ul").append(...models.slice(0, most).map(card));
    return made;
  }

  function card(model) {
    const made = copy("boot-card");
    const text = (value) => (typeof value === "string" ? value : "");
    const link = made.querySelector("a");
    link.textContent = text(model.name).trim().slice(0, 1000) || model.subcategory;
    link.href = `/models/${encodeURIComponent(model.category)}/${encodeURIComponent(model.subcategory)}`;
    made.querySelector("li").style.setProperty("--hue", hue(id(model)));
    made.querySelector("p").textContent = text(model.description).slice(0, 1000);
    link.title = model.subcategory;
    return made;
  }

  // As in src/view/models/card.rs.
  function hue(name) {
    let hash = 7;
    for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash, 31) + byte;
    return ((Math.imul(hash, 2654435761) >>> 0) >>> 7) % 360;
  }

  function id({ category, subcategory }) {
    return `${category}/${subcategory}`;
  }

  function read(name) {
    try {
      return localStorage.getItem(name) ?? "";
    } catch {
      return "";
    }
  }

  function copy(name) {
    return document.getElementById(name).content.cloneNode(true);
  }

  // Changes the address without loading the page again. The program then opens the page at that address.
  function openPage(event) {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (link.pathname === location.pathname) return;
    history.pushState(null, "", link.href);
    const opening = document.createElement("p");
    opening.className = "boot-opening";
    opening.textContent = "Atelier is opening…";
    document.querySelector("#boot main").replaceChildren(opening);
  }

  function updateQuery({ target }) {
    const address = new URL(location.href);
    const name = target.name || "q";
    if (target.value) address.searchParams.set(name, target.value);
    else address.searchParams.delete(name);
    history.replaceState(history.state, "", address);
  }

  // Waits until the next frame is on the screen, which is when the frame after it begins. A hidden page has no frames.
  function afterPaint() {
    return document.hidden || new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }

  // If the program is loaded as fast as the list, its start would delay the first cards. So it waits for this function.
  const opened = open().catch(() => {});
  window.atelierFirstCards = () => Promise.race([opened, new Promise((done) => setTimeout(done, MAX_WAIT))]);
})();
