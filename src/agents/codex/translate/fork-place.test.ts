import { describe, expect, it } from "vitest";
import type { NativeMessage } from "../../contract.ts";
import { forkPlace } from "./fork-place.ts";
import { Conversation } from "./test-thread.ts";

async function* ledger({ rows }: Conversation): AsyncGenerator<NativeMessage> {
  for (const { dir, data } of rows) if (dir !== "daemon") yield { dir, data };
}
const over = (turn: string, thread = "th") => ({ threadId: thread, turn: { id: turn, status: "completed" } });

describe("the place of a fork in a thread of Codex", () => {
  it("is the last whole turn of the session's own thread", async () => {
    expect(await forkPlace(ledger(new Conversation().started().turn("one")))).toBeNull();
    const talk = new Conversation().started().turn("one").notify("turn/completed", over("one"));
    expect(await forkPlace(ledger(talk))).toBe("one");
    expect(await forkPlace(ledger(talk.notify("turn/completed", over("child", "other")).turn("two")))).toBe("one");
  });
});
