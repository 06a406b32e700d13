/** The files of a session of our own agent: its journal and its blobs, in the daemon's data directory. */
import { randomUUID } from "node:crypto";
import { cp, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fork } from "../../../runtime/fork.ts";
import { journalLine, readJournal } from "../../../runtime/journal-file.ts";
import { RuntimeState } from "../../../runtime/state.ts";
import { AgentError, type AgentHost, type ResumeTarget } from "../../contract.ts";
import { carriedFiles } from "../../kit/carry.ts";

const folderOf = ({ stateDir }: Pick<AgentHost, "stateDir">): string => join(stateDir, "sessions");

/** To another machine: what a fork would have of it. */
export const carriedJournal = carriedFiles(
  "data_directory",
  ({ host }) => folderOf(host),
  (id) => [
    [id, "journal"],
    [id, "blobs", "**"],
  ],
);

/** Journals that this process holds: two loops on one journal would do everything twice. */
const held = new Set<string>();

export class SessionData {
  readonly id: string;
  readonly path: string;

  constructor(host: Pick<AgentHost, "stateDir">, id: string) {
    this.id = id;
    this.path = join(folderOf(host), id);
  }

  hold(): void {
    if (held.has(this.path))
      throw new AgentError("agent_refused", "This conversation is open in another session: fork that one, or end it first.");
    held.add(this.path);
  }

  release(): void {
    held.delete(this.path);
  }
}

/** The data of a new session, of one that goes on, or of a fork. */
export async function dataFor(host: AgentHost, resume: ResumeTarget | null): Promise<SessionData> {
  if (resume === null) return made(new SessionData(host, randomUUID()));
  const origin = knownId(host, resume.native_session_id);
  const exists = await stat(join(origin.path, "journal")).catch(() => null);
  if (exists === null) {
    if (resume.answered === false) return made(new SessionData(host, randomUUID()));
    throw new AgentError("agent_refused", `There is no journal of the conversation ${origin.id}: start a new session.`);
  }
  return resume.fork ? forked(host, origin, resume.at === undefined ? null : Number(resume.at)) : origin;
}

/** An id names a directory: nothing else may be named by it. */
function knownId(host: AgentHost, id: string): SessionData {
  if (!/^[0-9a-f-]{36}$/.test(id))
    throw new AgentError("agent_refused", `${JSON.stringify(id)} is no conversation of this agent.`);
  return new SessionData(host, id);
}

async function made(data: SessionData): Promise<SessionData> {
  await mkdir(join(data.path, "blobs"), { recursive: true, mode: 0o700 });
  return data;
}

/** A copy of the beginning, whole or not at all. `at`: how many records of the original it has. */
async function forked(host: AgentHost, origin: SessionData, at: number | null): Promise<SessionData> {
  const data = new SessionData(host, randomUUID());
  const temporary = `${data.path}.tmp`;
  const original = await readJournal(join(origin.path, "journal"));
  const records = fork(original, { records: at ?? original.length, sessionId: data.id, now: Date.now() });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  try {
    const blobs = join(origin.path, "blobs");
    if ((await stat(blobs).catch(() => null)) !== null) await cp(blobs, join(temporary, "blobs"), { recursive: true });
    const file = await open(join(temporary, "journal"), "wx", 0o600);
    await file.writeFile(records.map((record) => journalLine(record)).join(""));
    await file.sync();
    await file.close();
    await rename(temporary, data.path);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
  return data;
}

/** True: the journal ends in the middle of a turn, which goes on when the session is opened. */
export async function isUnfinished(host: AgentHost, id: string): Promise<boolean> {
  if (!/^[0-9a-f-]{36}$/.test(id)) return false;
  const records = await readJournal(join(new SessionData(host, id).path, "journal")).catch(() => []);
  const state = RuntimeState.from(records);
  return state.opened && state.turn !== null && state.settings.after_crash === "continue";
}

/** The session is gone, and with it what the agent kept of it. */
export async function removeData(id: string, host: AgentHost): Promise<void> {
  if (!/^[0-9a-f-]{36}$/.test(id)) return;
  const data = new SessionData(host, id);
  if (!held.has(data.path)) await rm(data.path, { recursive: true, force: true });
}
