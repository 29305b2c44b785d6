// The first screen of the list of models, drawn of the early answer while the program is still loading:
// on a slow line that is a second sooner. What is pressed or typed there, the program goes on with. An
// answer that is in any way unusual is left to the program.
(() => {
  let early = window.atelierEarly;
  const MAX_CARDS = 24;
  const MAX_CATEGORIES = 24;
  // A larger list is the program's alone.
  const MAX_BYTES = 8_000_000;
  // How long the program, once it could begin, waits for the first cards, in ms.
  const MAX_WAIT = 100;

  async function open() {
    if (document.readyState === "loading") {
      await new Promise((parsed) => document.addEventListener("readystatechange", parsed, { once: true }));
    }
    const boot = document.getElementById("boot");
    if (!boot || location.pathname !== "/") return;
    boot.className = "boot-models";
    boot.replaceChildren(boot.querySelector("template").content);
    boot.addEventListener("click", follow);
    boot.addEventListener("input", note);
    // What a query asks for, the program finds.
    if (!early || location.search) return;
    const response = await early.answer;
    if (!response.ok || !boot.isConnected) return;
    const bytes = await whole(response.clone());
    if (!bytes || !boot.isConnected) return;
    const list = drawn(JSON.parse(new TextDecoder().decode(bytes)));
    const page = boot.querySelector(".page");
    if (!page) return;
    page.replaceChildren(list);
    // So that the program can show the same in the frame in which it takes this away.
    early.body = bytes;
    // The program's now: held here, a list of ten thousand would stay in memory twice for as long as the page lives.
    early = null;
    await painted();
  }

  // The body of an answer, unless there is no end to it.
  async function whole({ body }) {
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

  function drawn({ data: models, guest }) {
    const kept = read("atelier.first-models");
    const first = kept.split("\n").map((line) => models.find((model) => id(model) === line)).filter(Boolean);
    const ordered = new Set([...first, ...models]);
    // In the service's order, as the program has them.
    const groups = new Map(models.map(({ category }) => [category, []]));
    for (const model of ordered) groups.get(model.category).push(model);
    const isPlain = (text) => typeof text === "string" && text.length <= 500;
    if (!models.every((model) => isPlain(model.category) && isPlain(model.subcategory)) || groups.size > MAX_CATEGORIES) throw new Error("left to the program");

    const list = copy("boot-list");
    list.querySelector("[role=status]").textContent = models.length === 1 ? "1 model" : `${models.length} models`;
    const welcome = list.querySelector(".welcome");
    if (kept || !models.some(({ category }) => category.includes("image"))) welcome.remove();
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

  // To load the page anew would begin from nothing: the program opens what the address says.
  function follow(event) {
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

  function note({ target }) {
    const address = new URL(location.href);
    const name = target.name || "q";
    if (target.value) address.searchParams.set(name, target.value);
    else address.searchParams.delete(name);
    history.replaceState(history.state, "", address);
  }

  // When the frame after the next begins, the next is on the screen. Of a page that nobody sees there is none.
  function painted() {
    return document.hidden || new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }

  // Where the program comes as fast as the list, its start would hold up the first cards: it asks here when it
  // may begin.
  const opened = open().catch(() => {});
  window.atelierFirstCards = () => Promise.race([opened, new Promise((done) => setTimeout(done, MAX_WAIT))]);
})();
