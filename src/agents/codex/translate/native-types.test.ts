import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ITEM_TYPES, NOTIFICATION_TYPES, SERVER_REQUEST_TYPES } from "./native-types.ts";
import { CodexTranslator } from "./translator.ts";

const generated: Record<string, string[]> = JSON.parse(
  readFileSync(new URL("./generated/methods.json", import.meta.url), "utf8"),
);

const THREAD = "th-1";
const TURN = "tu-1";

describe("nothing of the protocol is forgotten", () => {
  it("the table and the binary name the same notifications", () => {
    expect(Object.keys(NOTIFICATION_TYPES).sort()).toEqual(generated.notifications);
  });

  it("the table and the binary name the same server requests and items", () => {
    expect(Object.keys(SERVER_REQUEST_TYPES).sort()).toEqual(generated.serverRequests);
    expect(Object.keys(ITEM_TYPES).sort()).toEqual(generated.items);
  });

  it.each(Object.entries(NOTIFICATION_TYPES))("%s has the disposition of the table", (method, row) => {
    const item = { id: "i1", type: method.startsWith("raw") ? "message" : "agentMessage", text: "x" };
    const params = {
      threadId: THREAD,
      turnId: TURN,
      itemId: "i1",
      item,
      turn: { id: TURN, status: "completed" },
      thread: { id: THREAD },
      diff: "d",
    };
    const [told] = new CodexTranslator().translate({ dir: "out", data: { method, params } });
    expect(told?.disposition).toBe(row.disposition);
    for (const draft of told?.drafts ?? []) if (draft.do === "event") expect(row.events).toContain(draft.type);
  });

  it.each(Object.entries(SERVER_REQUEST_TYPES))("request %s has the disposition of the table", (method, row) => {
    const params = {
      threadId: THREAD,
      conversationId: THREAD,
      turnId: TURN,
      itemId: "i1",
      callId: "i1",
      questions: [{ id: "q", question: "?" }],
    };
    const [told] = new CodexTranslator().translate({ dir: "out", data: { id: 0, method, params } });
    expect(told?.disposition).toBe(row.disposition);
  });

  it.each(Object.keys(ITEM_TYPES))("item %s makes an item, but for a compaction, which is none", (type) => {
    const translator = new CodexTranslator();
    const send = (method: string) =>
      translator.translate({
        dir: "out",
        data: {
          method,
          params: {
            threadId: THREAD,
            turnId: TURN,
            item: { id: "i1", type, kind: "interacted", content: [{ type: "text", text: "hi" }] },
          },
        },
      });
    const told = [...send("item/started"), ...send("item/completed")];
    expect(told.map(({ disposition }) => disposition)).toEqual(["mapped", "mapped"]);
    const drafts = told.flatMap(({ drafts }) => drafts.map((draft) => draft.do));
    if (type === "contextCompaction") return expect(drafts).toEqual(["turn.start", "status", "event"]);
    expect(drafts).toContain("item.start");
    // Reasoning is the beginning of a message: what follows it ends it.
    expect(drafts).toContain(type === "reasoning" ? "item.update" : "item.complete");
  });

  it("what a newer binary adds is unparsed under its own name, with what can be understood", () => {
    const [told] = new CodexTranslator().translate({
      dir: "out",
      data: { method: "thread/newThing", params: { threadId: THREAD } },
    });
    expect(told).toMatchObject({ session: THREAD, type: "thread/newThing", disposition: "unparsed" });
    const params = { threadId: THREAD, turnId: TURN, item: { id: "i1", type: "hologram", shape: 3 } };
    const [item] = new CodexTranslator().translate({ dir: "out", data: { method: "item/completed", params } });
    expect(item).toMatchObject({ disposition: "unparsed", type: "item/completed:hologram" });
    expect(item?.drafts.some((draft) => draft.do === "item.add" && draft.item.kind === "unknown")).toBe(true);
  });
});
