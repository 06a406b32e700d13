// What the mock agent can act out: one entry a command, listed by `help`. Together they produce every event type of the schema.
import type { ErrorCode, QuestionPrompt } from "../../schema/event-data.ts";
import type { MockEvent } from "./translate/wire.ts";

/** The stage an act plays on. */
export type Stage = {
  emit(event: MockEvent): void;
  /** Writes at full speed, with regard to back-pressure. */
  flood(count: number, make: (index: number) => MockEvent): Promise<void>;
  raw(line: string | Buffer): void;
  stderr(line: string): void;
  id(): string;
  /** Rejects when the turn is interrupted. */
  wait(ms: number): Promise<void>;
  /** Resolves when a message has steered the turn. */
  steered(): Promise<void>;
  ask(question: Extract<MockEvent, { type: "ask" }>): Promise<{ reply: string; message: string | null; input?: unknown }>;
  answer(question: Extract<MockEvent, { type: "question" }>): Promise<string[][] | null>;
  /** After this turn, a turn of the agent's own. */
  later(ms: number, act: () => Promise<void>): void;
  exit(code: number): void;
  remembered(): string[];
};

export type Act = { usage: string; about: string; play(stage: Stage, args: string): Promise<void> };

const words = (text: string): string[] => text.match(/\S+\s*/g) ?? [];
const number = (text: string, fallback: number): number => {
  const value = Number.parseInt(text, 10);
  return Number.isFinite(value) && value >= 0 ? value : fallback;
};

export async function say(stage: Stage, text: string, options: { p?: string; delay?: number } = {}): Promise<string> {
  const m = stage.id();
  for (const d of words(text)) {
    stage.emit({ type: "text", m, d, ...(options.p ? { p: options.p } : {}) });
    if (options.delay) await stage.wait(options.delay);
  }
  stage.emit({ type: "message_end", m });
  return m;
}

async function shell(
  stage: Stage,
  command: string,
  exit: number,
  options: { p?: string; m?: string; delay?: number } = {},
): Promise<void> {
  const c = stage.id();
  const { p, m, delay } = options;
  stage.emit({
    type: "call",
    c,
    name: "shell",
    kind: "shell",
    title: command,
    input: { command },
    ...(p ? { p } : {}),
    ...(m ? { m } : {}),
  });
  const lines = [`$ ${command}\n`, "first line\n", "second line\n"];
  for (const d of lines) {
    stage.emit({ type: "output", c, d });
    if (delay) await stage.wait(delay);
  }
  stage.emit({ type: "result", c, output: lines.join(""), error: exit !== 0, exit_code: exit, ms: 12 });
}

const LONG_DESCRIPTION =
  "A command with a description as long as some agents give them: what it does, when to use it, which arguments it takes, what it never does.";

const OPTIONS = [
  { id: "yes", label: "Allow once", kind: "allow_once" },
  { id: "yes_always", label: "Always allow", kind: "allow_always" },
  { id: "no", label: "Reject", kind: "reject_once" },
] as const;

const PLAN = "# The plan\n\n1. Look at `a.txt`\n2. Change **two** lines\n\n<!-- and nothing else -->";
const COLOURS: QuestionPrompt = {
  prompt: "Which colour?",
  header: "Colour",
  options: [{ label: "Red", description: "like a rose" }, { label: "Blue" }],
  multi_select: false,
  free_text: true,
};
const TOPPINGS: QuestionPrompt = {
  prompt: "Which toppings?",
  header: "Toppings",
  options: [{ label: "Cheese" }, { label: "Basil" }],
  multi_select: true,
  free_text: false,
};

const ERROR_CODES: readonly ErrorCode[] = [
  "provider_auth",
  "api_error",
  "context_overflow",
  "output_length",
  "aborted",
  "rate_limit",
  "max_turns",
  "max_budget",
  "execution_error",
  "unknown",
];

/** A red square of 2 by 2 pixels. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
const DIFF = "--- a/hello.txt\n+++ b/hello.txt\n@@ -1,2 +1,2 @@\n-hello\n+hello world\n again\n";

/** What real agents put around a delta: session, message and event ids, times. With it a line has about 250 bytes, the median of recorded deltas. */
const TRACE =
  "session=3f2b8c1e-6f0d-4e55-9a41-0c8d1be2a7f3 event=7c7d7406-cb04-47ac-95f9-399e0fdf7003 parent=99391fc6-d6c0-40cd-acaf-5f2e8de2565c request=req_011CS";

const event = (stage: Stage, type: string, data: unknown): void =>
  stage.emit({ type: "event", event: { type, data } as Extract<MockEvent, { type: "event" }>["event"] });

export const acts: Record<string, Act> = {
  say: {
    usage: "say TEXT",
    about: "streams the text word by word",
    play: async (stage, args) => void (await say(stage, args || "Hello.")),
  },
  slow: {
    usage: "slow MS TEXT",
    about: "the same with a pause between the words",
    play: async (stage, args) => {
      const [ms = "50", ...rest] = args.split(" ");
      await say(stage, rest.join(" ") || "one two three four five", { delay: number(ms, 50) });
    },
  },
  flood: {
    usage: "flood N [BYTES]",
    about: "N deltas at full speed, a thousand to a message, in lines as long as those of real agents",
    play: async (stage, args) => {
      const [count = "1000", bytes = "20"] = args.split(" ");
      const size = Math.max(1, number(bytes, 20) - 1);
      const filler = "x".repeat(size);
      // No text is like the one before it, as in a real answer.
      const text = (index: number): string => `${index}${filler}`.slice(0, size);
      for (let left = number(count, 1000); left > 0; left -= 1000) {
        const m = stage.id();
        await stage.flood(Math.min(left, 1000), (index) => ({ type: "text", m, d: `${text(index)} `, trace: TRACE }));
        stage.emit({ type: "message_end", m });
      }
    },
  },
  clock: {
    usage: "clock N MS",
    about: "N deltas that say the time in microseconds, one each MS milliseconds",
    play: async (stage, args) => {
      const [count = "100", ms = "10"] = args.split(" ");
      const m = stage.id();
      for (let i = 0; i < number(count, 100); i++) {
        await stage.wait(number(ms, 10));
        stage.emit({ type: "text", m, d: `${Math.round((performance.timeOrigin + performance.now()) * 1000)} ` });
      }
      stage.emit({ type: "message_end", m });
    },
  },
  messages: {
    usage: "messages N",
    about: "N short messages at full speed",
    play: async (stage, args) => {
      for (let i = 0; i < number(args, 100); i++) await say(stage, `message ${i}`);
    },
  },
  think: {
    usage: "think TEXT",
    about: "reasoning, then an answer in the same message",
    play: async (stage, args) => {
      const m = stage.id();
      for (const d of words(args || "Let me think about this.")) stage.emit({ type: "thought", m, d });
      for (const d of words("So that is the answer.")) stage.emit({ type: "text", m, d });
      stage.emit({ type: "message_end", m });
    },
  },
  shell: {
    usage: "shell COMMAND",
    about: "a command with streamed output (nothing is really run)",
    play: async (stage, args) => {
      const m = await say(stage, "I run a command.");
      await shell(stage, args || "ls", 0, { m, delay: 5 });
      await say(stage, "It worked.");
    },
  },
  fail: {
    usage: "fail",
    about: "a command that exits with 3",
    play: async (stage) => {
      await shell(stage, "false", 3, { m: await say(stage, "I run a command.") });
      await say(stage, "It failed.");
    },
  },
  big: {
    usage: "big BYTES",
    about: "a tool result of so many bytes",
    play: async (stage, args) => {
      const c = stage.id();
      const output = "0123456789abcde\n".repeat(Math.ceil(number(args, 1_000_000) / 16));
      stage.emit({ type: "call", c, name: "shell", kind: "shell", title: "yes", input: { command: "yes" } });
      stage.emit({ type: "result", c, output, exit_code: 0 });
    },
  },
  args: {
    usage: "args",
    about: "a tool call whose arguments are streamed",
    play: async (stage) => {
      const c = stage.id();
      stage.emit({ type: "call", c, name: "search", kind: "search", title: "search" });
      for (const d of ['{"query":', '"drago', 'man"}']) stage.emit({ type: "call_args", c, d });
      stage.emit({ type: "result", c, output: "3 matches" });
    },
  },
  edit: {
    usage: "edit",
    about: "a file change with its diff",
    play: async (stage) => {
      const m = await say(stage, "I change a file.");
      const c = stage.id();
      stage.emit({
        type: "call",
        c,
        m,
        name: "edit",
        kind: "edit",
        title: "Edit hello.txt",
        input: { path: "hello.txt" },
        paths: ["hello.txt"],
      });
      stage.emit({
        type: "result",
        c,
        output: "done",
        parts: [{ type: "file_ref", path: "hello.txt", action: "patch", diff: DIFF }],
      });
    },
  },
  plan: {
    usage: "plan",
    about: "a plan that moves on",
    play: async (stage) => {
      const id = stage.id();
      const entries = ["Look", "Change", "Test"].map((text) => ({ text, status: "pending" as const }));
      stage.emit({ type: "plan", id, entries });
      stage.emit({
        type: "plan",
        id,
        entries: entries.map((entry, i) => ({ ...entry, status: i === 0 ? "completed" : "in_progress" })),
      });
      stage.emit({ type: "plan", id, entries: entries.map((entry) => ({ ...entry, status: "completed" })) });
      await say(stage, "All three steps are done.");
    },
  },
  ask: {
    usage: "ask [COMMAND]",
    about: "asks a permission, and really goes on after the reply",
    play: async (stage, args) => {
      const command = args || "touch a.txt";
      const m = await say(stage, "I need a permission.");
      const c = stage.id();
      stage.emit({ type: "call", c, m, name: "shell", kind: "shell", title: command, input: { command } });
      const id = stage.id();
      const reply = await stage.ask({
        type: "ask",
        id,
        c,
        action: `Run: ${command}`,
        name: "shell",
        input: { command },
        options: [...OPTIONS],
        reason: "It writes.",
      });
      const ran = reply.input === undefined ? command : JSON.stringify(reply.input);
      if (reply.reply === "reject") {
        stage.emit({ type: "result", c, output: reply.message ?? "rejected", error: true });
        return void (await say(stage, `You said no${reply.message ? `: ${reply.message}` : ""}.`));
      }
      stage.emit({ type: "result", c, output: `ran ${ran}\n`, exit_code: 0 });
      await say(stage, `Thank you, I ran it (${reply.reply}).`);
    },
  },
  options: {
    usage: "options",
    about: "asks a permission with many options, several of a kind and with long names",
    play: async (stage) => {
      const m = await say(stage, "I need a permission.");
      const c = stage.id();
      const input = { command: "npm publish" };
      stage.emit({ type: "call", c, m, name: "shell", kind: "shell", title: input.command, input });
      const options = [
        OPTIONS[0],
        { id: "prefix", label: "Always allow commands that begin with `npm publish`", kind: "allow_always" as const },
        {
          id: "session",
          label: "Always allow this command in this session and in those that follow it",
          kind: "allow_always" as const,
        },
        OPTIONS[2],
        { id: "never", label: "Refuse it from now on", kind: "reject_always" as const },
      ];
      const reply = await stage.ask({
        type: "ask",
        id: stage.id(),
        c,
        action: "Run: npm publish",
        name: "shell",
        input,
        options,
      });
      stage.emit({ type: "result", c, output: reply.reply, error: reply.reply === "reject" });
      await say(stage, `You said ${reply.reply}.`);
    },
  },
  propose: {
    usage: "propose",
    about: "asks whether it may go on with a plan that it wrote",
    play: async (stage) => {
      const c = stage.id();
      stage.emit({
        type: "call",
        c,
        name: "propose_plan",
        kind: "plan",
        title: "propose_plan",
        input: { plan: PLAN, file: "plan.md" },
      });
      const answers = await stage.answer({
        type: "question",
        id: stage.id(),
        c,
        questions: [
          {
            prompt: PLAN,
            header: "Plan",
            options: [{ label: "Go on" }, { label: "Keep planning" }],
            multi_select: false,
            free_text: true,
          },
        ],
        metadata: { kind: "plan_approval", plan: PLAN },
      });
      const answer = answers?.flat().join(" ") || "nothing";
      stage.emit({ type: "result", c, output: answer });
      await say(stage, `You said: ${answer}.`);
    },
  },
  question: {
    usage: "question",
    about: "asks two questions, one with several answers",
    play: async (stage) => {
      const answers = await stage.answer({ type: "question", id: stage.id(), questions: [COLOURS, TOPPINGS] });
      await say(
        stage,
        answers ? `You chose ${answers.map((answer) => answer.join(" and ")).join("; ")}.` : "You did not want to answer.",
      );
    },
  },
  subagent: {
    usage: "subagent",
    about: "a sub-agent with work of its own under its call",
    play: async (stage) => {
      const c = stage.id();
      stage.emit({ type: "call", c, name: "task", kind: "subagent", title: "Look around", input: { prompt: "look around" } });
      await say(stage, "I am the sub-agent.", { p: c });
      await shell(stage, "find .", 0, { p: c });
      stage.emit({ type: "result", c, output: "It looks fine." });
      await say(stage, "The sub-agent is back.");
    },
  },
  parts: {
    usage: "parts",
    about: "one message of each other kind of part: image, audio, file, code, json, resource, status, refusal",
    play: async (stage) => {
      const part = (value: Extract<MockEvent, { type: "part" }>["part"]) =>
        stage.emit({ type: "part", m: stage.id(), part: value });
      part({ type: "media", media: "image", mime: "image/png", base64: PNG });
      part({ type: "media", media: "audio", mime: "audio/wav", base64: Buffer.from("RIFF").toString("base64") });
      part({
        type: "media",
        media: "file",
        mime: "application/pdf",
        base64: Buffer.from("%PDF").toString("base64"),
        name: "a.pdf",
      });
      part({ type: "code", language: "ts", code: "export const answer = 42;\n" });
      part({ type: "json", json: { answer: 42 } });
      part({ type: "resource", uri: "file:///hello.txt", mime: "text/plain", text: "hello" });
      part({ type: "status", label: "Tests", detail: "3 of 10 passed" });
    },
  },
  refuse: {
    usage: "refuse",
    about: "a refusal",
    play: async (stage) => {
      const m = stage.id();
      for (const d of words("I cannot help with that.")) stage.emit({ type: "refusal", m, d });
      stage.emit({ type: "message_end", m });
      throw new Ending("refusal");
    },
  },
  steps: {
    usage: "steps",
    about: "two steps with tokens and cost",
    play: async (stage) => {
      for (const finish_reason of ["tool_use", "stop"]) {
        const id = stage.id();
        stage.emit({ type: "step", id });
        await say(stage, `A step that ends with ${finish_reason}.`);
        stage.emit({
          type: "step",
          id,
          end: { finish_reason, usage: { input_tokens: 100, output_tokens: 20 }, cost_usd: 0.001 },
        });
      }
    },
  },
  remove: {
    usage: "remove",
    about: "a message that is taken back",
    play: async (stage) => stage.emit({ type: "message_gone", m: await say(stage, "Forget this."), why: "rolled back" }),
  },
  retry: {
    usage: "retry N",
    about: "N retries of the provider, then success",
    play: async (stage, args) => {
      for (let attempt = 1; attempt <= number(args, 2); attempt++)
        stage.emit({ type: "status", status: { status: "retrying", detail: "overloaded", attempt } });
      await say(stage, "It worked after all.");
    },
  },
  error: {
    usage: "error CODE",
    about: "ends the turn with an error of that canonical code",
    play: async (stage, args) => {
      const code = ERROR_CODES.find((each) => each === (args || "api_error")) ?? "unknown";
      const message =
        code === args || args === ""
          ? `The mock failed with ${code}.`
          : `There is no code ${JSON.stringify(args)}. Use one of: ${ERROR_CODES.join(", ")}.`;
      stage.emit({ type: "fault", message, code, retryable: code === "rate_limit" });
      throw new Ending("error", code);
    },
  },
  facts: {
    usage: "facts [COMMANDS]",
    about: "usage, limits, auth, title, compaction, configuration, teams, skills, checkpoints, tasks, a notice and a heartbeat",
    play: async (stage, args) => {
      event(stage, "usage.updated", {
        scope: "session",
        input_tokens: 1200,
        output_tokens: 340,
        cost_usd: 0.02,
        context_used: 1540,
        context_window: 200000,
      });
      event(stage, "limits.updated", {
        windows: [{ name: "five_hour", used_percent: 42, resets_at: "2030-01-01T00:00:00.000Z" }],
      });
      event(stage, "auth.status", { status: "ok" });
      event(stage, "session.updated", { title: "A mock session" });
      stage.emit({ type: "status", status: { status: "compacting" } });
      event(stage, "session.compacted", { trigger: "manual", pre_tokens: 1540, post_tokens: 200, summary: "We talked." });
      event(stage, "config.changed", {
        model: "mock-2",
        commands: [
          { name: "help", description: "lists the acts" },
          ...Array.from({ length: number(args, 0) }, (_, i) => ({ name: `command-${i}`, description: LONG_DESCRIPTION })),
        ],
        models: [{ id: "mock-1" }, { id: "mock-2" }],
        modes: [{ id: "build" }, { id: "ask" }],
        mcp_servers: [{ name: "files", status: "connected" }],
        tools: ["shell", "edit"],
      });
      event(stage, "team.state_changed", { members: [{ name: "ada", status: "working" }] });
      event(stage, "team.task_updated", { task_id: "1", title: "Look", status: "done", owner: "ada" });
      event(stage, "team.message", { from: "ada", to: "lead", text: "Done." });
      event(stage, "skill.catalog_updated", { count: 1, roots: [".skills"] });
      event(stage, "skill.loaded", {
        name: "greet",
        path: ".skills/greet/SKILL.md",
        digest: "sha256:00",
        frontmatter: { name: "greet" },
      });
      event(stage, "skill.invoked", { name: "greet", mode: "auto" });
      event(stage, "skill.warning", { name: "greet", kind: "frontmatter", detail: "no description" });
      event(stage, "checkpoint.created", {
        checkpoint_id: "cp1",
        label: "before edit",
        created_at: "2030-01-01T00:00:00.000Z",
        files: ["hello.txt"],
        auto: true,
        tool_name: "edit",
      });
      event(stage, "checkpoint.rewound", { checkpoint_id: "cp1", label: "before edit", files: ["hello.txt"] });
      event(stage, "checkpoint.failed", { action: "rewind", error: "no such checkpoint" });
      event(stage, "task.spawned", { task_id: "t1", tool_name: "shell", args: { command: "sleep 1" }, execution_mode: "pty" });
      event(stage, "task.status", { task_id: "t1", status: "running" });
      event(stage, "task.output", { task_id: "t1", stream: "pty", chunk: "tick\n" });
      event(stage, "task.stdin", { task_id: "t1", chunk_b64: "eQo=" });
      event(stage, "task.resized", { task_id: "t1", rows: 24, cols: 80 });
      event(stage, "task.signalled", { task_id: "t1", signal: "SIGINT" });
      event(stage, "task.cancel_requested", { task_id: "t1", reason: "enough" });
      event(stage, "task.cancelled", { task_id: "t1", reason: "enough", wall_time_ms: 12 });
      stage.emit({ type: "note", name: "hook_ran", detail: { hook: "pre_tool" } });
      stage.emit({ type: "ping" });
      await say(stage, "These are the facts.");
    },
  },
  background: {
    usage: "background MS",
    about: "a command that outlives its turn; when it ends the agent starts a turn of its own",
    play: async (stage, args) => {
      const c = stage.id();
      stage.emit({
        type: "call",
        c,
        name: "shell",
        kind: "shell",
        title: "sleep",
        input: { command: "sleep" },
        background: true,
      });
      await say(stage, "It runs in the background.");
      stage.later(number(args, 50), async () => {
        stage.emit({ type: "result", c, output: "done\n", exit_code: 0 });
        await say(stage, "The background command is done.");
      });
    },
  },
  remember: {
    usage: "remember",
    about: "says what it was told before, also before a resume",
    play: async (stage) =>
      void (await say(stage, `I remember ${stage.remembered().length} messages: ${stage.remembered().join(" | ")}`)),
  },
  hold: { usage: "hold", about: "does nothing until a message steers the turn", play: (stage) => stage.steered() },
  hang: { usage: "hang", about: "does nothing until it is interrupted", play: (stage) => stage.wait(2 ** 30) },
  garbage: {
    usage: "garbage",
    about: "prints what is no message: text, broken JSON, an unknown type, bytes that are not UTF-8",
    play: async (stage) => {
      stage.raw("Warning: this is not JSON\n");
      stage.raw('{"type":"text","m":\n');
      stage.raw('{"type":"from_the_future","value":1}\n');
      stage.raw(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
      await say(stage, "That was garbage.");
    },
  },
  longline: {
    usage: "longline MB",
    about: "prints one line of so many megabytes",
    play: async (stage, args) => {
      const block = Buffer.alloc(1024 * 1024, "x");
      for (let i = 0; i < number(args, 100); i++) {
        stage.raw(block);
        await stage.wait(0);
      }
      stage.raw("\n");
      await say(stage, "That was a long line.");
    },
  },
  stderr: {
    usage: "stderr N",
    about: "N lines on stderr",
    play: async (stage, args) => {
      for (let i = 1; i <= number(args, 100); i++) stage.stderr(`stderr line ${i}`);
      await say(stage, "I complained.");
    },
  },
  depart: {
    usage: "depart [MS]",
    about: "ends its process a moment after the turn",
    play: async (stage, args) => {
      await say(stage, "I will be gone.");
      setTimeout(() => stage.exit(3), number(args, 50));
    },
  },
  crash: {
    usage: "crash [CODE]",
    about: "exits in mid-turn with that code",
    play: async (stage, args) => {
      stage.emit({ type: "text", m: stage.id(), d: "I am about to " });
      stage.stderr("mock: crashing as told");
      stage.exit(number(args, 1));
      await stage.wait(2 ** 30);
    },
  },
};

/** Ends the turn otherwise than with end_turn. */
export class Ending extends Error {
  readonly reason: "refusal" | "error" | "interrupted" | "output_length" | "max_turns" | "max_budget";
  readonly code: string | undefined;
  constructor(reason: Ending["reason"], code?: string) {
    super(reason);
    this.reason = reason;
    this.code = code;
  }
}

/** Acts that `all` leaves out: they end the turn, wait for a person, or are there to hurt. */
const APART = new Set([
  "hang",
  "hold",
  "crash",
  "depart",
  "error",
  "refuse",
  "longline",
  "big",
  "ask",
  "options",
  "propose",
  "question",
  "garbage",
  "stderr",
  "messages",
  "flood",
  "clock",
  "slow",
  "remember",
  "background",
]);

export const tour = Object.keys(acts).filter((name) => !APART.has(name));

export const help = (): string =>
  [
    "I am the mock agent: I act out what you tell me. One command a line:",
    ...Object.values(acts).map((act) => `- \`${act.usage}\`: ${act.about}`),
    "- `all`: everything that neither waits nor hurts",
    "- `help`: this list",
    "Anything else I repeat.",
  ].join("\n");
