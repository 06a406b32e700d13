import { describe, expect, it } from "vitest";
import type { ProtocolName } from "../model-server/model-request.ts";
import { startModelServer } from "../model-server/model-server.ts";
import { bodies, paths, postJson, scenario } from "../model-server/test-client.ts";
import { nativeCall, type ToolProfile } from "./tool-names.ts";

const offer = (protocol: ProtocolName, names: readonly [string, string][]): object => {
  const described = names.map(([name, property]) => ({
    name,
    schema: { type: "object", properties: { [property]: { type: "string" } } },
  }));
  switch (protocol) {
    case "anthropic":
      return { tools: described.map(({ name, schema }) => ({ name, input_schema: schema })) };
    case "responses":
      return { tools: described.map(({ name, schema }) => ({ type: "function", name, parameters: schema })) };
    case "chat":
      return { tools: described.map(({ name, schema }) => ({ type: "function", function: { name, parameters: schema } })) };
    case "gemini":
      return { tools: [{ functionDeclarations: described.map(({ name, schema }) => ({ name, parametersJsonSchema: schema })) }] };
    default:
      return protocol satisfies never;
  }
};

const agents: [ToolProfile, ProtocolName, [string, string][], string][] = [
  [
    "claude",
    "anthropic",
    [
      ["Bash", "command"],
      ["Read", "file_path"],
    ],
    '"name":"Bash","input":{"command":"ls","description":"run a command"}',
  ],
  [
    "amp",
    "anthropic",
    [
      ["Bash", "cmd"],
      ["create_file", "path"],
    ],
    '"name":"Bash","input":{"cmd":"ls"}',
  ],
  [
    "codex",
    "responses",
    [["exec_command", "cmd"]],
    '"name":"exec_command","type":"function_call","arguments":"{\\"cmd\\":\\"ls\\"}"',
  ],
  [
    "opencode",
    "chat",
    [
      ["bash", "command"],
      ["todowrite", "todos"],
    ],
    '"name":"bash","arguments":"{\\"command\\":\\"ls\\"',
  ],
  ["qwen", "chat", [["run_shell_command", "command"]], '"name":"run_shell_command","arguments":"{\\"command\\":\\"ls\\"'],
  [
    "copilot",
    "chat",
    [
      ["bash", "command"],
      ["view", "path"],
      ["create", "path"],
    ],
    '"name":"bash"',
  ],
  ["gemini", "gemini", [["run_shell_command", "command"]], '"name":"run_shell_command","args":{"command":"ls"'],
];

describe("tool names", () => {
  it.each(agents)("%s is known by its tools and gets its own call", async (_profile, protocol, names, expected) => {
    const server = await startModelServer({
      scenarios: [scenario("t", [{ blocks: [{ type: "tool", name: "shell", input: { command: "ls" } }] }])],
    });
    const body = { ...bodies[protocol]([{ user: "[[scenario:t]]" }]), ...offer(protocol, names) };
    expect(JSON.stringify(await postJson(`${server.url}${paths[protocol]}`, body))).toContain(expected);
    await server.close();
  });

  it("fills {{cwd}} from the prompt, from the server, or from what the agent tells its model", async () => {
    const read = scenario("r", [{ blocks: [{ type: "tool", name: "read", input: { path: "{{cwd}}/a.txt" } }] }]);
    const ask = (url: string, user: string, system = "") =>
      postJson(`${url}/v1/messages`, { ...bodies.anthropic([{ user }]), system });
    const server = await startModelServer({ scenarios: [read] });
    expect(JSON.stringify(await ask(server.url, "[[scenario:r]] [[cwd:/in/the prompt]]"))).toContain("/in/the prompt/a.txt");
    expect(JSON.stringify(await ask(server.url, "[[scenario:r]]", " - Primary working directory: /told/here\n"))).toContain(
      "/told/here/a.txt",
    );
    const gemini = " The context.\n- **Workspace Directories:**\n  - /told/by-gemini\n- **Directory Structure:**";
    expect(JSON.stringify(await ask(server.url, "[[scenario:r]]", gemini))).toContain("/told/by-gemini/a.txt");
    await server.close();
    const given = await startModelServer({ scenarios: [read], variables: { cwd: "/given" } });
    expect(JSON.stringify(await ask(given.url, "[[scenario:r]]"))).toContain("/given/a.txt");
    await given.close();
  });

  it("writes patches for codex, and JavaScript for its code mode", () => {
    const patch = "*** Begin Patch\n*** Add File: /w/a\n+one\n+two\n*** End Patch\n";
    const input = { path: "/w/a", content: "one\ntwo\n" };
    expect(nativeCall("codex", "write", input)).toEqual({ kind: "free_text", name: "apply_patch", text: patch });
    expect(nativeCall("codex-code-mode", "write", input)).toMatchObject({
      name: "exec",
      text: expect.stringContaining(JSON.stringify(patch)),
    });
  });

  it("passes a tool through that the agent does not have", () => {
    expect(nativeCall("amp", "ask", { questions: [] })).toEqual({ kind: "json", name: "ask", input: { questions: [] } });
    expect(nativeCall(undefined, "shell", { command: "ls" })).toMatchObject({ name: "shell", input: { command: "ls" } });
  });
});
