import { expect, it } from "vitest";
import { Conversation } from "./test-thread.ts";
import { CodexTranslator } from "./translator.ts";

it("a SKILL.md that a command reads is the use of that skill; other files and other commands are none", () => {
  const { rows } = new Conversation()
    .started()
    .turn()
    .notify("item/started", {
      threadId: "th",
      turnId: "tu",
      item: {
        type: "commandExecution",
        id: "c",
        command: "cat /roots/heron/SKILL.md README.md",
        cwd: "/w",
        commandActions: [
          { type: "read", command: "cat", name: "SKILL.md", path: "/roots/heron/SKILL.md" },
          { type: "read", command: "cat", name: "README.md", path: "/w/README.md" },
          { type: "search", command: "rg", query: "x", path: "/roots/stork/SKILL.md" },
        ],
      },
    });
  const translator = new CodexTranslator();
  const drafts = rows.flatMap(({ dir, data }) =>
    (dir === "daemon" ? [] : translator.translate({ dir, data })).flatMap((translation) => translation.drafts),
  );
  expect(drafts.filter((draft) => draft.do === "event" && draft.type === "skill.invoked")).toEqual([
    { do: "event", type: "skill.invoked", data: { name: "heron", mode: "auto" } },
  ]);
});
