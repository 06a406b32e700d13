// Builds docs/*.md into dist/docs/, a small static site that the daemon serves at /docs: no script, nothing from elsewhere, one style sheet.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Pages in the order of the menu; what is not named here still becomes a page. */
const MENU = [
  [
    "Using it",
    [
      "index.md",
      "quickstart.md",
      "cli.md",
      "tasks.md",
      "files.md",
      "checkpoints.md",
      "skills.md",
      "recipes.md",
      "model-server.md",
      "access.md",
      "security.md",
      "operations.md",
    ],
  ],
  [
    "Agents",
    [
      "agents/claude.md",
      "agents/claude-sdk.md",
      "agents/codex.md",
      "agents/opencode.md",
      "agents/amp.md",
      "agents/gemini.md",
      "agents/acp.md",
      "agents/responses.md",
      "agents/mock.md",
    ],
  ],
  ["Its API", ["events.md", "SPEC.md", "problems.md", "dialects.md"]],
  ["Inside", ["architecture.md", "glossary.md", "coverage.md", "adding-an-agent.md", "CONTRIBUTING.md", "CHANGELOG.md"]],
];
/** Files of the repository's root that belong to the site. */
const FROM_ROOT = ["SPEC.md", "CONTRIBUTING.md", "CHANGELOG.md"];

export function buildDocs(out = join(root, "dist", "docs")) {
  const docs = join(root, "docs");
  const pages = new Map();
  for (const name of readdirSync(docs, { recursive: true }).map((each) => each.replaceAll("\\", "/")))
    if (name.endsWith(".md")) pages.set(name, readFileSync(join(docs, name), "utf8"));
  for (const name of FROM_ROOT) if (existsSync(join(root, name))) pages.set(name, readFileSync(join(root, name), "utf8"));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const [name, text] of pages) {
    const file = join(out, name.replace(/\.md$/, ".html"));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page(name, text, pages));
  }
  writeFileSync(join(out, "site.css"), readFileSync(new URL("./docs/site.css", import.meta.url)));
  if (existsSync(join(docs, "images"))) cpSync(join(docs, "images"), join(out, "images"), { recursive: true });
  return pages.size;
}

const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1].replaceAll("`", "") ?? "dragoman";
const urlOf = (name) => `/docs/${name.replace(/\.md$/, ".html")}`;

function page(name, text, pages) {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: words }) {
        return `<h${depth} id="${slug(words)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const to = target(name, href, pages);
        return to === null ? words : `<a href="${html(to)}">${words}</a>`;
      },
      image({ href, text: words }) {
        return `<img src="${html(target(name, href, pages) ?? "")}" alt="${html(words)}">`;
      },
      table(token) {
        const cells = (row, tag) => row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
        return `<div class="table"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
      html: ({ text: words }) => (words.startsWith("<!--") ? "" : html(words)),
    },
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${html(titleOf(text))} · dragoman</title>
<link rel="stylesheet" href="/docs/site.css">
</head>
<body>
<a class="skip" href="#content">To the text</a>
<nav aria-label="Pages">${menu(name, pages)}</nav>
<main id="content">
${marked.parse(text)}
</main>
</body>
</html>
`;
}

function menu(current, pages) {
  const named = new Set(MENU.flatMap(([, names]) => names));
  const others = [...pages.keys()].filter((name) => !named.has(name));
  const groups = [...MENU, ...(others.length > 0 ? [["More", others]] : [])];
  const link = (name) =>
    `<li><a href="${urlOf(name)}"${name === current ? ' aria-current="page"' : ""}>${html(titleOf(pages.get(name)))}</a></li>`;
  const extra = (title) => (title === "Its API" ? '<li><a href="/docs/api">Reference</a></li>' : "");
  return groups
    .map(
      ([title, names]) =>
        `<h2>${title}</h2><ul>${extra(title)}${names
          .filter((name) => pages.has(name))
          .map(link)
          .join("")}</ul>`,
    )
    .join("");
}

/** A link to another file of the repository becomes one to its page; null for a file that has none. */
function target(from, href, pages) {
  if (/^([a-z]+:|\/|#)/i.test(href)) return href;
  const [path, anchor] = href.split("#");
  const inDocs = FROM_ROOT.includes(from) ? posix.normalize(path).replace(/^docs\//, "") : posix.join(posix.dirname(from), path);
  const name = inDocs.replace(/^(\.\.\/)+/, "");
  if (pages.has(name)) return `${urlOf(name)}${anchor ? `#${anchor}` : ""}`;
  return name.startsWith("images/") ? `/docs/${name}` : null;
}

const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
const html = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

if (process.argv[1] === fileURLToPath(import.meta.url)) buildDocs();
