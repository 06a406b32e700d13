// Terminals and file changes of ACP v2: what they say of the call that they belong to, in whatever order, and also when it has ended.
import { describe, expect, it } from "vitest";
import { Talk } from "./test-talk.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const running = (more: object = {}): Talk => {
  const talk = Talk.with("x", {}, 2);
  talk.prompt("go");
  const content = [{ type: "terminal", terminalId: "t" }];
  talk.update("tool_call_update", { toolCallId: "c", title: "Run", kind: "execute", status: "in_progress", content, ...more });
  return talk;
};
const result = (talk: Talk) => {
  const added = talk.of("item.add").find(({ item }) => item.kind === "tool_result")?.item.content;
  return (added ?? talk.of("item.complete").at(-1)?.content)?.[0];
};
const notices = (talk: Talk) => talk.of("event").flatMap((draft) => (draft.type === "agent.notice" ? [draft.data] : []));

describe("how a command in a terminal of v2 ended", () => {
  it.each([
    [
      { exitCode: 3, signal: null },
      { exit_code: 3, is_error: true },
    ],
    [
      { exitCode: null, signal: "SIGTERM" },
      { exit_code: null, is_error: true },
    ],
    [{ signal: "SIGKILL" }, { exit_code: null, is_error: true }],
  ])("%j", (exitStatus, expected) => {
    const talk = running();
    talk.update("terminal_update", { terminalId: "t", output: { data: base64("half") }, exitStatus });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed" });
    expect(result(talk)).toMatchObject({ output: "half", ...expected });
  });

  it("without a code and without a signal nothing is known", () => {
    const talk = running();
    talk.update("terminal_update", { terminalId: "t", exitStatus: { exitCode: null, signal: null } });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed" });
    expect(result(talk)).not.toHaveProperty("exit_code");
  });
});

describe("what a terminal of v2 says", () => {
  it.each(["before", "after"])("its command is what the call runs, said %s the call", (order) => {
    const talk = Talk.with("x", {}, 2);
    talk.prompt("go");
    const terminal = () => talk.update("terminal_update", { terminalId: "t", command: "make", cwd: "/work" });
    const content = [{ type: "terminal", terminalId: "t" }];
    if (order === "before") terminal();
    talk.update("tool_call_update", { toolCallId: "c", title: "Run", kind: "execute", content });
    if (order === "after") terminal();
    const [part] = talk.of("item.update").at(-1)?.content ?? [];
    expect(part).toMatchObject({ type: "tool_call", arguments: JSON.stringify({ command: "make", cwd: "/work" }) });
  });

  it("output after the end of its call is a notice, once", () => {
    const talk = running();
    talk.update("terminal_output_chunk", { terminalId: "t", data: base64("one") });
    talk.update("tool_call_update", { toolCallId: "c", status: "completed" });
    talk.update("terminal_output_chunk", { terminalId: "t", data: base64("two") });
    talk.update("terminal_update", { terminalId: "t", output: { data: base64("onetwothree") } });
    talk.update("terminal_update", { terminalId: "t", output: { data: base64("onetwothree") } });
    expect(notices(talk)).toEqual([
      { name: "late_tool_result", detail: { call_id: "c", output: "two" } },
      { name: "late_tool_result", detail: { call_id: "c", output: "three" } },
    ]);
  });

  it.each([
    ["terminal_update", {}, "terminal without an id"],
    ["terminal_output_chunk", { data: base64("x") }, "terminal without an id"],
    ["terminal_output_chunk", { terminalId: "t" }, "output of a terminal that is no text"],
    ["terminal_update", { terminalId: "t", output: { data: 5 } }, "output of a terminal that is no text"],
  ])("%s %j is not understood", (variant, update, error) => {
    const talk = running();
    talk.update(variant, update);
    expect(talk.unparsed().map((each) => each.error)).toEqual([error]);
  });
});

describe("changes of files in v2", () => {
  const changed = (changes: object[], text: string) => {
    const talk = Talk.with("x", {}, 2);
    talk.prompt("go");
    const content = [{ type: "diff", changes, patch: { format: "git_patch", text } }];
    talk.update("tool_call_update", { toolCallId: "c", title: "Edit", kind: "edit", status: "completed", content });
    const [call] = talk.of("item.start").filter(({ item }) => item.kind === "tool_call");
    const files = talk.of("item.add").flatMap(({ item }) => item.content ?? []);
    return { paths: call?.item.content?.[0], files: files.filter(({ type }) => type === "file_ref") };
  };
  const section = (path: string) => `diff --git a${path} b${path}\n--- a${path}\n+++ b${path}\n@@ -1 +1 @@\n-a\n+b\n`;

  it("each file has its own part of the patch, also when a name begins like another", () => {
    const [longer, shorter] = [section("/w/a.tsx"), section("/w/a.ts")];
    const modify = (path: string) => ({ operation: "modify", path });
    const { files } = changed([modify("/w/a.ts"), modify("/w/b.ts"), modify("/w/a.tsx")], longer + shorter);
    expect(files).toEqual([
      { type: "file_ref", path: "/w/a.ts", action: "patch", diff: shorter },
      { type: "file_ref", path: "/w/b.ts", action: "patch", diff: null },
      { type: "file_ref", path: "/w/a.tsx", action: "patch", diff: longer },
    ]);
  });

  it.each([
    ["move", "patch", "rename"],
    ["copy", "write", "copy"],
  ])("a %s concerns both files, and what it leaves is the new one", (operation, action, word) => {
    const text = `diff --git a/w/a b/w/b\nsimilarity index 100%\n${word} from w/a\n${word} to w/b\n`;
    const { paths, files } = changed([{ operation, oldPath: "/w/a", path: "/w/b" }], text);
    expect(paths).toMatchObject({ paths: ["/w/b", "/w/a"] });
    expect(files).toEqual([{ type: "file_ref", path: "/w/b", action, diff: text }]);
  });

  it("a patch without a list of changes names its files, also one with a space and one that is gone", () => {
    const gone = "diff --git a/w/old b/w/old\n--- a/w/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    const { files } = changed([], section("/w/my file.ts") + gone);
    expect(files).toMatchObject([{ path: "w/my file.ts" }, { path: "w/old" }]);
  });
});
