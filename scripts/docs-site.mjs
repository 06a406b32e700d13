/**
 * Builds docs/*.md into dist/docs/, a static site that the daemon serves at /docs. Code is highlighted here, not in the browser; one script of our own copies code
 * and searches. Nothing comes from elsewhere, and nothing needs the network.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compressFolder } from "./compress-folder.mjs";
import { highlighter } from "./docs/highlight.mjs";
import { MENU } from "./docs/menu.mjs";
import { renderPage } from "./docs/page.mjs";
import { searchEntries } from "./docs/search-entries.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Files of the repository's root that belong to the site. */
const FROM_ROOT = ["SPEC.md", "CONTRIBUTING.md", "CHANGELOG.md"];
/** What every page loads. */
const ASSETS = ["site.css", "site.js", "api.css", "api.js"];

export async function buildDocs(out = join(root, "dist", "docs")) {
  const docs = join(root, "docs");
  const pages = new Map();
  for (const name of readdirSync(docs, { recursive: true }).map((each) => each.replaceAll("\\", "/")))
    if (name.endsWith(".md")) pages.set(name, readFileSync(join(docs, name), "utf8"));
  for (const name of FROM_ROOT) if (existsSync(join(root, name))) pages.set(name, readFileSync(join(root, name), "utf8"));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const highlight = await highlighter();
  for (const [name, text] of pages) {
    const file = join(out, name.replace(/\.md$/, ".html"));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, renderPage({ name, text, pages, menu: MENU, fromRoot: FROM_ROOT, highlight }));
  }
  writeFileSync(join(out, "search.json"), JSON.stringify(searchEntries(pages)));
  for (const name of ASSETS) writeFileSync(join(out, name), readFileSync(new URL(`./docs/${name}`, import.meta.url)));
  const fonts = [
    ["@fontsource-variable/geist/files/geist-latin-wght-normal.woff2", "geist.woff2"],
    ["@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2", "geist-mono.woff2"],
  ];
  for (const [from, to] of fonts) cpSync(join(root, "node_modules", from), join(out, to));
  if (existsSync(join(docs, "images"))) cpSync(join(docs, "images"), join(out, "images"), { recursive: true });
  compressFolder(out);
  return pages.size;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildDocs();
