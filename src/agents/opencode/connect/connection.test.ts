// The connection against a program that speaks as OpenCode does: real processes, real sockets.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { UniversalEvent } from "../../../schema/event.ts";
import { checkGrammar } from "../../../schema/grammar.ts";
import { NativeChannel, type NativeRecord, unparsedOf } from "../../../session/channel.ts";
import { EventWriter, jsonOf, type LogEntry } from "../../../session/event-writer.ts";
import { countingIds, isoClock } from "../../../session/ids.ts";
import { Scribe } from "../../../session/scribe.ts";
import type { AgentHost, Connection, Launch, SessionConfig, SessionPort, Translation } from "../../contract.ts";
import { sessionConfig } from "../../kit/test-config.ts";
import { opencodeWith } from "../agent.ts";
import { ServerPool } from "./server-pool.ts";

const pool = new ServerPool();
const agent = opencodeWith(pool);
const PROGRAM = fileURLToPath(new URL("./test-server.mjs", import.meta.url));
const artifacts = {
  put: (bytes: Buffer) => ({ artifact_id: "art_1", path: "/v1/artifacts/art_1", bytes: bytes.length, digest: "sha256:0" }),
};

/** A session as far as a connection sees it. */
class Desk implements SessionPort {
  readonly session_id: string;
  readonly events: UniversalEvent[] = [];
  readonly rows: { dir: string; data: unknown }[] = [];
  readonly scribe: Scribe;
  #waiting: (() => void)[] = [];

  constructor(name: string) {
    this.session_id = name;
    const append = (entry: LogEntry) => {
      this.events.push(JSON.parse(jsonOf(entry)));
      for (const wake of this.#waiting.splice(0)) wake();
    };
    const writer = new EventWriter({
      sessionId: name,
      sink: { append },
      ids: countingIds(`${name}_`),
      clock: isoClock(() => Date.now()),
    });
    this.scribe = new Scribe(writer, artifacts);
    this.scribe.begin({});
  }

  attached(): void {}
  closed(): void {}
  say(drafts: Parameters<SessionPort["say"]>[0]): void {
    this.scribe.say(drafts);
  }

  ingest(record: NativeRecord, translations: Translation[]): void {
    const { dir, raw } = record;
    this.rows.push({ dir, data: JSON.parse(String(raw)) });
    for (const translation of translations)
      this.scribe.translation(translation, this.rows.length, dir !== "in", unparsedOf(translation, "test", record));
  }

  async until(met: () => boolean): Promise<void> {
    while (!met()) await new Promise<void>((wake) => this.#waiting.push(wake));
  }

  get stops(): string[] {
    return this.events.flatMap((event) => (event.type === "turn.ended" ? [event.data.stop_reason] : []));
  }

  get texts(): string[] {
    return this.events.flatMap((event) =>
      event.type === "item.completed"
        ? [event.data.item.content.map((part) => ("text" in part ? part.text : part.type)).join()]
        : [],
    );
  }

  async ended(turns: number): Promise<void> {
    await this.until(() => this.stops.length >= turns);
  }
}

describe("the connection", () => {
  let folder: string;
  let host: AgentHost;
  let sessions = 0;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "opencode-test-"));
    host = {
      resolveCommand: async () => ({ command: process.execPath, args: [PROGRAM] }),
      environment: (extra) => ({ PATH: process.env.PATH ?? "", ...extra }),
      settings: { linger_ms: 0 },
      stateDir: join(folder, "state"),
      processDir: join(folder, "processes"),
      version: "test",
      openChannel: (translator) => new NativeChannel(translator, (port) => port as Desk),
      log: () => {},
    };
  });

  afterEach(async () => {
    await agent.close?.();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(
    more: Partial<SessionConfig> = {},
    resume: Launch["resume"] = null,
  ): Promise<{ desk: Desk; line: Connection }> {
    const desk = new Desk(`s${++sessions}`);
    const config = sessionConfig({ session_id: desk.session_id, directory: join(folder, `dir${sessions}`), ...more });
    const line = await agent.connect({ config, resume, port: desk, host });
    return { desk, line };
  }
  const message = (text: string) => ({ message_id: "m", text, attachments: [] });
  const repliedIn = (desk: Desk) =>
    desk.rows.flatMap(({ data }) => {
      const { payload } = data as { payload?: { type: string; properties: { reply: string } } };
      return payload?.type === "permission.replied" ? [payload.properties.reply] : [];
    });
  const opened = (desk: Desk) => desk.rows.filter(({ data }) => JSON.stringify(data).includes('"sse-open"')).length;

  it("twenty sessions cost one process and one event stream", async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => open()));
    await Promise.all(all.map(({ line }, index) => line.prompt(message(`number ${index}`))));
    for (const { desk } of all) await desk.ended(1);
    expect(all.map(({ desk }) => desk.texts.at(-1))).toEqual(all.map((_, index) => `Half and whole: number ${index}`));
    expect(pool.servers).toHaveLength(1);
    expect(all.reduce((sum, { desk }) => sum + opened(desk), 0)).toBe(1);
    for (const { desk } of all) expect(checkGrammar(desk.events)).toEqual([]);
  });

  it("a stream that listens late loses nothing: the creation of the session is heard", async () => {
    const { desk } = await open();
    await desk.until(() => desk.rows.some(({ dir, data }) => dir === "sse" && JSON.stringify(data).includes("session.created")));
    expect(desk.events.filter(({ type }) => type === "agent.unparsed")).toEqual([]);
  });

  it("kill -9 in mid-turn: the turn fails, all sessions go on, nothing is shown twice", async () => {
    const [busy, idle] = [await open(), await open()];
    await busy.line.prompt(message("hang"));
    await busy.desk.until(() => busy.desk.events.some((event) => event.type === "item.delta" && event.data.delta === "Half "));
    process.kill(pool.servers[0]?.pid ?? 0, "SIGKILL");
    await busy.desk.ended(1);
    await busy.line.prompt(message("again"));
    await idle.line.prompt(message("me too"));
    await busy.desk.ended(2);
    await idle.desk.ended(1);
    expect(busy.desk.stops).toEqual(["error", "end_turn"]);
    expect(busy.desk.texts).toEqual(["hang", "Half ", "again", "Half and whole: again"]);
    expect(idle.desk.texts).toEqual(["me too", "Half and whole: me too"]);
    expect(checkGrammar(busy.desk.events)).toEqual([]);
  });

  it("what was said while the stream was broken is read again and told once", async () => {
    const { desk, line } = await open();
    await line.prompt(message("drop"));
    await desk.ended(1);
    expect(desk.texts).toEqual(["drop", "Half and whole: drop"]);
    expect(desk.stops).toEqual(["end_turn"]);
    expect(checkGrammar(desk.events)).toEqual([]);
  });

  it("a turn without an answer and without a reason fails, and the instance is started anew before the next message", async () => {
    const { desk, line } = await open();
    await line.prompt(message("mute"));
    await desk.ended(1);
    await line.prompt(message("again"));
    await desk.ended(2);
    expect(desk.stops).toEqual(["error", "end_turn"]);
    expect(desk.texts.at(-1)).toBe("Half and whole: again");
    expect(desk.events.flatMap((event) => (event.type === "error" ? [event.data.details.native_code] : []))).toEqual([
      "no_answer",
    ]);
    expect(checkGrammar(desk.events)).toEqual([]);
  });

  it("a session of another directory is refused: from here its permissions could not be answered", async () => {
    const { desk, line } = await open();
    await line.prompt(message("hello"));
    await desk.ended(1);
    const native = desk.scribe.writer.nativeSessionId ?? "";
    const elsewhere = open({ directory: join(folder, "elsewhere") }, { native_session_id: native, fork: false });
    await expect(elsewhere).rejects.toThrow(/belongs to .*Create the session with that directory/);
  });

  it("a permission is answered on its route; one that is gone is no fault", async () => {
    const { desk, line } = await open();
    await line.prompt(message("ask"));
    await desk.until(() => desk.scribe.requests.size === 1);
    const [request] = desk.scribe.requests.open();
    const reply = { reply: "once", option_id: "once", message: null, updated_input: undefined } as const;
    await line.replyPermission(request?.side.native, reply);
    await desk.ended(1);
    await line.replyPermission(request?.side.native, reply);
    expect(desk.texts.at(-1)).toBe("Half and whole: ask");
  });

  it("what was allowed is not rejected by a rejection that was given after it", async () => {
    const { desk, line } = await open();
    await line.prompt(message("ask twice"));
    await desk.until(() => desk.scribe.requests.size === 2);
    const [one, two] = desk.scribe.requests.open();
    const answer = (reply: "once" | "reject") => ({ reply, option_id: reply, message: null, updated_input: undefined });
    await Promise.all([
      line.replyPermission(one?.side.native, answer("once")),
      line.replyPermission(two?.side.native, answer("reject")),
    ]);
    await desk.ended(1);
    expect(repliedIn(desk)).toEqual(["once", "reject"]);
  });

  it("what is allowed after a rejection runs all the same: the rejection waits for it", async () => {
    const { desk, line } = await open();
    await line.prompt(message("ask twice"));
    await desk.until(() => desk.scribe.requests.size === 2);
    const [one, two] = desk.scribe.requests.open();
    const answer = (reply: "once" | "reject") => ({ reply, option_id: reply, message: null, updated_input: undefined });
    await line.replyPermission(two?.side.native, answer("reject"));
    await line.replyPermission(one?.side.native, answer("once"));
    await desk.ended(1);
    expect(repliedIn(desk)).toEqual(["once", "reject"]);
    const resolved = desk.events.flatMap((event) => (event.type === "permission.resolved" ? [event.data] : []));
    expect(resolved.map(({ action, status }) => [action, status])).toEqual([
      ["Run: one", "approved"],
      ["Run: two", "denied"],
    ]);
  });

  it("a refused prompt is told as a failed turn, with its text", async () => {
    const { desk, line } = await open();
    await line.prompt(message("refuse"));
    expect(desk.stops).toEqual(["error"]);
    expect(desk.texts).toEqual(["refuse"]);
  });

  it.each([
    ["greet", "Ada", "command", '"arguments":"Ada"'],
    ["compact", "", "summarize", '"modelID":"one"'],
  ])("a chosen command goes to its route: %s", async (name, words, route, part) => {
    const { desk, line } = await open();
    await line.prompt({ ...message(`/${name} ${words}`), command: { name, arguments: words } });
    await desk.ended(1);
    expect(desk.texts.at(-1)).toContain(route);
    expect(desk.texts.at(-1)).toContain(part);
  });

  it.each(["!touch x", "! touch x", "/greet Ada", "/compact", "/etc/hosts is what?", "$greet", "#note"])(
    "[M7] text is text, whatever it looks like: %s",
    async (text) => {
      const { desk, line } = await open();
      await line.prompt(message(text));
      await desk.ended(1);
      expect(desk.texts.at(-1)).toBe(`Half and whole: ${text}`);
    },
  );

  it("a chosen command that does not exist is refused", async () => {
    const { line } = await open();
    await expect(line.prompt({ ...message("/nothing"), command: { name: "nothing", arguments: "" } })).rejects.toThrow(
      "/nothing",
    );
  });

  type Sent = { method?: string; path?: string; body?: { permission?: unknown[] } };
  const patches = (desk: Desk) =>
    desk.rows.flatMap(({ data }) => {
      const sent = data as Sent;
      return sent.method === "PATCH" && sent.body?.permission ? [sent] : [];
    });
  const nativeId = (desk: Desk) => desk.events.find((event) => event.native_session_id !== null)?.native_session_id ?? "";

  it("[M4] a fork gets the rules of its mode, which OpenCode does not copy", async () => {
    const { desk, line } = await open({ directory: folder, permission_mode: "plan" });
    await line.prompt(message("first"));
    await desk.ended(1);
    const fork = await open({ directory: folder, permission_mode: "plan" }, { native_session_id: nativeId(desk), fork: true });
    expect(patches(fork.desk)).toHaveLength(1);
    expect(patches(fork.desk)[0]?.path).toContain(nativeId(fork.desk));
    expect(patches(fork.desk)[0]?.body?.permission).toContainEqual({ permission: "edit", pattern: "*", action: "deny" });
  });

  it("[M4] rules are given once for each change of mode, and not again at every resume", async () => {
    const { desk, line } = await open({ directory: folder, permission_mode: "bypass" });
    await line.prompt(message("first"));
    await desk.ended(1);
    const native_session_id = nativeId(desk);
    await line.close();
    const resume = async (permission_mode: SessionConfig["permission_mode"]) => {
      const again = await open({ directory: folder, permission_mode }, { native_session_id, fork: false });
      const given = patches(again.desk).length;
      await again.line.close();
      return given;
    };
    expect([await resume("bypass"), await resume("plan"), await resume("plan"), await resume("default")]).toEqual([0, 1, 0, 1]);
  });

  it("[M5] rules of the repository are not the person's: what the merged configuration allows does not count", async () => {
    const { desk } = await open();
    const created = desk.rows
      .map(({ data }) => data as Sent)
      .find((sent) => sent.method === "POST" && sent.body?.permission !== undefined);
    const given = created?.body?.permission as { permission: string; pattern: string; action: string }[];
    expect(given[0]).toEqual({ permission: "*", pattern: "*", action: "ask" });
    expect(given.filter(({ permission, action }) => permission === "bash" && action === "allow")).toEqual([
      { permission: "bash", pattern: "git *", action: "allow" },
    ]);
  });

  it("[M3] a mode is not changed in a running turn, which would keep its rules", async () => {
    const { desk, line } = await open({ permission_mode: "bypass" });
    await line.prompt(message("hang"));
    await desk.until(() => desk.events.some((event) => event.type === "item.delta"));
    expect(await line.configure({ permission_mode: "plan" })).toBe("restart");
    expect(patches(desk)).toEqual([]);
  });

  it("[M6] always holds for this session alone: OpenCode is told once, and the next request is answered here", async () => {
    const { desk, line } = await open({ directory: folder });
    const other = await open({ directory: folder });
    await line.prompt(message("ask"));
    await desk.until(() => desk.scribe.requests.size === 1);
    await line.replyPermission(desk.scribe.requests.open()[0]?.side.native, {
      reply: "always",
      option_id: "always",
      message: null,
      updated_input: undefined,
    });
    await desk.ended(1);
    await line.prompt(message("ask again"));
    await desk.ended(2);
    const resolved = desk.events.flatMap((event) =>
      event.type === "permission.resolved" ? [event.data.metadata.resolved_by] : [],
    );
    expect(resolved).toEqual(["client", "policy"]);
    expect(JSON.stringify(desk.rows)).not.toContain('"reply":"always"');
    await other.line.prompt(message("ask"));
    await other.desk.until(() => other.desk.scribe.requests.size === 1);
  });

  it("model, mode and images go with the message", async () => {
    const { desk, line } = await open({ permission_mode: "plan", system_prompt: "Be brief." });
    await line.configure({ model: "test/two" });
    await line.prompt({
      message_id: "m",
      text: "look",
      attachments: [{ name: "a.png", mime: "image/png", bytes: Buffer.from("x"), path: null }],
    });
    await desk.ended(1);
    const sent = desk.rows.find(({ data }) => JSON.stringify(data).includes("prompt_async"))?.data;
    expect(sent).toMatchObject({
      body: {
        model: { providerID: "test", modelID: "two" },
        agent: "plan",
        system: "Be brief.",
        parts: [
          { type: "text", text: "look" },
          { type: "file", mime: "image/png", url: "data:image/png;base64,eA==" },
        ],
      },
    });
    await expect(line.configure({ model: "two" })).rejects.toThrow("provider/model");
  });

  it("a session is resumed by its own id, and its server ends with the last session", async () => {
    const { desk, line } = await open({ directory: folder });
    await line.prompt(message("first"));
    await desk.ended(1);
    const id = desk.events.find((event) => event.native_session_id !== null)?.native_session_id ?? "";
    await line.close();
    const again = await open({ directory: folder }, { native_session_id: id, fork: false });
    await again.line.prompt(message("second"));
    await again.desk.ended(1);
    expect(again.desk.texts).toEqual(["second", "Half and whole: second"]);
    const pid = pool.servers[0]?.pid ?? 0;
    await again.line.close();
    await agent.close?.();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("says which models and modes there are", async () => {
    expect(await agent.models?.(host, { directory: folder, trusted: true })).toEqual([
      { id: "test/one", name: "One", is_default: true, context_window: 9 },
    ]);
    expect(await agent.modes?.(host, { directory: folder, trusted: true })).toEqual([{ id: "build" }, { id: "plan" }]);
  });

  it("secrets of the configuration are not recorded", async () => {
    const { desk } = await open();
    const answer = desk.rows.find(({ data }) => JSON.stringify(data).includes("body_omitted"));
    expect(answer).toBeDefined();
    expect(JSON.stringify(desk.rows)).not.toContain("test/one");
    expect(JSON.stringify(desk.rows)).not.toContain("Basic ");
  });

  it("a program that is not there is an error with advice", async () => {
    host = { ...host, resolveCommand: async () => ({ command: join(folder, "nothing"), args: [] }) };
    await expect(open()).rejects.toMatchObject({ code: "agent_not_found" });
    expect((await agent.inspect(host)).installed).toBe(false);
  });
});
