// The smallest agent that keeps the contract: how it starts and is sent messages (connect), what its messages mean (translate), what it can do (the agent).
// Copy this folder, replace the messages by those of your agent, and run the suite on it.
import { fileURLToPath } from "node:url";
import { AgentError, defineAgent, mapped, RecordedProcess, rec, str, unparsed } from "dragoman/agent";

const PROGRAM = fileURLToPath(new URL("./program.js", import.meta.url));
/** One process serves one session, so all its messages have the same address. */
const ADDRESS = "parrot";

/* translate: pure. Native messages of both directions in, drafts out; the same messages always give the same drafts. */

function createTranslator() {
  let answers = 0;
  const key = () => `answer:${answers}`;
  const received = (data) => {
    switch (data.type) {
      case "hello":
        return [{ do: "native_session", id: str(data.session) ?? "" }];
      case "word":
        return [{ do: "item.delta", key: key(), part_type: "text", delta: str(data.text) ?? "" }];
      case "done":
        return [
          { do: "item.complete", key: key() },
          { do: "turn.end", stop_reason: "end_turn" },
        ];
      case "stopped":
        return [{ do: "turn.end", stop_reason: "interrupted" }];
      case "permission":
        return [
          {
            do: "permission.request",
            key: `permission:${answers}`,
            action: str(data.action) ?? "",
            tool_name: "squawk",
            input: {},
            options: [
              { id: "yes", label: "Allow once", kind: "allow_once" },
              { id: "no", label: "Reject", kind: "reject_once" },
            ],
            native: { id: data.id },
          },
        ];
      default:
        return null;
    }
  };
  const sent = (data) => {
    switch (data.type) {
      case "message": {
        answers += 1;
        const content = [{ type: "text", text: str(data.text) ?? "" }];
        return [
          { do: "turn.start", initiator: "client" },
          { do: "item.add", synthetic: true, item: { key: `user:${data.id}`, kind: "message", role: "user", content } },
          { do: "item.start", item: { key: key(), kind: "message", role: "assistant" } },
        ];
      }
      case "permission":
        return [
          {
            do: "permission.resolve",
            key: `permission:${answers}`,
            status: data.allowed ? "approved" : "denied",
            resolved_by: "client",
            reply: data.allowed ? "once" : "reject",
          },
        ];
      case "stop":
        return [];
      default:
        return null;
    }
  };
  return {
    translate({ dir, data }) {
      if (dir === "err" || dir === "exit") return [mapped(ADDRESS, dir)];
      const type = str(rec(data).type) ?? "unknown";
      const drafts = dir === "in" ? sent(rec(data)) : received(rec(data));
      return [
        drafts === null ? unparsed(ADDRESS, "unknown", `not a message of the parrot: ${type}`) : mapped(ADDRESS, type, drafts),
      ];
    },
  };
}

/* connect: starts or resumes the program, sends what people say, ends it. */

async function connect({ config, resume, port, host }) {
  const channel = host.openChannel(createTranslator());
  channel.attach(ADDRESS, port);
  const env = host.environment({ PARROT_MEMORY: host.stateDir, ...config.env });
  const args = [PROGRAM, ...(resume ? [resume.native_session_id] : [])];
  let greeted = () => {};
  const hello = new Promise((resolve) => {
    greeted = resolve;
  });
  const child = new RecordedProcess(
    { name: "The parrot", command: process.execPath, args, cwd: config.directory, env, host },
    { as: "lines", onMessage: () => greeted() },
    { channel, onEnd: ({ exit, error }) => port.closed({ exit, message: error.message }) },
  );
  await Promise.race([hello, child.ended.then(({ error }) => Promise.reject(error))]);
  child.ready();
  return {
    async prompt({ message_id, text }) {
      if (child.gone) throw child.gone;
      child.send({ type: "message", id: message_id, text });
      await child.drained();
    },
    interrupt: async () => child.send({ type: "stop" }),
    configure: async () => "done",
    replyPermission: async (native, { reply }) =>
      child.send({ type: "permission", id: rec(native).id, allowed: reply !== "reject" }),
    async replyQuestion() {
      throw new AgentError("unsupported", "The parrot asks no questions.");
    },
    setPaused: (paused) => child.setPaused(paused),
    close: () => child.stop({ graceMs: 1_000 }),
  };
}

/* The agent: what it is and what it can do. What is false is refused with a sentence; what is true has to be proved. */

export default defineAgent({
  id: "parrot",
  name: "Parrot",
  npmPackage: null,
  capabilities: {
    permissions: true,
    edit_input: false,
    questions: false,
    steer: false,
    interrupt: true,
    resume: true,
    fork: false,
    images: false,
    mcp_servers: false,
    system_prompt: false,
    deltas: true,
    reasoning: false,
    plans: false,
    subagents: false,
    settings: { model: false, variant: false, agent_mode: false },
    live: { model: false, variant: false, agent_mode: false, permission_mode: false },
    permission_modes: ["default"],
  },
  createTranslator,
  inspectStarts: false,
  inspect: async () => ({ installed: true, path: PROGRAM, version: "1.0.0", signed_in: true, advice: null }),
  connect,
});
