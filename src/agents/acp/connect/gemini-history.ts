// Where gemini 0.61 keeps the history of a session, and what must be done so that it can be taken up: files are named by the minute and the first
// eight characters of the id. A load first writes an empty history to the file of its own minute: in the minute of the real one this erases it, and
// otherwise it leaves a stub, for which any later gemini in that project removes every file of the session. Not here: the load itself (connection.ts).
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { arr, isRecord, rec, records, str } from "../../json.ts";

/** `unspoken`: the session exists, and nothing was ever said in it, so it cannot be loaded and nothing is lost by a new one. */
export type HistoryState = "spoken" | "unspoken" | "missing";

type HistoryFile = { folder: string; name: string; minute: string; spoken: boolean };

const MINUTE_MS = 60_000;

export class GeminiHistory {
  readonly #home: string | undefined;
  readonly #sessionId: string;
  readonly #now: () => number;

  constructor(env: Record<string, string | undefined>, sessionId: string, now: () => number = Date.now) {
    this.#home = env.GEMINI_CLI_HOME ?? env.HOME ?? env.USERPROFILE;
    this.#sessionId = sessionId;
    this.#now = now;
  }

  /** Before the process that is to load it starts: the history gets a name of an earlier minute, and stubs beside it go. */
  async settle(): Promise<HistoryState> {
    const files = await this.#files();
    if (files.length === 0) return "missing";
    if (!files.some((file) => file.spoken)) return "unspoken";
    await this.#dropStubs(files);
    const current = minuteOf(this.#now());
    for (const file of files) if (file.spoken && file.minute >= current) await this.#age(file);
    return "spoken";
  }

  /** After the load: the stub it made goes. */
  async loaded(): Promise<void> {
    const files = await this.#files();
    if (files.some((file) => file.spoken)) await this.#dropStubs(files);
  }

  async #dropStubs(files: HistoryFile[]): Promise<void> {
    for (const file of files) if (!file.spoken) await rm(join(file.folder, file.name), { force: true });
  }

  async #age({ folder, name, minute }: HistoryFile): Promise<void> {
    for (let at = this.#now() - MINUTE_MS; ; at -= MINUTE_MS) {
      const older = join(folder, name.replace(minute, minuteOf(at)));
      const taken = await stat(older).catch(() => null);
      if (taken === null) return rename(join(folder, name), older);
    }
  }

  async #files(): Promise<HistoryFile[]> {
    if (this.#home === undefined) return [];
    const projects = join(this.#home, ".gemini", "tmp");
    const found: HistoryFile[] = [];
    for (const project of await readdir(projects).catch(() => [])) {
      const folder = join(projects, project, "chats");
      for (const name of await readdir(folder).catch(() => [])) {
        const minute = this.#minuteIn(name);
        const text = minute === undefined ? null : await readFile(join(folder, name), "utf8").catch(() => null);
        if (minute === undefined || text === null) continue;
        const { sessionId, spoken } = readHistory(text);
        if (sessionId === this.#sessionId) found.push({ folder, name, minute, spoken });
      }
    }
    return found;
  }

  #minuteIn(name: string): string | undefined {
    const match = /^session-(\d{4}-\d\d-\d\dT\d\d-\d\d)-(.{8})\.jsonl$/.exec(name);
    return match?.[2] === this.#sessionId.slice(0, 8) ? match[1] : undefined;
  }
}

const minuteOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace(":", "-");

/** A record is a message, the session's description, or a change of that (`$set`), which may hold all messages anew. */
function readHistory(text: string): { sessionId: string | undefined; spoken: boolean } {
  let sessionId: string | undefined;
  let spoken = false;
  for (const line of text.split("\n")) {
    const record = parsed(line);
    sessionId = str(record.sessionId) ?? str(rec(record.$set).sessionId) ?? sessionId;
    const messages = [record, ...records(record.messages), ...records(rec(record.$set).messages)];
    spoken ||= messages.some(isSpoken);
  }
  return { sessionId, spoken };
}

/** What gemini itself takes for a conversation: not its own context, not a command that never reached the model. */
function isSpoken(message: Record<string, unknown>): boolean {
  if (message.type === "gemini") return true;
  if (message.type !== "user") return false;
  const { content } = message;
  const text =
    typeof content === "string"
      ? content
      : arr(content)
          .map((part) => str(rec(part).text) ?? "")
          .join("");
  return !/^\s*(<session_context>|<hook_context>|[/?]|$)/.test(text);
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
