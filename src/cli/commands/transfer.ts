// `dragoman export` and `import`: a session as NDJSON, with its ledger, from one daemon to another.
import { createReadStream } from "node:fs";
import { type Command, EXIT, flag, need, text } from "../command.ts";
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
  usage: "import <file>",
  about: "take up a session that was exported; - reads stdin",
  help: `  A file is data: its environment, MCP servers, system prompt and permission mode are not taken over.
  The next message starts a new conversation of the agent, unless --resume is given.`,
  options: {
    session: { type: "string", short: "s", value: "<id>", about: "under this id (default: the one it had)" },
    resume: { type: "boolean", about: "go on with the agent's own conversation; only for files you trust" },
  },
  completes: ["files"],
  async run({ words, values, daemon, json, print, terminal }) {
    const file = need(words, 0, "the file");
    const id = text(values, "session");
    const source = file === "-" ? terminal.stdin : createReadStream(file);
    const chunks: Buffer[] = [];
    for await (const chunk of source) chunks.push(Buffer.from(chunk as Buffer));
    const session = await (await daemon()).importSession(Buffer.concat(chunks).toString("utf8"), {
      ...(id === undefined ? {} : { session_id: id }),
      ...(flag(values, "resume") ? { resume: true } : {}),
    });
    if (flag(values, "json")) json(session);
    else print(session.session_id);
    return EXIT.ok;
  },
};
