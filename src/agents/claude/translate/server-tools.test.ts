/** Tools that ran at the provider, and the sources it gives for a text. */
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../json.ts";
import { assistant, init, of, play, result, text, user } from "./test-frames.ts";

const served = (name: string, block: JsonRecord) =>
  play(
    user("x"),
    init(),
    assistant("m", { type: "server_tool_use", id: "s", name, input: {} }),
    assistant("m", { tool_use_id: "s", ...block }),
    result(),
  );
const resultOf = (played: ReturnType<typeof play>) => played.items.find(({ kind }) => kind === "tool_result");

describe("a tool of the provider", () => {
  it("[U3] that ran a command failed with its exit code; the files it made are named", () => {
    const run = (return_code: number) =>
      served("bash_code_execution", {
        type: "bash_code_execution_tool_result",
        content: {
          type: "bash_code_execution_result",
          stdout: "out",
          stderr: "",
          return_code,
          content: [{ type: "bash_code_execution_output", file_id: "file_1" }],
        },
      });
    expect(run(2).rules).toEqual([]);
    expect(resultOf(run(2))).toMatchObject({
      status: "failed",
      content: [
        { type: "tool_result", output: "out", is_error: true, exit_code: 2 },
        { type: "resource", uri: "file_1" },
      ],
    });
    expect(resultOf(run(0))?.status).toBe("completed");
  });

  it("that read a page gives its text, and bytes as a part", () => {
    const page = (source: JsonRecord) =>
      served("web_fetch", {
        type: "web_fetch_tool_result",
        content: { type: "web_fetch_result", url: "https://e.org", content: { type: "document", title: "T", source } },
      });
    expect(resultOf(page({ type: "text", media_type: "text/plain", data: "words" }))?.content).toMatchObject([
      { type: "tool_result", output: "words" },
      { type: "resource", uri: "https://e.org", text: "T" },
    ]);
    const pdf = page({ type: "base64", media_type: "application/pdf", data: "aGk=" });
    expect(pdf.rules).toEqual([]);
    expect(resultOf(pdf)?.content).toMatchObject([
      { output: "https://e.org" },
      { type: "resource", uri: "https://e.org" },
      { type: "resource", mime: "application/pdf" },
    ]);
  });

  it("of an MCP server names the server", () => {
    const block = { type: "mcp_tool_use", id: "c", name: "echo", server_name: "lab", input: {} };
    const played = play(user("x"), init(), assistant("m", block), result());
    expect(played.items.find(({ kind }) => kind === "tool_call")?.content).toMatchObject([
      { name: "echo", tool_kind: "mcp", title: "lab: echo" },
    ]);
  });
});

it("the sources of a text are told", () => {
  const citations = [{ type: "web_search_result_location", url: "https://e.org", title: "T", cited_text: "c" }];
  const played = play(user("x"), init(), assistant("m", { ...text("As they say."), citations }), result());
  expect(played.rules).toEqual([]);
  expect(of(played, "agent.notice")).toEqual([{ name: "citations", detail: { native_item_id: "m", citations } }]);
});
