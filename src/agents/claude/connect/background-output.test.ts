import { appendFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Draft } from "../../../schema/draft.ts";
import { BackgroundOutput } from "./background-output.ts";

let folder: string;
let told: Draft[];
let heard: () => void;
let output: BackgroundOutput;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "background-output-"));
  told = [];
  heard = () => {};
  output = new BackgroundOutput({
    say: (drafts) => {
      told.push(...drafts);
      heard();
    },
  });
});
afterEach(() => {
  output.close();
  rmSync(folder, { recursive: true, force: true });
});

const begun = (id: string, path: string) => ({
  type: "user",
  message: {
    content: [
      {
        type: "tool_result",
        content: `Command running in background with ID: ${id}. Output is being written to: ${path}. You will be notified.`,
      },
    ],
  },
  tool_use_result: { backgroundTaskId: id },
});
const notified = (id: string, output_file: string) => ({
  type: "system",
  subtype: "task_notification",
  task_id: id,
  status: "completed",
  output_file,
});
const text = (): string => told.map((draft) => (draft.do === "task.output" ? draft.text : `<${draft.do}>`)).join("");
const more = (): Promise<void> =>
  new Promise((resolve) => {
    heard = resolve;
  });

describe("the output of a background command of Claude Code", () => {
  it("is told while it runs, whole characters only, and to its last byte at the end", async () => {
    const path = join(folder, "b1.output");
    const euro = Buffer.from("€");
    writeFileSync(path, "one\n");
    const first = more();
    output.before(begun("b1", path));
    await first;
    expect(text()).toBe("one\n");
    const second = more();
    appendFileSync(path, Buffer.concat([Buffer.from("two "), euro.subarray(0, 2)]));
    await second;
    expect(text()).toBe("one\ntwo ");
    appendFileSync(path, Buffer.concat([euro.subarray(2), Buffer.alloc(3 * 1024 * 1024, 97)]));
    output.before(notified("b1", path));
    expect(text()).toBe(`one\ntwo €${"a".repeat(3 * 1024 * 1024)}`);
    expect(told.every((draft) => draft.do === "task.output" && draft.key === "command:b1")).toBe(true);
  });

  it("is read at the end when its beginning was not told", () => {
    const path = join(folder, "b2.output");
    writeFileSync(path, "all of it");
    output.before(notified("b2", path));
    expect(text()).toBe("all of it");
  });

  it("comes from no other file: another name, a link, a folder, none at all", () => {
    const secret = join(folder, "secret.txt");
    writeFileSync(secret, "secret");
    symlinkSync(secret, join(folder, "b3.output"));
    output.before(notified("b3", join(folder, "b3.output")));
    output.before(notified("b4", secret));
    output.before(notified("..", folder));
    output.before(notified("b5", join(folder, "b5.output")));
    output.before(begun("b6", secret));
    for (const frame of [null, 3, "text", {}, { type: "user" }, { type: "system", subtype: "task_notification" }])
      output.before(frame);
    expect(told).toEqual([]);
  });
});
