// One page of the docs: its Markdown as HTML, with the menu at its left and its own headings at its right.
import { posix } from "node:path";
import { Marked } from "marked";

export const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1].replaceAll("`", "") ?? "dragoman";
export const urlOf = (name) => `/docs/${name.replace(/\.md$/, ".html")}`;
export const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
const html = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Headings that stand several times in a page get a number, so that each can be linked. */
function slugs() {
  const seen = new Map();
  return (text) => {
    const base = slug(text);
    const count = seen.get(base) ?? 0;
    seen.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  };
}

export function renderPage({ name, text, pages, menu, fromRoot, highlight }) {
  const idOf = slugs();
  const headings = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: words }) {
        const id = idOf(words);
        const inner = this.parser.parseInline(tokens);
        if (depth === 2 || depth === 3) headings.push({ id, depth, inner: inner.replace(/<\/?a[^>]*>/g, "") });
        return `<h${depth} id="${id}">${inner}${depth > 1 ? ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>` : ""}</h${depth}>\n`;
      },
      code({ text: code, lang = "" }) {
        const language = lang.split(/\s+/)[0] ?? "";
        const note = language === "" || language === "text" ? "" : ` data-language="${html(language)}"`;
        return `<div class="code"${note}><pre tabindex="0"><code>${highlight(code, language)}</code></pre></div>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const to = target(name, href, pages, fromRoot);
        return to === null ? words : `<a href="${html(to)}">${words}</a>`;
      },
      image({ href, text: words }) {
        return `<img src="${html(target(name, href, pages, fromRoot) ?? "")}" alt="${html(words)}" loading="lazy">`;
      },
      table(token) {
        const cells = (row, tag) => row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
      html: ({ text: words }) => (words.startsWith("<!--") ? "" : html(words)),
    },
  });
  const body = marked.parse(text);
  return frame({
    title: titleOf(text),
    menu: menuHtml(name, pages, menu),
    body: `${body}${around(name, pages, menu)}`,
    headings,
  });
}

/** The page around a text. The API page of the daemon has the same look, from the same style sheet. */
function frame({ title, menu, body, headings }) {
  const contents = headings
    .map(({ id, depth, inner }) => `<li class="depth-${depth}"><a href="#${id}">${inner}</a></li>`)
    .join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${html(title)} · dragoman</title>
<link rel="icon" href="/ui/icon.svg">
<link rel="stylesheet" href="/docs/site.css">
<script type="module" src="/docs/site.js"></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header class="top"><a class="brand" href="/docs">dragoman</a><span id="search"></span><a href="/docs/api">API</a><a href="/ui">Inspector</a></header>
<div class="columns">
<nav aria-label="Pages">${menu}</nav>
<main id="content">
${body}
</main>
${headings.length > 2 ? `<aside aria-label="On this page"><strong>On this page</strong><ul>${contents}</ul></aside>` : ""}
</div>
</body>
</html>
`;
}

function groupsOf(pages, menu) {
  const named = new Set(menu.flatMap(([, names]) => names));
  const others = [...pages.keys()].filter((each) => !named.has(each));
  const groups = [...menu, ...(others.length > 0 ? [["More", others]] : [])];
  return groups.map(([title, names]) => [title, names.filter((each) => pages.has(each))]);
}

function menuHtml(current, pages, menu) {
  const link = (name) =>
    `<li><a href="${urlOf(name)}"${name === current ? ' aria-current="page"' : ""}>${html(titleOf(pages.get(name)))}</a></li>`;
  const extra = (title) => (title === "API" ? '<li><a href="/docs/api">Reference</a></li>' : "");
  return groupsOf(pages, menu)
    .map(([title, names]) => `<h2>${title}</h2><ul>${extra(title)}${names.map(link).join("")}</ul>`)
    .join("");
}

/** The pages before and after, in the order of the menu. */
function around(name, pages, menu) {
  const order = groupsOf(pages, menu).flatMap(([, names]) => names);
  const at = order.indexOf(name);
  const link = (to, word) =>
    to === undefined ? "<span></span>" : `<a href="${urlOf(to)}"><span>${word}</span>${html(titleOf(pages.get(to)))}</a>`;
  return `<footer class="around">${link(order[at - 1], "Before")}${link(order[at + 1], "Next")}</footer>`;
}

/** A link to another file of the repository becomes one to its page; null for a file that has none. */
function target(from, href, pages, fromRoot) {
  if (/^([a-z]+:|\/|#)/i.test(href)) return href;
  const [path, anchor] = href.split("#");
  const inDocs = fromRoot.includes(from) ? posix.normalize(path).replace(/^docs\//, "") : posix.join(posix.dirname(from), path);
  const name = inDocs.replace(/^(\.\.\/)+/, "");
  if (pages.has(name)) return `${urlOf(name)}${anchor ? `#${anchor}` : ""}`;
  return name.startsWith("images/") ? `/docs/${name}` : null;
}
