// Returns the elements matching a selector whose accessible name may contain all of these words, and the shortened
// texts of the other elements. This is a prefilter: only the browser knows the exact names, and asking for each takes
// a round trip. It may return too many elements, but never too few, unless the name comes from a style sheet.
const [selector, container, words] = arguments;
const LENGTH = 80;
const ATTRIBUTES = ["aria-label", "alt", "title", "placeholder", "label", "aria-valuetext", "data-text"];
const NAMED = [...ATTRIBUTES.map((name) => `[${name}]`), "[aria-labelledby]", "input, select, textarea"].join(", ");

const labelsOf = (element) => {
  const ids = element.getAttribute("aria-labelledby")?.split(/\s+/) ?? [];
  return [...ids.map((id) => document.getElementById(id)).filter(Boolean), ...(element.labels ?? [])];
};
const ownTexts = (element) => [...ATTRIBUTES.map((name) => element.getAttribute(name)), element.value];
const textsOf = (element) => [
  element.textContent,
  ...[element, ...element.querySelectorAll(NAMED)].flatMap(ownTexts),
];
const allTexts = (element) =>
  [element, ...element.querySelectorAll(NAMED)].flatMap((each) => [each, ...labelsOf(each)]).flatMap(textsOf).join(" ");
// Ignores whitespace between elements, and case, which a style sheet may change.
const normalize = (text) => text.replace(/\s+/g, "").toLowerCase();

const normalizedWords = words.map(normalize);
const [found, others] = [[], []];
for (const element of (container ?? document).querySelectorAll(selector)) {
  const text = allTexts(element);
  const all = normalize(text);
  if (normalizedWords.every((word) => all.includes(word))) found.push(element);
  else if (element.checkVisibility()) others.push(text.replace(/\s+/g, " ").trim().slice(0, LENGTH));
}
return [found, others];
