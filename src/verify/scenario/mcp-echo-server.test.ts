import { describe, expect, it } from "vitest";
import { answer } from "./mcp-echo-server.ts";

const ask = (method: string, params: object = {}) => answer({ jsonrpc: "2.0", id: 1, method, params });

describe("the MCP server of the scenarios", () => {
  it("shakes hands in the client's version and lists its tools", () => {
    expect(ask("initialize", { protocolVersion: "2024-11-05" })).toMatchObject({
      result: { protocolVersion: "2024-11-05", capabilities: { tools: {} } },
    });
    expect(ask("tools/list")).toMatchObject({ result: { tools: [{ name: "echo" }, { name: "fail" }, { name: "image" }] } });
  });

  it("echoes, fails and shows an image", () => {
    const call = (name: string) => ask("tools/call", { name, arguments: { message: "hi" } });
    expect(call("echo")).toEqual({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "echo: hi" }] } });
    expect(call("fail")).toMatchObject({ result: { isError: true } });
    expect(call("image")).toMatchObject({ result: { content: [{}, { type: "image", mimeType: "image/png" }] } });
  });

  it("answers requests only, and unknown ones with an error", () => {
    expect(answer({ jsonrpc: "2.0", method: "notifications/initialized" })).toBeUndefined();
    expect(answer("junk")).toBeUndefined();
    expect(ask("resources/list")).toMatchObject({ error: { code: -32601 } });
  });
});
