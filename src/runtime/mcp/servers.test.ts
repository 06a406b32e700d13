import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Question } from "../ports.ts";
import { TestDirectory } from "../tools/test-tools.ts";
import type { AnyTool, ToolResult } from "../tools/tool.ts";
import { McpServers, type McpServersOptions, toolName } from "./servers.ts";
import { PROGRAM, sdkAddress, startHttpServer } from "./test-server.ts";

let dir: string;
let servers: McpServers | null = null;
let place: TestDirectory;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "dragoman-mcp-"));
  writeFileSync(join(dir, "lab.mjs"), PROGRAM.replaceAll("$SDK", sdkAddress()));
  place = await TestDirectory.make();
});
afterEach(async () => {
  await servers?.close();
  await place.remove();
  rmSync(dir, { recursive: true, force: true });
});

async function start(given: Partial<McpServersOptions> = {}): Promise<McpServers> {
  const lab = { name: "lab", type: "stdio" as const, command: process.execPath, args: [join(dir, "lab.mjs")] };
  servers = new McpServers({
    servers: [{ ...lab, env: { CALLS: join(dir, "calls") } }],
    ...{ directory: dir, version: "1", environment: { PATH: process.env.PATH }, startMs: 60_000 },
    ...given,
  });
  await servers.start();
  return servers;
}

const named = (name: string): AnyTool => {
  const tool = servers?.tools().find((one) => one.name === `mcp__lab__${name}`);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
};
const call = (name: string, args: object = {}, signal?: AbortSignal): Promise<ToolResult> =>
  place.call(named(name), args, signal);

describe("a program", () => {
  it("gives its tools with their schemas, over several pages, and its results", async () => {
    const { states, tools } = { states: (await start()).states, tools: servers?.tools() ?? [] };
    expect(states).toEqual([{ name: "lab", status: "connected", tools: 9 }]);
    expect(tools.map(({ name }) => name)).toContain("mcp__lab__file");
    expect(named("add")).toMatchObject({ effect: "unknown", schema: { properties: { a: { type: "number" } } } });
    expect(await call("add", { a: 2, b: 3 })).toMatchObject({ output: "5", isError: false });
    expect(await call("fail")).toMatchObject({ output: "no such thing", isError: true });
  });

  it("gives pictures to the model, and other files to the person", async () => {
    await start();
    const picture = await call("picture");
    expect(picture.output).toEqual([{ type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" }]);
    const { output, files, artifacts } = await call("file");
    expect(output).toContain("a note");
    expect(files).toEqual([{ name: "audio", mime: "audio/wav", base64: "UklGRg==" }]);
    expect(await place.blobs.get(artifacts?.[0] ?? "")).toEqual(Buffer.from("RIFF"));
    const long = await call("long");
    expect(String(long.output).length).toBeLessThan(60_000);
    expect(await place.blobs.get(long.artifacts?.[0] ?? "")).toHaveLength(200_000);
  });

  it("asks the person, and again when an answer does not fit", async () => {
    const asked: (readonly Question[])[] = [];
    const answers = [
      ["Ada", "old"],
      ["Ada", "36"],
    ];
    const ask = async (questions: readonly Question[]): Promise<readonly string[] | null> => {
      asked.push(questions);
      return answers[asked.length - 1] ?? null;
    };
    await start({ questions: { ask } });
    expect(JSON.parse(String((await call("ask")).output))).toEqual({ action: "accept", content: { name: "Ada", age: 36 } });
    expect(asked[0]?.[0]?.question).toContain("lab: Who are you?");
    expect(asked[1]?.[0]?.question).toContain("age: this answer does not fit");
    expect(JSON.parse(String((await call("ask")).output))).toEqual({ action: "cancel" });
  });

  it("that dies is told with its last words; the next call starts it again, and no call is made twice", async () => {
    await start();
    await expect(call("die")).rejects.toThrow(/MCP server lab failed: it ended with exit code 3.*the lab is on fire/s);
    expect(servers?.states[0]).toMatchObject({ status: "failed" });
    expect(await call("add", { a: 1, b: 1 })).toMatchObject({ output: "2" });
    expect(readFileSync(join(dir, "calls"), "utf8")).toBe("die\nadd\n");
  });

  it("that hangs is given up after its time, and the server stays", async () => {
    await start({ callMs: 300 });
    await expect(call("hang")).rejects.toThrow(/did not answer within/);
    expect(await call("add", { a: 1, b: 1 })).toMatchObject({ output: "2" });
  });

  it("is interrupted with the turn", async () => {
    await start();
    const abort = new AbortController();
    const hanging = call("hang", {}, abort.signal);
    abort.abort();
    await expect(hanging).rejects.toThrow(/interrupted/);
  });

  it("takes back what it asked the person when its call is interrupted, and when it dies", async () => {
    let pid = 0;
    const asked: AbortSignal[] = [];
    let onAsk = (): void => {};
    const ask = (_questions: readonly Question[], signal: AbortSignal): Promise<null> => {
      asked.push(signal);
      onAsk();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
    };
    const question = (): Promise<void> =>
      new Promise((resolve) => {
        onAsk = resolve;
      });
    const onStarted = (started: number): void => {
      pid = started;
    };
    await start({ questions: { ask }, onStarted });
    const abort = new AbortController();
    const first = question();
    const interrupted = call("ask", {}, abort.signal);
    await first;
    abort.abort();
    await expect(interrupted).rejects.toThrow(/interrupted/);
    const second = question();
    const dying = call("ask");
    await second;
    process.kill(pid, "SIGKILL");
    await expect(dying).rejects.toThrow(/SIGKILL/);
    expect(asked.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it("changes its list of tools", async () => {
    await start();
    const changed = new Promise<void>((resolve) => servers?.onChange(resolve));
    await call("grow");
    await changed;
    expect(await call("grown")).toMatchObject({ output: "new" });
  });

  it("that is none is told, and holds nobody", async () => {
    const [wrong, silent] = ["wrong", "silent"].map((name) => ({ name, type: "stdio" as const }));
    await start({
      startMs: 500,
      servers: [
        { ...wrong, name: "wrong", type: "stdio", command: "/no/such/program" },
        { ...silent, name: "silent", type: "stdio", command: "sleep", args: ["60"] },
      ],
    });
    expect(servers?.states).toMatchObject([
      { status: "failed", error: expect.stringContaining("ENOENT") },
      { status: "failed", error: expect.stringContaining("did not answer") },
    ]);
    expect(servers?.tools()).toEqual([]);
  });
});

describe("an address", () => {
  it("is spoken to with its headers, in a session", async () => {
    const remote = await startHttpServer("secret");
    const spec = { name: "far away", type: "http" as const, url: remote.url };
    await start({ servers: [{ ...spec, headers: { authorization: "Bearer secret" } }] });
    const [tool] = servers?.tools() ?? [];
    expect(tool?.name).toBe("mcp__far_away__echo_back");
    expect(await place.call(tool as AnyTool, { a: 1 })).toMatchObject({ output: 'heard {"a":1}' });
    await servers?.close();
    await start({ servers: [spec] });
    expect(servers?.states[0]).toMatchObject({ status: "failed", error: expect.stringContaining("401") });
    await remote.close();
  });

  it("that leads elsewhere is not followed: its headers may hold keys", async () => {
    const http = createServer(
      (_request, response) => void response.writeHead(307, { location: "http://elsewhere.invalid/" }).end(),
    );
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    await start({ servers: [{ name: "r", type: "http", url: `http://127.0.0.1:${port}/` }] });
    expect(servers?.states[0]).toMatchObject({
      status: "failed",
      error: expect.stringContaining("redirects to http://elsewhere"),
    });
    http.close();
  });
});

describe("names", () => {
  it("fit what providers take, and stay unique", () => {
    expect(toolName("my server", "do/it")).toBe("mcp__my_server__do_it");
    const long = toolName("s", "x".repeat(100));
    expect(long).toHaveLength(64);
    expect(toolName("s", `${"x".repeat(100)}y`)).not.toBe(long);
    expect(toolName("a b", "c", new Set(["mcp__a_b__c"]))).toMatch(/^mcp__a_b__c_[0-9a-f]{8}$/);
  });
});
