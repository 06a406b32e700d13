import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Draft } from "../../../schema/draft.ts";
import { ProcessRegistry } from "../../../transports/index.ts";
import { AcpTerminals, MemoryTaskSink, Tasks } from "../../../workspace/tasks/index.ts";
import type {
  AgentHost,
  Channel,
  Connection,
  ExitInfo,
  NativeDirection,
  SessionConfig,
  SessionPort,
  Translation,
  Translator,
} from "../../contract.ts";
import { sessionConfig } from "../../kit/test-config.ts";
import type { AcpDefinition } from "../definitions.ts";
import { connectAcp } from "./connection.ts";
import { configuredUse } from "./restriction.ts";
import { testAgent } from "./test-agent.ts";

/** A session's end of the line that remembers everything, and lets a test wait for it. */
class Witness implements SessionPort, Channel {
  readonly session_id = "sess_1";
  readonly rows: { dir: NativeDirection; data: unknown }[] = [];
  readonly raws: { dir: NativeDirection; raw: Buffer | string }[] = [];
  readonly drafts: Draft[] = [];
  readonly said: Draft[] = [];
  attached: string | null = null;
  gone: ExitInfo | null | undefined;
  translator: Translator | null = null;
  #watchers: (() => void)[] = [];

  record(dir: NativeDirection, raw: Buffer | string, data: unknown): undefined {
    this.rows.push({ dir, data });
    this.raws.push({ dir, raw });
    const told: Translation[] = this.translator?.translate({ dir, data }) ?? [];
    this.drafts.push(...told.flatMap((translation) => translation.drafts));
    this.#look();
  }
  exited({ code, signal }: ExitInfo): void {
    this.record("exit", "", { code, signal });
  }
  unparsed(): void {}
  attach(native: string): void {
    this.attached = native;
  }
  detach(): void {}
  say(drafts: Draft[]): void {
    this.said.push(...drafts);
    this.drafts.push(...drafts);
    this.#look();
  }
  closed({ exit }: { exit: ExitInfo | null }): void {
    this.gone = exit;
    this.#look();
  }
  #look(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
  /** Resolves when the condition holds after some event. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const watcher = (): void => {
        if (!condition()) return;
        this.#watchers = this.#watchers.filter((each) => each !== watcher);
        resolve();
      };
      this.#watchers.push(watcher);
      watcher();
    });
  }
  turnEnded(count = 1): Promise<void> {
    return this.until(() => this.drafts.filter((draft) => draft.do === "turn.end").length >= count);
  }
  text(): string {
    return this.drafts.map((draft) => (draft.do === "item.delta" && draft.part_type === "text" ? draft.delta : "")).join("");
  }
}

const definition: AcpDefinition = {
  id: "test",
  name: "Test agent",
  quirks: "acp",
  args: [],
  directory: configuredUse({}),
  auth: [{ variable: "TEST_KEY", method: "key" }],
  npmPackage: null,
  able: {},
  // Only a process that was started for it takes this mode.
  sessionMeta: (mode) => (mode === "bypass" ? { free: true } : {}),
};

let base: string;
let work: string;
let witness: Witness;
let connection: Connection | null;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "acp-conn-"));
  work = join(base, "work");
  mkdirSync(work);
  witness = new Witness();
  connection = null;
});
afterEach(async () => {
  await connection?.close();
  rmSync(base, { recursive: true, force: true });
});

async function start(
  scene: object = {},
  config: Partial<SessionConfig> = {},
  resume: string | null = null,
  settings = {},
  unspoken = new Set<string>(),
): Promise<Connection> {
  const tasks = new Tasks({ sink: new MemoryTaskSink(), recorder: new ProcessRegistry(join(base, "processes")) });
  const host: AgentHost = {
    resolveCommand: async () => testAgent(base),
    environment: (extra) => ({ PATH: process.env.PATH ?? "", SCENE: JSON.stringify(scene), ...extra }),
    settings,
    stateDir: join(base, "state"),
    processDir: join(base, "processes"),
    version: "0.0.0",
    openChannel: (translator) => {
      witness.translator = translator;
      return witness;
    },
    openTerminals: (asked) => new AcpTerminals({ ...asked, tasks }),
    log: () => {},
  };
  connection = await connectAcp(
    definition,
    {
      config: sessionConfig({ session_id: "sess_1", directory: work, ...config }),
      resume: resume === null ? null : { native_session_id: resume, fork: false },
      port: witness,
      host,
    },
    unspoken,
  );
  return connection;
}

const prompt = (text: string) => ({ message_id: "m", text, attachments: [] });
const processes = (): string[] => readdirSync(join(base, "processes")).filter((name) => name.endsWith(".json"));

describe("a session", () => {
  it("is opened, prompted and closed, and leaves no process", async () => {
    const line = await start();
    expect(witness.attached).toBe("s1");
    await line.prompt(prompt("hello"));
    await witness.turnEnded();
    expect(witness.text()).toBe("hello");
    expect(processes()).toHaveLength(1);
    await line.close();
    expect(processes()).toEqual([]);
    await expect(line.prompt(prompt("again"))).rejects.toMatchObject({ code: "agent_gone" });
  });

  it("takes a message into its running turn where the agent offers it, and none when no turn runs", async () => {
    expect((await start()).steer).toBeUndefined();
    await connection?.close();
    witness = new Witness();
    const line = await start({ meta: { steering: { supported: true } } });
    expect(await line.steer?.(prompt("nowhere"))).toBe("idle");
    await line.prompt(prompt("hang"));
    expect(await line.steer?.(prompt("the left"))).toBeUndefined();
    await witness.turnEnded();
    expect(witness.text()).toBe("steered to the left");
    const told = witness.drafts.flatMap((draft) =>
      draft.do === "item.add" && draft.item.role === "user" ? [draft.item.content] : [],
    );
    expect(told).toEqual([[{ type: "text", text: "hang" }], [{ type: "text", text: "the left" }]]);
  });

  it("records what the agent wrote as text, which the ledger stores without what its lines have in common", async () => {
    const line = await start();
    await line.prompt(prompt("grüße 日本 👩‍💻"));
    await witness.turnEnded();
    const written = witness.raws.filter(({ dir }) => dir === "out").map(({ raw }) => raw);
    expect(written.length).toBeGreaterThan(3);
    for (const raw of written) expect(raw).toBeTypeOf("string");
    expect(written.some((raw) => raw.includes("grüße 日本 👩‍💻"))).toBe(true);
  });

  it("signs in with the method a variable asks for", async () => {
    await start({}, { env: { TEST_KEY: "k" } });
    expect(witness.rows).toContainEqual({
      dir: "in",
      data: expect.objectContaining({ method: "authenticate", params: { methodId: "key" } }),
    });
  });

  it("that needs a sign-in says so, and leaves no process", async () => {
    await expect(start({ signedOut: true })).rejects.toMatchObject({
      code: "agent_auth_required",
      message: expect.stringContaining("TEST_KEY"),
    });
    expect(processes()).toEqual([]);
  });

  it("is taken up with session/load, and its replay is not shown again", async () => {
    await start({}, {}, "s1");
    expect(witness.rows.some(({ data }) => JSON.stringify(data).includes("replayed"))).toBe(true);
    expect(witness.text()).toBe("");
  });

  it("in which nothing was said is opened anew, and taken up once something was", async () => {
    const unspoken = new Set<string>();
    const loads = () => witness.rows.filter(({ dir, data }) => dir === "in" && JSON.stringify(data).includes("session/load"));
    await (await start({}, {}, null, {}, unspoken)).close();
    const line = await start({}, {}, "s1", {}, unspoken);
    expect(loads()).toEqual([]);
    await line.prompt(prompt("hello"));
    await witness.turnEnded();
    await line.close();
    await start({}, {}, "s1", {}, unspoken);
    expect(loads()).toHaveLength(1);
  });

  it("that the agent lost is an error that says what to do", async () => {
    await expect(start({ lost: true }, {}, "s1")).rejects.toMatchObject({
      code: "agent_refused",
      message: expect.stringContaining("go on in a new session"),
    });
    // Whoever sent the message reports the error; the answer of the agent is only noted, so that it is reported once.
    expect(witness.drafts.filter((draft) => draft.do === "error")).toEqual([]);
    expect(witness.drafts).toContainEqual(
      expect.objectContaining({ type: "agent.notice", data: expect.objectContaining({ name: "opening_refused" }) }),
    );
    expect(processes()).toEqual([]);
  });

  it("whose process dies in a turn is told, with an error and the exit", async () => {
    const line = await start();
    await line.prompt(prompt("die"));
    await witness.until(() => witness.gone !== undefined);
    expect(witness.gone).toMatchObject({ code: 7 });
    expect(witness.drafts).toContainEqual(expect.objectContaining({ do: "turn.end", stop_reason: "error" }));
  });
});

describe("what the agent asks", () => {
  it("permissions are answered with the option of the kind", async () => {
    const line = await start();
    await line.prompt(prompt("ask"));
    await witness.until(() => witness.drafts.some((draft) => draft.do === "permission.request"));
    const request = witness.drafts.find((draft) => draft.do === "permission.request");
    await line.replyPermission(request?.do === "permission.request" ? request.native : null, {
      reply: "once",
      option_id: null,
      message: null,
      updated_input: undefined,
    });
    await witness.turnEnded();
    expect(witness.text()).toContain('"optionId":"p1"');
  });

  it("an interrupt cancels what waits for a person", async () => {
    const line = await start();
    await line.prompt(prompt("ask"));
    await witness.until(() => witness.drafts.some((draft) => draft.do === "permission.request"));
    await line.interrupt();
    await witness.turnEnded();
    expect(witness.drafts).toContainEqual(expect.objectContaining({ do: "permission.resolve", status: "denied" }));
    expect(witness.drafts).toContainEqual(expect.objectContaining({ do: "turn.end", stop_reason: "interrupted" }));
  });

  it("what an agent asks before it knows that it was interrupted is cancelled, and the next turn asks again", async () => {
    const line = await start();
    await line.prompt(prompt("late"));
    await witness.until(() => witness.text().includes("working"));
    await line.interrupt();
    await witness.turnEnded();
    expect(witness.text()).toContain('[{"outcome":{"outcome":"cancelled"}},{"action":"cancel"}]');
    expect(witness.drafts).toContainEqual(expect.objectContaining({ do: "permission.resolve", status: "denied" }));
    const before = witness.drafts.length;
    await line.prompt(prompt("ask"));
    await witness.until(() => witness.drafts.slice(before).some((draft) => draft.do === "permission.request"));
    const request = witness.drafts.findLast((draft) => draft.do === "permission.request");
    const answer = { reply: "once", option_id: null, message: null, updated_input: undefined } as const;
    await line.replyPermission(request?.do === "permission.request" ? request.native : null, answer);
    await witness.turnEnded(2);
    expect(witness.text()).toContain('"optionId":"p1"');
  });

  it("bypass is our own policy for an agent without such a mode", async () => {
    const line = await start({}, { permission_mode: "bypass" });
    await line.prompt(prompt("ask"));
    await witness.turnEnded();
    expect(witness.said).toContainEqual(
      expect.objectContaining({ do: "permission.resolve", status: "approved", resolved_by: "policy" }),
    );
  });

  it("plan mode is refused when the agent has none", async () => {
    await expect(start({}, { permission_mode: "plan" })).rejects.toMatchObject({ code: "unsupported" });
  });

  it("elicitation is a question, its answer goes back as form content", async () => {
    const line = await start();
    await line.prompt(prompt("question"));
    await witness.until(() => witness.drafts.some((draft) => draft.do === "question.request"));
    const request = witness.drafts.find((draft) => draft.do === "question.request");
    await line.replyQuestion(request?.do === "question.request" ? request.native : null, [["blue"]]);
    await witness.turnEnded();
    expect(witness.text()).toContain('{"action":"accept","content":{"color":"blue"}}');
  });

  it("a link that the agent knows to be done with is answered, and the turn goes on", async () => {
    const line = await start();
    await line.prompt(prompt("link"));
    await witness.turnEnded();
    expect(witness.drafts).toContainEqual(
      expect.objectContaining({ do: "question.resolve", status: "answered", resolved_by: "agent" }),
    );
    expect(witness.text()).toBe('{"action":"accept"}');
  });

  it.each(["", "elsewhere"])("what is asked for session %j, which nobody here watches, is refused at once", async (session) => {
    const line = await start();
    await line.prompt(prompt(`stray ${session}`));
    await witness.turnEnded();
    expect(witness.text()).toBe("-32602 -32602");
  });

  it("vendor requests are refused at once", async () => {
    const line = await start();
    await line.prompt(prompt("vendor"));
    await witness.turnEnded();
    expect(witness.text()).toBe("-32601");
  });

  it("files outside of the directory are refused, files inside are read", async () => {
    writeFileSync(join(work, "a.txt"), "inside");
    const line = await start();
    await line.prompt(prompt(`read ${join(work, "a.txt")}`));
    await witness.turnEnded();
    await line.prompt(prompt("read /etc/hostname"));
    await witness.turnEnded(2);
    expect(witness.text()).toBe("inside-32602");
  });

  it("a command's output is streamed into the session and ends with its exit code", async () => {
    const line = await start();
    await line.prompt(prompt("run echo out; exit 4"));
    await witness.turnEnded();
    expect(witness.said).toContainEqual(expect.objectContaining({ do: "item.delta", part_type: "tool_output", delta: "out\n" }));
    expect(witness.drafts).toContainEqual(
      expect.objectContaining({
        do: "item.complete",
        status: "failed",
        content: [{ type: "tool_result", call_id: "t", output: "out\n", exit_code: 4, is_error: true }],
      }),
    );
    expect(processes()).toHaveLength(1);
  });

  it("a command still running when the session closes is ended with it", async () => {
    const line = await start();
    await line.prompt(prompt("hold echo up; sleep 600"));
    await witness.until(() => witness.said.some((draft) => draft.do === "item.delta" && draft.delta === "up\n"));
    expect(processes()).toHaveLength(2);
    await line.close();
    expect(processes()).toEqual([]);
  });
});

describe("settings", () => {
  const opened = {
    modes: {
      currentModeId: "a",
      availableModes: [
        { id: "a", name: "A" },
        { id: "b", name: "B" },
        { id: "broken", name: "Broken" },
      ],
    },
    models: {
      currentModelId: "m1",
      availableModels: [
        { modelId: "m1", name: "M1" },
        { modelId: "m2", name: "M2" },
      ],
    },
  };

  it("model and mode are set at the start and changed live", async () => {
    const line = await start({ opened }, { model: "m2" });
    await line.configure({ agent_mode: "b" });
    expect(witness.drafts).toContainEqual(expect.objectContaining({ type: "config.changed", data: { model: "m2" } }));
    expect(witness.drafts).toContainEqual(expect.objectContaining({ type: "config.changed", data: { agent_mode: "b" } }));
  });

  it("what the agent does not take is said with what it offers", async () => {
    const line = await start({ opened });
    await expect(line.configure({ model: "m9" })).rejects.toMatchObject({
      code: "agent_refused",
      message: expect.stringContaining("m1, m2"),
    });
    await expect(line.configure({ agent_mode: "broken" })).rejects.toMatchObject({ code: "agent_refused" });
    await expect(line.configure({ variant: "high" })).rejects.toMatchObject({ code: "unsupported" });
  });

  it("[M4] a mode is set even when the agent's last word says that it is set", async () => {
    const stale = { id: "mode", name: "Mode", category: "mode", currentValue: "a", options: [{ value: "a" }, { value: "b" }] };
    const line = await start({ opened: { ...opened, configOptions: [stale] } });
    await line.configure({ agent_mode: "b" });
    await line.configure({ agent_mode: "a" });
    const modes = witness.drafts.flatMap((draft) =>
      draft.do === "event" && draft.type === "config.changed" && draft.data.agent_mode ? [draft.data.agent_mode] : [],
    );
    expect(modes.slice(-2)).toEqual(["b", "a"]);
  });

  it("[M3] what needs a new process is refused with what the agent does not take, and changes nothing", async () => {
    const line = await start({ opened });
    const refused = line.configure({ permission_mode: "bypass", agent_mode: "broken" });
    await expect(refused).rejects.toMatchObject({ code: "agent_refused" });
    expect(await line.configure({ permission_mode: "bypass", agent_mode: "b" })).toBe("restart");
  });

  it("[M3] what was changed before a refusal is changed back", async () => {
    const line = await start({ opened });
    await expect(line.configure({ model: "m2", agent_mode: "broken" })).rejects.toMatchObject({ code: "agent_refused" });
    const models = witness.drafts.flatMap((draft) =>
      draft.do === "event" && draft.type === "config.changed" && draft.data.model !== undefined ? [draft.data.model] : [],
    );
    expect(models).toEqual(["m1", "m2", "m1"]);
  });
});
