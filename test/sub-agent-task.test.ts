// The task that an agent gives to its sub-agent has the role `user`, and no person wrote it. A recorded session of Claude Code, seen by everything that says
// who spoke.
import { describe, expect, it, vi } from "vitest";
import { itemText } from "../inspector/src/export/transcript-text.ts";
import { lineOf as lastLine } from "../inspector/src/state/last-line-of.ts";
import { itemMessage } from "../src/dialects/item-messages.ts";
import { lineOf as mcpLine } from "../src/mcp/transcript.ts";
import { speakerOf } from "../src/schema/speaker.ts";
import { entriesOf } from "../src/search/entry-text.ts";
import { lineOf as earlierLine } from "../src/session/earlier-conversation.ts";
import { recordedSessions } from "./recorded-events.ts";

// Needs a browser; nothing here asks a daemon.
vi.mock("../inspector/src/state/daemon.ts", () => ({ daemon: {} }));

const events = recordedSessions().find(({ name }) => name.startsWith("claude/2.1.325/subagent.ndjson"))?.events ?? [];
const messages = events.flatMap((event) =>
  event.type === "item.completed" && event.data.item.role === "user" ? [{ event, item: event.data.item }] : [],
);

describe("the task of a sub-agent", () => {
  it("[U2] is told apart from what a person wrote, wherever it is said who spoke", () => {
    const context = { roleOf: () => "user", visibilityOf: () => "public" } as const;
    const seen = messages.map(({ event, item }) => ({
      speaker: speakerOf(item),
      message: itemMessage(event, context).subtype,
      found: entriesOf(event).map(({ sort }) => sort),
      model: mcpLine(item, 100).role,
      earlier: earlierLine(item)?.split(":")[0],
      overview: lastLine(item)?.by,
      page: itemText(item, "/workspace").split("\n")[0],
    }));
    expect(seen).toEqual([
      {
        ...{ speaker: "user", message: "message", found: ["user"], model: "user" },
        ...{ earlier: "User", overview: "user", page: "## You" },
      },
      {
        ...{ speaker: "task", message: "task", found: ["assistant"], model: "task" },
        ...{ earlier: "Task of a sub-agent", overview: "agent", page: "## Task of a sub-agent" },
      },
    ]);
  });
});

describe("the tokens of a sub-agent", () => {
  // The calls of the session's own model; the sub-agent read as many again, or less.
  it.each([
    ["claude/2.1.325", 9_408 + 9_618],
    ["codex/0.166.0", 6_721 + 6_738],
  ])("are not in the usage of a turn of %s", (agent, own) => {
    const recorded = recordedSessions().find(({ name }) => name.startsWith(`${agent}/subagent.ndjson`))?.events ?? [];
    const turns = recorded.flatMap((event) => (event.type === "turn.ended" ? [event.data.usage?.input_tokens] : []));
    expect(turns).toEqual([own]);
  });

  it("of OpenCode are in its own steps, and not in the turn", () => {
    const recorded = recordedSessions().find(({ name }) => name.startsWith("opencode/1.18.33/subagent.ndjson"))?.events ?? [];
    const sum = (counts: (number | undefined)[]) => counts.reduce<number>((all, count) => all + (count ?? 0), 0);
    const steps = recorded.flatMap((event) => (event.type === "step.ended" ? [event.data.usage?.input_tokens] : []));
    const turns = recorded.flatMap((event) => (event.type === "turn.ended" ? [event.data.usage?.input_tokens] : []));
    expect(sum(turns)).toBeGreaterThan(0);
    expect(sum(steps)).toBeGreaterThan(sum(turns));
  });
});
