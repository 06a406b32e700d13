// Our own agent on an endpoint that somebody else wrote: a whole tool loop, typed on the command line, against the mock server @copilotkit/aimock.
//   npm run conformance:endpoint
// The package is installed once, pinned, into the user's cache. Exit code: 0 when everything was as it should be.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPinned } from "./install-pinned.mjs";

const PINNED = { npm: "@copilotkit/aimock", version: "1.43.0" };
const CLI = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const run = promisify(execFile);

const folder = await installPinned("aimock", PINNED);
const { LLMock } = createRequire(join(folder, "package.json"))(PINNED.npm);
const call = (id, name, args) => ({ toolCalls: [{ id, name, arguments: JSON.stringify(args) }] });
const mock = new LLMock({ port: 0 });
mock.on({ toolCallId: "call_1" }, call("call_2", "edit", { path: "a.txt", edits: [{ old: "alpha", new: "beta" }] }));
mock.on({ toolCallId: "call_2" }, call("call_3", "bash", { command: "cat a.txt; echo ran >> ran.txt" }));
mock.on({ toolCallId: "call_3" }, { content: "The loop is done." });
mock.on({ userMessage: "Begin" }, call("call_1", "write", { path: "a.txt", content: "alpha\n" }));
await mock.start();

const root = mkdtempSync(join(tmpdir(), "dragoman-endpoint-"));
const work = join(root, "work");
mkdirSync(work);
const env = { PATH: process.env.PATH, HOME: root, DRAGOMAN_DATA_DIR: join(root, "data") };
const dragoman = (...args) => run(process.execPath, [CLI, ...args], { env, cwd: work, timeout: 120_000 });
try {
  const asked = ["run", "responses", "Begin", "--endpoint", `${mock.url}/v1`, "--model", "gpt-4o", "--permission-mode", "bypass"];
  const { stdout } = await dragoman(...asked);
  assert.match(stdout, /The loop is done\./);
  const posts = mock.getRequests().filter(({ method, path }) => method === "POST" && path.endsWith("/responses"));
  assert.equal(posts.length, 4);
  assert.equal(readFileSync(join(work, "a.txt"), "utf8"), "beta\n");
  assert.equal(readFileSync(join(work, "ran.txt"), "utf8"), "ran\n");
  const { stdout: listed } = await dragoman("ls", "--all", "--json");
  const { session_id } = JSON.parse(listed.trim().split("\n")[0]);
  const { stdout: logged } = await dragoman("logs", session_id, "--json");
  const events = logged
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    events.filter(({ type }) => type === "agent.unparsed" || type === "error"),
    [],
  );
  const { stdout: replayed } = await dragoman("replay", "--run", session_id);
  assert.match(replayed, /The same, byte for byte\./);
  console.log(
    `${PINNED.npm}@${PINNED.version}: ${posts.length} requests, 3 tools, ${events.length} events, none unparsed; the replay is the same.`,
  );
} finally {
  await dragoman("stop").catch(() => undefined);
  await mock.stop();
  rmSync(root, { recursive: true, force: true });
}
