// Asks a Codex binary for its own schema and keeps the names we rely on in src/agents/codex/translate/generated/methods.json.
//   node scripts/codex-schema.mjs [--codex PATH]           writes the file
//   node scripts/codex-schema.mjs --check [--codex PATH]   says what this binary has that the file has not (exit 1), writes nothing
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TARGET = fileURLToPath(new URL("../src/agents/codex/translate/generated/methods.json", import.meta.url));
const argv = process.argv.slice(2);
const check = argv.includes("--check");
const at = argv.indexOf("--codex");
const codex = (at >= 0 ? argv[at + 1] : undefined) ?? process.env.DRAGOMAN_CODEX_COMMAND ?? "codex";

/** Method names stand in a discriminated union: `{ "method": "error", "params": … } | …`. */
const namesIn = (text, member) => [...text.matchAll(new RegExp(`"${member}": "([^"]+)"`, "g"))].map((found) => found[1]);
const sorted = (names) => [...new Set(names)].sort();

function readSchema() {
  const dir = mkdtempSync(join(tmpdir(), "codex-schema-"));
  try {
    const env = { ...process.env, CODEX_HOME: dir };
    const run = (...args) => execFileSync(codex, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const version = run("--version").trim().split(" ").at(-1);
    // The TypeScript bindings know two notifications that the JSON schema leaves out (raw response items).
    run("app-server", "generate-ts", "--experimental", "--out", join(dir, "ts"));
    const file = (name) => readFileSync(join(dir, "ts", name), "utf8");
    return {
      version,
      notifications: sorted(namesIn(file("ServerNotification.ts"), "method")),
      serverRequests: sorted(namesIn(file("ServerRequest.ts"), "method")),
      clientRequests: sorted(namesIn(file("ClientRequest.ts"), "method")),
      items: sorted(namesIn(file("v2/ThreadItem.ts"), "type")),
      rawItems: sorted(namesIn(file("ResponseItem.ts"), "type")),
      errors: sorted(
        [...file("v2/CodexErrorInfo.ts").matchAll(/"([a-z]\w+)"/g)]
          .map((found) => found[1])
          .filter((name) => name !== "httpStatusCode"),
      ),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const now = readSchema();
if (!check) {
  writeFileSync(TARGET, `${JSON.stringify(now, null, 2)}\n`);
  console.log(
    `codex ${now.version}: ${now.notifications.length} notifications, ${now.serverRequests.length} server requests, ${now.items.length} items`,
  );
} else {
  const known = JSON.parse(readFileSync(TARGET, "utf8"));
  const groups = Object.keys(known).filter((group) => Array.isArray(known[group]));
  const lines = groups.flatMap((group) => [
    ...now[group].filter((name) => !known[group].includes(name)).map((name) => `new ${group}: ${name}`),
    ...known[group].filter((name) => !now[group].includes(name)).map((name) => `gone ${group}: ${name}`),
  ]);
  for (const line of lines) console.log(line);
  const fresh = lines.some((line) => line.startsWith("new "));
  console.log(
    fresh
      ? `codex ${now.version} says things that ${known.version} did not: run this script without --check, then add what is missing to src/agents/codex/translate/native-types.ts.`
      : `codex ${now.version}: nothing that is not known from ${known.version}.`,
  );
  process.exitCode = fresh ? 1 : 0;
}
