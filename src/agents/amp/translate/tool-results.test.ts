import { describe, expect, it } from "vitest";
import { resultParts } from "./tool-results.ts";

const call = (name: string, input: Record<string, unknown> = {}) => ({ name, input, call_id: "c" });

describe("results of Amp's tools", () => {
  it("Bash: the exit code is inside the JSON text, and a failure is not called one by Amp", () => {
    expect(resultParts(call("Bash"), '{"output":"before\\n","exitCode":3}', false)).toEqual([
      { type: "tool_result", call_id: "c", output: "before\n", is_error: true, exit_code: 3 },
    ]);
  });

  it("Bash: what failed is read in the same way when Amp says that it failed", () => {
    expect(resultParts(call("Bash"), '{"output":"before\\n","exitCode":3}', true)).toEqual([
      { type: "tool_result", call_id: "c", output: "before\n", is_error: true, exit_code: 3 },
    ]);
  });

  it("a result that is an object and no text is read like its JSON", () => {
    expect(resultParts(call("Bash"), { output: "done", exitCode: 0 }, false)).toEqual([
      { type: "tool_result", call_id: "c", output: "done", exit_code: 0 },
    ]);
    expect(resultParts(call("x"), 7, false)).toMatchObject([{ output: "7" }]);
  });

  it("edit_file: the diff without its fence, as a change of the file", () => {
    const diff = "--- /w/a\toriginal\n+++ /w/a\tmodified\n@@ -1,1 +1,1 @@\n-x\n+y";
    const parts = resultParts(
      call("edit_file", { path: "/w/a" }),
      JSON.stringify({ diff: `\`\`\`diff\n${diff}\n\`\`\``, lineRange: [1, 1] }),
      false,
    );
    expect(parts[1]).toEqual({ type: "file_ref", path: "/w/a", action: "patch", diff: `${diff}\n` });
    expect(parts[0]).toMatchObject({ output: diff });
  });

  it("create_file: the new file as a diff, made from what was asked for", () => {
    const parts = resultParts(call("create_file", { path: "/w/n", content: "one\n" }), "Successfully created file /w/n", false);
    expect(parts[1]).toMatchObject({ type: "file_ref", path: "/w/n", action: "write" });
    expect(parts[1]).toHaveProperty("diff", expect.stringContaining("+one"));
  });

  it("apply_patch (deep mode): one change for each file in the patch", () => {
    const patchText = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** Add File: b.txt\n+new\n*** End Patch\n";
    const parts = resultParts(call("apply_patch", { patchText }), "Done!", false).slice(1);
    expect(parts).toMatchObject([
      { path: "a.txt", action: "patch", diff: "--- a.txt\n+++ a.txt\n@@\n-x\n+y\n" },
      { path: "b.txt", action: "patch" },
    ]);
    expect(parts[1]).toHaveProperty("diff", expect.stringContaining("+new"));
  });

  it("Read: text, a directory, an image", () => {
    expect(resultParts(call("Read"), '{"absolutePath":"/w/a","content":"1: x"}', false)).toEqual([
      { type: "tool_result", call_id: "c", output: "1: x" },
      { type: "file_ref", path: "/w/a", action: "read" },
    ]);
    expect(resultParts(call("Read"), '{"absolutePath":"/w","content":"a\\nb","isDirectory":true}', false)).toHaveLength(1);
    const image = JSON.stringify({
      absolutePath: "/w/p.png",
      content: "AAAA",
      isImage: true,
      imageInfo: { mimeType: "image/png", size: 3 },
    });
    expect(resultParts(call("Read"), image, false)[1]).toEqual({
      type: "media",
      media: "image",
      mime: "image/png",
      base64: "AAAA",
      name: "/w/p.png",
    });
  });

  it("MCP: content blocks as JSON text, bytes never as text", () => {
    const content = JSON.stringify([
      { type: "text", text: "a picture" },
      { type: "image", data: "AAAA", mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///x", text: "inside" } },
    ]);
    expect(resultParts(call("mcp__lab__picture"), content, false)).toEqual([
      { type: "tool_result", call_id: "c", output: "a picture" },
      { type: "media", media: "image", mime: "image/png", base64: "AAAA" },
      { type: "resource", uri: "file:///x", text: "inside" },
    ]);
  });

  it("errors are plain text, whatever the tool", () => {
    expect(resultParts(call("Read"), '{"looks":"like JSON"}', true)).toEqual([
      { type: "tool_result", call_id: "c", output: '{"looks":"like JSON"}', is_error: true },
    ]);
  });

  it("what is cut or unknown stays as it is", () => {
    expect(resultParts(call("Bash"), '{"output":"cut', false)[0]).toMatchObject({ output: '{"output":"cut' });
    expect(resultParts(call("oracle"), '{"some":"thing"}', false)[0]).toMatchObject({ output: '{"some":"thing"}' });
    expect(resultParts(call("oracle"), [{ type: "text", text: "blocks" }], false)[0]).toMatchObject({ output: "blocks" });
  });
});
