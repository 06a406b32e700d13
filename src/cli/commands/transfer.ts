// `dragoman export` and `import`: a session as NDJSON, with its ledger, from one daemon to another.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { type Command, EXIT, flag, need, text, UsageError } from "../command.ts";
import { withProgress } from "../progress.ts";
import { save } from "./look.ts";

export const exportSession: Command = {
  name: "export",
  usage: "export <session>",
  about: "write a session as NDJSON: its row, its events, its native messages",
  help: "  Known secrets are redacted; the environment of the agent and its MCP servers is never part of it.",
  options: {
    output: { type: "string", short: "o", value: "<file>", about: "default: stdout" },
    "with-secrets": { type: "boolean", about: "verbatim, with what looks like a secret; needs an admin token" },
  },
  completes: ["sessions"],
  async run({ words, values, daemon, terminal }) {
    const session = (await daemon()).session(need(words, 0, "the session"));
    const answer = await session.export(flag(values, "with-secrets") ? { with_secrets: true } : {});
    await save(answer, text(values, "output"), terminal);
    return EXIT.ok;
  },
};

export const importSession: Command = {
  name: "import",
  usage: "import <file|->",
  about: "import an exported session; - reads stdin",
  help: `  The file is sent as it is read, whatever its size, and imported as a whole or not at all.
  A file is data: its environment, MCP servers, system prompt and permission mode are not taken over.
  The next message starts a new conversation of the agent, unless --resume is given.`,
  options: {
    session: { type: "string", short: "s", value: "<id>", about: "under this id (default: the one it had)" },
    resume: { type: "boolean", about: "go on with the agent's own conversation; only for files you trust" },
  },
  completes: ["files"],
  async run({ words, values, daemon, json, print, terminal }) {
    const file = need(words, 0, "the file");
    const id = text(values, "session");
    const about = file === "-" ? undefined : await stat(file);
    if (about?.isDirectory()) throw new UsageError(`${file} is a directory`);
    const total = about?.isFile() ? about.size : undefined;
    const source = file === "-" ? terminal.stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
    const chunks = withProgress(bytesOf(source), { output: terminal.stderr, what: `importing ${basename(file)}:`, total });
    const options = { ...(id === undefined ? {} : { session_id: id }), ...(flag(values, "resume") ? { resume: true } : {}) };
    const session = await (await daemon())
      .importSession(chunks, options, terminal.signal)
      .finally(() => terminal.stderr.clearLine());
    if (flag(values, "json")) json(session);
    else print(session.session_id);
    return EXIT.ok;
  },
};

async function* bytesOf(source: NodeJS.ReadableStream): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}
