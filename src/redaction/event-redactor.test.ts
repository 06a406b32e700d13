/** Events of one reader: a secret that is divided between what an item says already and its deltas. */
import { expect, it } from "vitest";
import type { ContentPart } from "../schema/content.ts";
import { EventRedactor } from "./event-redactor.ts";
import { Redactor } from "./redactor.ts";

const SECRET = `sk-ant-api03-${"x7Yz".repeat(10)}`;
const item = (status: string, part: ContentPart) => ({
  item_id: "item_1",
  kind: part.type === "text" ? "message" : part.type,
  role: "assistant",
  parent_id: null,
  status,
  content: [part],
});
const event = (sequence: number, type: string, data: object): string =>
  JSON.stringify({ session_id: "ses_1", sequence, type, data });
const delta = (sequence: number, text: string): string =>
  event(sequence, "item.delta", { item_id: "item_1", part_index: 0, delta: text });

const PARTS: Record<string, (text: string) => ContentPart> = {
  "item.updated": (text) => ({ type: "text", text }),
  "item.started": (output) => ({ type: "tool_result", call_id: "call_1", output }) as ContentPart,
};

for (const [type, part] of Object.entries(PARTS))
  it(`[R1] is not shown when ${type} holds its beginning, wherever it is cut and wherever a reader begins`, async () => {
    for (let cut = 1; cut < SECRET.length; cut++) {
      const [before, after] = [SECRET.slice(0, cut), SECRET.slice(cut)];
      const story = [
        event(1, type, { item: item("in_progress", part(`the key is ${before}`)) }),
        delta(2, after.slice(0, 3)),
        delta(3, `${after.slice(3)} and more`),
        event(4, "item.completed", { item: item("completed", part(`the key is ${SECRET} and more`)) }),
      ];
      for (const from of [0, 1, 2]) {
        const history = { before: async (_: string, sequence: number) => story.slice(0, sequence - 1).reverse() };
        const reader = new EventRedactor(async () => new Redactor(), history);
        let text = "";
        for (const json of story.slice(from, 3)) {
          const { data } = JSON.parse(await reader.event(json));
          text += data.delta ?? JSON.stringify(data.item.content);
        }
        for (const piece of [before, after])
          if (piece.length > 16) expect([cut, from, text.includes(piece.slice(0, 16))]).toEqual([cut, from, false]);
        if (from === 0) expect([cut, text.includes("[redacted:anthropic_key] and more")]).toEqual([cut, true]);
        expect(await reader.event(story[3] ?? "")).not.toContain("x7Yz");
      }
    }
  });
