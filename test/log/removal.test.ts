/** `rm` means rm: after it no file of the data directory holds a byte of what the session said, and its artifacts are gone. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const SECRET = "xyzzy-7c1f0a93e2-secret";
let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("removal");
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

/** Files that hold the text, in plain or as base64. An agent's own records are the agent's. */
function filesWith(text: string): string[] {
  const forms = [
    text,
    Buffer.from(text).toString("base64").slice(0, -4),
    Buffer.from(` ${text}`).toString("base64").slice(4, -4),
  ];
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dataDir, join(entry.parentPath, entry.name)))
    .filter((name) => !name.startsWith(`agents${sep}`))
    .filter((name) => {
      const bytes = readFileSync(join(dataDir, name));
      return forms.some((form) => bytes.includes(form));
    });
}

it("[D10] leaves nothing of a session in any file, and its artifacts answer 404", async () => {
  const { client } = daemon;
  const other = await client.createSession({ agent: "mock", title: "stays" });
  await other.prompt("flood 2000");
  const request = { agent: "mock", title: SECRET, env: { KEY: SECRET }, metadata: { note: SECRET } };
  const session = await client.createSession(request, { idempotencyKey: "create" });
  const attachments = [
    { data: Buffer.from(`attached ${SECRET}`.repeat(20)).toString("base64"), mime: "text/plain", name: "a.txt" },
  ];
  for (let turn = 0; turn < 5; turn++) {
    await session.prompt(`say ${SECRET} ${SECRET}`, { attachments, idempotencyKey: `turn-${turn}` });
    await session.prompt(`shell ${SECRET}`);
    await session.prompt("parts");
    await session.update({ title: `${SECRET} ${turn}` });
    await other.prompt("say something in between");
  }
  await session.prompt("big 400000");
  await session.send("hang");
  await session.send(`say queued ${SECRET}`);
  const written: string[] = [];
  for (const event of (await session.page({ types: ["artifact.written"] })).events)
    if (event.type === "artifact.written") written.push(event.data.artifact_id);
  expect(written.length).toBeGreaterThan(0);
  expect(filesWith(SECRET).length).toBeGreaterThan(0);
  await session.remove();
  expect(filesWith(SECRET)).toEqual([]);
  for (const id of written) await expect(client.artifact(id)).rejects.toMatchObject({ status: 404, code: "artifact_not_found" });
  expect(
    readdirSync(join(dataDir, "artifacts"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
  ).toEqual([]);
  expect((await other.page({ limit: 10_000 })).events.length).toBeGreaterThan(2000);
});
