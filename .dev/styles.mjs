// Joins the style sheets of a release into one for each part of the program, and writes their addresses into the page.

import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { esbuild, fail } from "./tools.mjs";
import { PARTS } from "./wasm_parts.mjs";

// The part of the typeface that every page needs. The deferred style sheet contains it, which saves a request.
const TYPEFACE = "bricolage-grotesque-basic.woff2";

// Joins the style sheets: into one, or, if the program is split, into one for each part.
export function withStyles(folder, html, wasms) {
  const links = [...html.matchAll(/<link\b[^>]*\brel="?stylesheet"?[^>]*>/gi)].map(([tag]) => {
    const href = /\bhref="?([^"\s>]+)/i.exec(tag)[1];
    return { tag, name: basename(href), root: href.slice(0, -basename(href).length) };
  });
  if (links.length === 0) return html;
  const { root } = links[0];
  const parts = wasms.length ? PARTS : [];
  const partOfLink = ({ tag }) => parts.find((part) => new RegExp(`\\sdata-${part}\\b`).test(tag)) ?? "first";
  const joinInto = (part) => {
    const own = links.filter((link) => partOfLink(link) === part);
    const text = own.map(({ name }) => readFileSync(join(folder, name), "utf8")).join("\n");
    writeFileSync(join(folder, `${part}.css`), esbuild.transformSync(text, { loader: "css", minify: true }).code);
    return `${root}${part}.css`;
  };
  let tags = `<link rel="stylesheet" href="${joinInto("first")}">`;
  const styles = parts.map(joinInto);
  if (parts.length) {
    withTypeface(folder, join(folder, "deferred.css"));
    tags += parts.map((part, at) => `<meta name="${part}-style" content="${styles[at]}">`).join("");
    tags += `<script>${preload(wasms.map((wasm) => root + wasm), styles)}</script>`;
  }
  for (const { tag, name } of links) {
    html = html.replace(tag, () => { const own = tags; tags = ""; return own; });
    unlinkSync(join(folder, name));
  }
  return html;
}

function withTypeface(folder, style) {
  const path = join(folder, TYPEFACE);
  const text = readFileSync(style, "utf8");
  const address = new RegExp(`url\\("?${TYPEFACE.replaceAll(".", "\\.")}"?\\)`);
  if (!address.test(text)) fail(`no ${TYPEFACE} in the deferred style sheet`);
  const data = `url(data:font/woff2;base64,${readFileSync(path, "base64")})`;
  writeFileSync(style, text.replace(address, data));
  unlinkSync(path);
}

// A visit that starts at another page than the list of models needs several parts at once: one with a form or tasks all but the
// last, others all.
function preload(wasms, styles) {
  return `if (location.pathname != "/") {
  var partAnswers = {}, partCount = ${wasms.length} - /^\\/(models|tasks)\\b/.test(location.pathname);
  ${JSON.stringify(wasms)}.slice(0, partCount).forEach(function (wasm) {
    (partAnswers[wasm] = fetch(wasm)).catch(function () {});
  });
  ${JSON.stringify(styles)}.slice(0, partCount).forEach(function (style) {
    var link = document.createElement("link");
    link.rel = "preload"; link.as = "style"; link.href = style;
    document.head.append(link);
  });
}`;
}
