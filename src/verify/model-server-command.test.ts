/** The command that users run: it serves what it says it serves, ends when asked to, and says what is wrong with a file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { modelServerCommand } from "./model-server-command.ts";

function started(more: object): { done: Promise<number>; ready: Promise<{ url: string }>; stop: AbortController } {
  const stop = new AbortController();
  let say = (_: { url: string }): void => {};
  const ready = new Promise<{ url: string }>((resolve) => {
    say = resolve;
  });
  const stdout = { write: (text: string) => say(JSON.parse(text)) };
  const options = { host: "127.0.0.1", port: 0, json: true, signal: stop.signal, ...more };
  const done = modelServerCommand(options, { stdout, stderr: { write: () => {} }, env: {} } as never);
  return { done, ready, stop };
}

it("serves the scenarios of a file beside its own until it is told to stop", async () => {
  const dir = mkdtempSync(join(tmpdir(), "dragoman-model-server-"));
  const file = join(dir, "mine.json");
  const steps = [{ blocks: [{ type: "text", text: "My own answer." }] }];
  writeFileSync(file, JSON.stringify({ name: "mine", title: "mine", turns: [{ prompt: "x", steps }] }));
  try {
    const { done, ready, stop } = started({ file });
    const { url } = await ready;
    const ask = async (input: string): Promise<string> =>
      (await fetch(`${url}/v1/responses`, { method: "POST", body: JSON.stringify({ model: "m", input }) })).text();
    expect(await ask("Hello.")).toContain("My own answer.");
    expect(await ask("Hello. [[scenario:text]]")).not.toContain("My own answer.");
    stop.abort();
    expect(await done).toBe(0);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it("says what is wrong with a file or a name", async () => {
  const dir = mkdtempSync(join(tmpdir(), "dragoman-model-server-"));
  const file = join(dir, "broken.json");
  writeFileSync(file, JSON.stringify({ name: "Not A Name", title: "x", turns: [] }));
  try {
    await expect(started({ file }).done).rejects.toThrow(/scenario 1: \/name/);
    await expect(started({ file: join(dir, "nothing.json") }).done).rejects.toThrow(/cannot be read as JSON/);
    await expect(started({ default: "nobody" }).done).rejects.toThrow(/There is no scenario "nobody"/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
