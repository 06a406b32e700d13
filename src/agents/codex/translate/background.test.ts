import { describe, expect, it } from "vitest";
import type { Draft } from "../../../schema/draft.ts";
import { Conversation } from "./test-thread.ts";
import { CodexTranslator } from "./translator.ts";

const taskDrafts = ({ rows }: Conversation): Draft[] => {
  const translator = new CodexTranslator();
  return rows
    .flatMap(({ dir, data }) => (dir === "daemon" ? [] : translator.translate({ dir, data })).flatMap(({ drafts }) => drafts))
    .filter(({ do: what }) => what.startsWith("task."));
};
const item = (more: object) => ({
  item: { type: "commandExecution", id: "c", command: "/bin/bash -lc 'npm run dev'", cwd: "/w", processId: "42", ...more },
  threadId: "th",
  turnId: "tu",
});
const delta = (text: string) => ({ threadId: "th", turnId: "tu", itemId: "c", delta: text });
const running = () =>
  new Conversation()
    .started()
    .turn()
    .notify("item/started", item({ status: "inProgress" }))
    .notify("item/commandExecution/outputDelta", delta("one\n"));
const turnOver = { threadId: "th", turn: { id: "tu", status: "completed" } };

describe("a command of Codex that outlives its turn", () => {
  it("is a task: what it wrote so far, what it writes, what only its end tells, and the end", () => {
    const talk = running()
      .notify("turn/completed", turnOver)
      .notify("item/commandExecution/outputDelta", delta("two\n"))
      .notify("item/completed", item({ status: "completed", aggregatedOutput: "one\ntwo\nthree\n", exitCode: 4 }));
    const [start, ...told] = taskDrafts(talk);
    expect(start).toMatchObject({ do: "task.start", command: "npm run dev", cwd: "/w", native: { processId: "42" } });
    expect(told.map((draft) => ("text" in draft ? draft.text : draft.do))).toEqual(["one\n", "two\n", "three\n", "task.end"]);
    expect(told.at(-1)).toMatchObject({ status: "exited", exit_code: 4 });
  });

  it("that Codex ended itself was stopped; with the process it is lost", () => {
    const stopped = running()
      .notify("turn/completed", turnOver)
      .notify("item/completed", item({ status: "failed", exitCode: -1 }));
    expect(taskDrafts(stopped).at(-1)).toMatchObject({ do: "task.end", status: "stopped" });
    expect(taskDrafts(running().notify("turn/completed", turnOver).exit(1)).at(-1)).toMatchObject({
      do: "task.end",
      status: "failed",
    });
  });

  it("one that ends in its turn is none", () => {
    expect(
      taskDrafts(
        running()
          .notify("item/completed", item({ status: "completed", exitCode: 0 }))
          .notify("turn/completed", turnOver),
      ),
    ).toEqual([]);
  });
});
