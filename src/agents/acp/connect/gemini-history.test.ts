import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GeminiHistory } from "./gemini-history.ts";

const ID = "0f3c1a52-9d1e-4b7a-8a55-1c2d3e4f5a6b";
const NOW = Date.parse("2026-03-04T10:20:30.000Z");

const about = (sessionId: string) => ({ sessionId, projectHash: "p", startTime: "t", kind: "main" });
const context = { $set: { messages: [{ id: "c", type: "user", content: [{ text: "<session_context>\nToday" }] }] } };
const said = { id: "m", type: "user", content: [{ text: "Hello." }] };
const answered = { id: "n", type: "gemini", content: "Hi." };

describe("the history of a gemini session", () => {
  let home: string;
  let chats: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "gemini-history-"));
    chats = join(home, ".gemini", "tmp", "project", "chats");
    mkdirSync(chats, { recursive: true });
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const put = (name: string, ...rows: unknown[]) =>
    writeFileSync(join(chats, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const history = () => new GeminiHistory({ HOME: home }, ID, () => NOW);

  it("of this minute gets the name of an earlier one, with all it holds", async () => {
    put("session-2026-03-04T10-20-0f3c1a52.jsonl", about(ID), context, said, answered);
    put("session-2026-03-04T10-19-0f3c1a52.jsonl", about("0f3c1a52-another"), said);
    expect(await history().settle()).toBe("spoken");
    expect(readdirSync(chats).sort()).toEqual([
      "session-2026-03-04T10-18-0f3c1a52.jsonl",
      "session-2026-03-04T10-19-0f3c1a52.jsonl",
    ]);
    expect(readFileSync(join(chats, "session-2026-03-04T10-18-0f3c1a52.jsonl"), "utf8")).toContain("Hello.");
  });

  it("of an earlier minute stays, and the stub of a load beside it goes", async () => {
    put("session-2026-03-04T09-00-0f3c1a52.jsonl", about(ID), context, said, answered);
    put("session-2026-03-04T10-20-0f3c1a52.jsonl", about(ID), context);
    expect(await history().settle()).toBe("spoken");
    expect(readdirSync(chats)).toEqual(["session-2026-03-04T09-00-0f3c1a52.jsonl"]);
  });

  it("is free of the stub after a load", async () => {
    put("session-2026-03-04T09-00-0f3c1a52.jsonl", about(ID), said, answered);
    put("session-2026-03-04T10-20-0f3c1a52.jsonl", about(ID), context);
    await history().loaded();
    expect(readdirSync(chats)).toEqual(["session-2026-03-04T09-00-0f3c1a52.jsonl"]);
  });

  it("in which nothing was said is told apart from one that is gone, and is left alone", async () => {
    expect(await history().settle()).toBe("missing");
    put("session-2026-03-04T10-20-0f3c1a52.jsonl", about(ID), context);
    expect(await history().settle()).toBe("unspoken");
    expect(readdirSync(chats)).toEqual(["session-2026-03-04T10-20-0f3c1a52.jsonl"]);
  });

  it("of others is never touched: other ids, broken lines, other names", async () => {
    put("session-2026-03-04T10-20-0f3c1a52.jsonl", about("0f3c1a52-another"), said);
    put("session-2026-03-04T10-20-ffffffff.jsonl", about(ID), context);
    writeFileSync(join(chats, "session-2026-03-04T10-21-0f3c1a52.jsonl"), "{half a li\n[1]\n");
    writeFileSync(join(chats, "notes.txt"), "mine");
    const before = readdirSync(chats);
    expect(await history().settle()).toBe("missing");
    await history().loaded();
    expect(readdirSync(chats)).toEqual(before);
  });

  it("is looked for where GEMINI_CLI_HOME says", async () => {
    put("session-2026-03-04T09-00-0f3c1a52.jsonl", about(ID), said);
    expect(await new GeminiHistory({ HOME: "/nowhere", GEMINI_CLI_HOME: home }, ID).settle()).toBe("spoken");
    expect(await new GeminiHistory({}, ID).settle()).toBe("missing");
  });
});
