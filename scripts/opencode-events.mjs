// Lists every event, part, tool state, session status and error name in the OpenAPI document of an installed OpenCode server, into
// src/agents/opencode/translate/generated/events.json. Run it after an update of OpenCode: node scripts/opencode-events.mjs [path to opencode]
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OUT = new URL("../src/agents/opencode/translate/generated/events.json", import.meta.url);
const command = process.argv[2] ?? process.env.DRAGOMAN_OPENCODE_COMMAND ?? "opencode";

const home = mkdtempSync(join(tmpdir(), "opencode-events-"));
const env = {
  ...process.env,
  HOME: home,
  XDG_CONFIG_HOME: join(home, "config"),
  XDG_DATA_HOME: join(home, "data"),
  XDG_STATE_HOME: join(home, "state"),
  XDG_CACHE_HOME: join(home, "cache"),
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
};
const server = spawn(command, ["serve", "--hostname", "127.0.0.1", "--port", "0"], {
  cwd: home,
  env,
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const url = await listening(server);
  const health = await (await fetch(`${url}/global/health`)).json();
  const document = await (await fetch(`${url}/doc`)).json();
  const lists = { version: health.version ?? "unknown", ...readLists(document) };
  const text = `${JSON.stringify(lists, null, 2)}\n`;
  const before = existing();
  writeFileSync(OUT, text);
  console.log(before === text ? "nothing changed" : `written: ${lists.events.length} events, ${lists.parts.length} parts`);
} finally {
  server.kill("SIGTERM");
  rmSync(home, { recursive: true, force: true });
}

function listening(child) {
  return new Promise((resolve, reject) => {
    let said = "";
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`${command} ended with ${code} before it listened`)));
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const url = /listening on (http:\/\/\S+)/.exec(said)?.[1];
      if (url) resolve(url);
    });
  });
}

function readLists({ components: { schemas } }) {
  const resolve = (schema) => (schema?.$ref ? resolve(schemas[schema.$ref.split("/").at(-1)]) : schema);
  const names = (union, field) =>
    [...new Set((resolve(union).anyOf ?? [resolve(union)]).map((one) => constant(resolve(resolve(one).properties?.[field]))))]
      .filter(Boolean)
      .sort();
  const constant = (schema) => schema?.const ?? schema?.enum?.[0];
  const global = { anyOf: resolve(schemas.GlobalEvent.properties.payload).anyOf };
  return {
    events: [...new Set([...names(schemas.Event, "type"), ...names(global, "type")])].sort(),
    parts: names(schemas.Part, "type"),
    tool_states: names(schemas.ToolState, "status"),
    session_statuses: names(schemas.SessionStatus, "type"),
    errors: names(schemas.AssistantMessage.properties.error, "name"),
  };
}

function existing() {
  try {
    return readFileSync(OUT, "utf8");
  } catch {
    return null;
  }
}
