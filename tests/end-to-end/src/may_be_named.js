// Of the elements of a selector those that may have an accessible name with all of these words in it: more than have
// it, since only the browser says what a name is, but never fewer, except where a style sheet writes; and what the
// others say, shortened. Each answer of the browser takes a round trip, and a page has some hundred buttons and links.
const [selector, container, words] = arguments;
const LENGTH = 80;
const ATTRIBUTES = ["aria-label", "alt", "title", "placeholder", "label", "aria-valuetext", "data-text"];
const NAMED = [...ATTRIBUTES.map((name) => `[${name}]`), "[aria-labelledby]", "input, select, textarea"].join(", ");

const labelling = (element) => {
  const ids = element.getAttribute("aria-labelledby")?.split(/\s+/) ?? [];
  return [...ids.map((id) => document.getElementById(id)).filter(Boolean), ...(element.labels ?? [])];
};
const itself = (element) => [...ATTRIBUTES.map((name) => element.getAttribute(name)), element.value];
const says = (element) => [
  element.textContent,
  ...[element, ...element.querySelectorAll(NAMED)].flatMap(itself),
];
const allOf = (element) =>
  [element, ...element.querySelectorAll(NAMED)].flatMap((each) => [each, ...labelling(each)]).flatMap(says).join(" ");
// Spaces are where elements meet, and letters are as a style sheet wants them.
const flat = (text) => text.replace(/\s+/g, "").toLowerCase();

const wanted = words.map(flat);
const [found, others] = [[], []];
for (const element of (container ?? document).querySelectorAll(selector)) {
  const text = allOf(element);
  const all = flat(text);
  if (wanted.every((word) => all.includes(word))) found.push(element);
  else if (element.checkVisibility()) others.push(text.replace(/\s+/g, " ").trim().slice(0, LENGTH));
}
return [found, others];
