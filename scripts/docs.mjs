// Writes the parts of the docs that come from code: error codes, events, commands, what each agent can do. `--check` says whether they are up to date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { agentPages } from "./docs/agent-pages.mjs";
import { cliPage } from "./docs/cli-page.mjs";
import { eventsPage } from "./docs/events-page.mjs";
import { problemsPage } from "./docs/problems-page.mjs";

const docs = fileURLToPath(new URL("../docs/", import.meta.url));
const read = (name) => (existsSync(docs + name) ? readFileSync(docs + name, "utf8") : "");

const pages = {
  "problems.md": problemsPage(),
  "events.md": eventsPage(),
  "cli.md": cliPage(),
  ...agentPages(read),
};

const stale = Object.entries(pages).filter(([name, text]) => read(name) !== text);
if (!process.argv.includes("--check")) for (const [name, text] of stale) writeFileSync(docs + name, text);
else if (stale.length > 0) {
  process.stderr.write(
    `${stale.map(([name]) => `docs/${name}`).join(", ")}: not up to date. Run: npm run build && node scripts/docs.mjs\n`,
  );
  process.exit(1);
}
