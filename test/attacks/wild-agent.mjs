// An ACP agent gone wild, as a program of its own. The prompt says what it does: `read FILE COUNT` asks for a file again and again and reads no answer,
// `strangers BYTES` talks for sessions that do not exist, `terminal BYTES` starts a command that prints, with no limit on what is kept.
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const drained = () =>
  new Promise((resolve) => (process.stdout.writableNeedDrain ? process.stdout.once("drain", resolve) : setImmediate(resolve)));

const acts = {
  async read(path, count) {
    process.stdin.pause();
    for (let id = 1; id <= Number(count); id++) {
      send({ id, method: "fs/read_text_file", params: { sessionId: "s1", path } });
      await drained();
    }
    return new Promise(() => {});
  },
  async strangers(bytes) {
    const text = "x".repeat(100_000);
    for (let sent = 0; sent < Number(bytes); sent += text.length) {
      const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
      send({ method: "session/update", params: { sessionId: `stranger-${sent % 7}`, update } });
      await drained();
    }
  },
  async terminal(bytes) {
    const command = `head -c ${bytes} /dev/zero | tr '\\0' x; echo; sleep 300`;
    send({ id: 1, method: "terminal/create", params: { sessionId: "s1", command, outputByteLimit: 1e15 } });
    return new Promise(() => {});
  },
};

// Something must keep it alive while it reads nothing.
setInterval(() => {}, 1_000);

let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) answer(JSON.parse(line));
});
process.stdin.once("end", () => process.exit());

function answer({ id, method, params }) {
  if (method === "initialize")
    send({
      id,
      result: { protocolVersion: 1, agentInfo: { name: "wild", version: "1" }, agentCapabilities: {}, authMethods: [] },
    });
  else if (method === "session/new") send({ id, result: { sessionId: "s1" } });
  else if (method === "session/prompt") {
    const [act, ...words] = params.prompt[0].text.split(" ");
    void acts[act](...words).then(() => send({ id, result: { stopReason: "end_turn" } }));
  } else if (id !== undefined && method !== undefined) send({ id, result: {} });
}
