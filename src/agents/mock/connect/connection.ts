/** One process of the mock agent for one session. */
import { fileURLToPath } from "node:url";
import { builtFile } from "../../../package-root.ts";
import type { Connection, Launch, Prompt } from "../../contract.ts";
import { rec, str } from "../../json.ts";
import { RecordedProcess } from "../../kit/recorded-process.ts";
import { createMockTranslator, MOCK_SESSION } from "../translate/translator.ts";
import type { MockCommand } from "../translate/wire.ts";

export const PROGRAM = fileURLToPath(builtFile("agents/mock/program.js"));
const STOP_GRACE_MS = 1_000;

export async function connectMock({ config, resume, port, host, abandoned }: Launch): Promise<Connection> {
  const channel = host.openChannel(createMockTranslator());
  channel.attach(MOCK_SESSION, port);
  const args = resume ? ["--resume", resume.native_session_id, ...(resume.fork ? ["--fork", "yes"] : [])] : [];
  const env = host.environment({
    MOCK_AGENT_MEMORY: host.stateDir,
    ...(config.trusted ? { MOCK_AGENT_SETTINGS: ".mock/settings.json" } : {}),
    ...config.env,
  });
  let greeted: (() => void) | null = null;
  const hello = new Promise<void>((resolve) => {
    greeted = resolve;
  });
  const child = new RecordedProcess(
    { name: "The mock agent", command: process.execPath, args: [PROGRAM, ...args], cwd: config.directory, env, host, abandoned },
    {
      as: "lines",
      onMessage: () => {
        if (!greeted) return;
        child.ready();
        greeted();
        greeted = null;
      },
    },
    { channel, onEnd: ({ exit, error }) => port.closed({ exit, message: error.message }) },
  );
  await Promise.race([hello, child.ended.then(({ error }) => Promise.reject(error))]);
  const send = (command: MockCommand): void => child.send(command);
  const prompt = async (type: "prompt" | "steer", { message_id, text, attachments }: Prompt): Promise<void> => {
    if (child.gone) throw child.gone;
    send({
      type,
      id: message_id,
      text,
      attachments: attachments.map(({ name, mime, bytes }) => ({ name, mime, data: bytes.toString("base64") })),
    });
  };
  const idOf = (native: unknown): string => str(rec(native).id) ?? "";
  return {
    prompt: (message) => prompt("prompt", message),
    steer: (message) => prompt("steer", message),
    interrupt: async () => send({ type: "interrupt" }),
    configure: async (patch) => {
      send({ type: "configure", ...patch });
      return "done";
    },
    replyPermission: async (native, { reply, option_id, message, updated_input }) =>
      send({
        type: "permission_reply",
        id: idOf(native),
        reply,
        option_id,
        message,
        ...(updated_input === undefined ? {} : { input: updated_input }),
      }),
    replyQuestion: async (native, answers) => send({ type: "question_reply", id: idOf(native), answers }),
    setPaused: (paused) => child.setPaused(paused),
    close: () => child.stop({ graceMs: STOP_GRACE_MS }),
  };
}
