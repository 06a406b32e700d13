// The mock agent: scripted, for demos and tests. It is driven exactly as a real one: a child process, a connection, a translator.
import { fileURLToPath } from "node:url";
import { openNdjsonStdio, ProcessRegistry } from "../../transports/index.ts";
import { type Agent, AgentError, type Connection, type Launch, type Prompt } from "../contract.ts";
import { findFiles } from "../directory-files.ts";
import { settingsEffects } from "../file-effects.ts";
import { createMockTranslator, MOCK_SESSION } from "./translate/translator.ts";
import type { MockCommand } from "./translate/wire.ts";

/** Beside this file once built; from the sources, the built one. */
const PROGRAM = fileURLToPath(
  import.meta.url.endsWith(".ts")
    ? new URL("../../../dist/agents/mock/program.js", import.meta.url)
    : new URL("./program.js", import.meta.url),
);
const STOP_GRACE_MS = 1_000;

export const mockAgent: Agent = {
  id: "mock",
  name: "Mock agent",
  npmPackage: null,
  capabilities: {
    permissions: true,
    edit_input: true,
    questions: true,
    steer: true,
    interrupt: true,
    resume: true,
    fork: true,
    images: true,
    mcp_servers: false,
    system_prompt: false,
    deltas: true,
    reasoning: true,
    plans: true,
    subagents: true,
    settings: { model: true, variant: true, agent_mode: true },
    live: { model: true, variant: true, agent_mode: true, permission_mode: true },
    permission_modes: ["default", "plan", "accept_edits", "bypass"],
  },
  createTranslator: createMockTranslator,
  inspectStarts: false,
  inspect: async (host) => ({ installed: true, path: PROGRAM, version: host.version, signed_in: true, advice: null }),
  models: async () => [
    { id: "mock-1", name: "Mock 1", is_default: true, variants: ["low", "high"] },
    { id: "mock-2", name: "Mock 2" },
  ],
  modes: async () => [
    { id: "build", name: "Build" },
    { id: "ask", name: "Ask" },
  ],
  directoryFiles: (directory) => findFiles(directory, [{ path: ".mock/settings.json", read: settingsEffects }]),
  connect,
};

async function connect({ config, resume, port, host }: Launch): Promise<Connection> {
  const channel = host.openChannel(createMockTranslator());
  channel.attach(MOCK_SESSION, port);
  const args = resume ? ["--resume", resume.native_session_id, ...(resume.fork ? ["--fork", "yes"] : [])] : [];
  const started = deferred();
  let said = false;
  const stdio = openNdjsonStdio({
    command: process.execPath,
    args: [PROGRAM, ...args],
    cwd: config.directory,
    env: host.environment({
      MOCK_AGENT_MEMORY: host.stateDir,
      ...(config.trusted ? { MOCK_AGENT_SETTINGS: ".mock/settings.json" } : {}),
      ...config.env,
    }),
    recorder: new ProcessRegistry(host.processDir),
    onMessage: ({ raw, value }) => {
      channel.record("out", raw, value);
      if (!said) started.resolve();
      said = true;
    },
    onGarbage: ({ raw, error }) => channel.unparsed("out", raw, error),
    onOversize: ({ head, bytes, sha256 }) => channel.unparsed("out", head, `a line of ${bytes} bytes`, sha256),
    onStderrLine: (line) => channel.record("err", line, line),
    onSpawnError: (error) => started.reject(new AgentError("agent_failed_to_start", error.message, { cause: error })),
    onExit: (exit) => {
      const { code, signal } = exit;
      channel.exited(exit);
      started.reject(
        new AgentError("agent_failed_to_start", `The mock agent exited with ${code ?? signal} before it said hello.`),
      );
      port.closed({ exit });
    },
  });
  const send = (command: MockCommand): void => channel.record("in", stdio.send(command), command);
  const prompt = (type: "prompt" | "steer", { message_id, text, attachments }: Prompt): void =>
    send({
      type,
      id: message_id,
      text,
      attachments: attachments.map(({ name, mime, bytes }) => ({ name, mime, data: bytes.toString("base64") })),
    });
  await started.promise;
  return {
    prompt: async (message) => prompt("prompt", message),
    steer: async (message) => prompt("steer", message),
    interrupt: async () => send({ type: "interrupt" }),
    configure: async (patch) => {
      send({ type: "configure", ...patch });
      return "done";
    },
    replyPermission: async (native, { reply, option_id, message, updated_input }) =>
      send({
        type: "permission_reply",
        id: (native as { id: string }).id,
        reply,
        option_id,
        message,
        ...(updated_input === undefined ? {} : { input: updated_input }),
      }),
    replyQuestion: async (native, answers) => send({ type: "question_reply", id: (native as { id: string }).id, answers }),
    setPaused: (paused) => (paused ? stdio.process.pauseStdout() : stdio.process.resumeStdout()),
    close: async () => void (await stdio.process.stop(STOP_GRACE_MS)),
  };
}

/** Promise.withResolvers, which Node 20 does not have. A rejection nobody waits for any more is no fault. */
function deferred(): { promise: Promise<void>; resolve(): void; reject(error: Error): void } {
  let resolve = (): void => {};
  let reject = (_: Error): void => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
