/**
 * The gate before an agent's start: decides whether it may load its directory's settings, and asks a person when nobody has decided yet. The question is a
 * permission like any other; the message that needs the agent waits for the answer. Not here: which directories are trusted (trust/trust-store.ts).
 */
import type { Agent, AgentHost, LoadedFile } from "../agents/contract.ts";
import type { Actor } from "../schema/actor.ts";
import type { Draft } from "../schema/draft.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { DirectoryFile, DirectorySettings, PermissionReplyBody, TrustRequest } from "../schema/session.ts";
import { TRUST_TOOL } from "../schema/trust-tool.ts";
import type { SessionRow } from "./session-row.ts";

/** What a session needs to know of the trusted directories. */
export interface TrustedDirectories {
  isTrusted(directory: string): boolean;
  /** The directory to ask about for a session in this one. */
  rootOf(directory: string): string;
  add(directory: string): unknown;
}

/** A request of the daemon's own: its answer goes here, never to the agent. */
export class DaemonRequest {
  readonly answered: (reply: PermissionReplyBody["reply"]) => void;
  constructor(answered: (reply: PermissionReplyBody["reply"]) => void) {
    this.answered = answered;
  }
}

/** Nobody waits for the answer any more: the message was interrupted, or the session ends. */
export class Withdrawn extends Error {}

export type GateOptions = {
  row: Readonly<SessionRow>;
  agent: Agent;
  host: AgentHost;
  directories: TrustedDirectories;
  save(change: Partial<SessionRow>): void;
  emit(drafts: Draft[]): void;
};

/** One at a time is open, so one name is enough. */
const KEY = "dragoman:trust";
const WITHDRAWN = "The message was withdrawn before anybody decided whether the directory is trusted.";

export const isTrusted = (row: Readonly<SessionRow>, directories: Pick<TrustedDirectories, "isTrusted">): boolean =>
  row.trust === "trusted" || (row.trust !== "restricted" && directories.isTrusted(row.directory));

export class TrustGate {
  readonly #options: GateOptions;
  #withdraw: (() => void) | null = null;
  /** Counts what ended a wait, so that one that is about to begin does not. */
  #cancelled = 0;
  /** The same for interrupts: they end only a wait for a person. */
  #interrupted = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  get trusted(): boolean {
    return isTrusted(this.#options.row, this.#options.directories);
  }

  /** Resolves when the agent may start, trusted or restricted; rejects with Withdrawn. */
  async pass(): Promise<void> {
    const { row, agent, host, directories } = this.#options;
    if (row.trust === "trusted" || row.trust === "restricted" || row.trust_declined || directories.isTrusted(row.directory))
      return;
    const [cancelled, interrupted] = [this.#cancelled, this.#interrupted];
    const found = await heldBack(agent, host, row.directory);
    if (cancelled !== this.#cancelled) throw new Withdrawn(WITHDRAWN);
    if (found.length === 0) return;
    if (interrupted !== this.#interrupted) throw new Withdrawn(WITHDRAWN);
    await this.#ask(found);
  }

  /** For a start that no message asks for: there is nobody to wait for an answer. */
  async mustBeDecided(): Promise<void> {
    const { row, agent, host, directories } = this.#options;
    if (row.trust === "ask" && !row.trust_declined && !directories.isTrusted(row.directory))
      await mustNotHoldBack(agent, host, row.directory);
  }

  /** Ends the wait, for an interrupt, also one that is about to begin. Otherwise nothing happens. */
  interrupt(actor: Actor): void {
    this.#interrupted++;
    if (!this.#withdraw) return;
    this.#options.emit([{ do: "permission.resolve", key: KEY, status: "denied", resolved_by: "client", reply: "reject", actor }]);
    this.cancel();
  }

  /** Ends the wait; whoever closes the session closes the request. */
  cancel(): void {
    this.#cancelled++;
    this.#withdraw?.();
    this.#withdraw = null;
  }

  async settings(trusted: boolean): Promise<DirectorySettings> {
    const { row, agent, host } = this.#options;
    const files = ((await agent.directoryFiles?.(row.directory, host)) ?? []).map(({ always, ...file }) => ({
      ...file,
      state: trusted || always ? ("loaded" as const) : ("held_back" as const),
    }));
    return { trust: trusted ? "trusted" : "restricted", directory: row.directory, files };
  }

  #ask(found: DirectoryFile[]): Promise<void> {
    const { row, agent, directories, emit } = this.#options;
    const directory = directories.rootOf(row.directory);
    return new Promise((resolve, reject) => {
      const answered = (reply: PermissionReplyBody["reply"]): void => {
        this.#withdraw = null;
        try {
          this.#decided(reply, directory);
          resolve();
        } catch (error) {
          reject(error);
          throw error;
        }
      };
      this.#withdraw = () => reject(new Withdrawn(WITHDRAWN));
      emit([
        {
          do: "permission.request",
          key: KEY,
          action: `Trust the directory ${directory}`,
          tool_name: TRUST_TOOL,
          input: { directory, found } satisfies TrustRequest,
          reason: reasonOf(agent.name, found),
          options: [
            { id: "session", label: "Trust it in this session", kind: "allow_once" },
            { id: "directory", label: `Always trust ${directory}`, kind: "allow_always" },
            { id: "restricted", label: "Go on without its settings", kind: "reject_once" },
          ],
          native: new DaemonRequest(answered),
        },
      ]);
    });
  }

  #decided(reply: PermissionReplyBody["reply"], directory: string): void {
    const { save, directories } = this.#options;
    if (reply === "reject") return save({ trust_declined: true });
    if (reply === "once") return save({ trust: "trusted" });
    directories.add(directory);
  }
}

/** What a restricted session would not load. */
export async function heldBack(agent: Agent, host: AgentHost, directory: string): Promise<DirectoryFile[]> {
  const files: LoadedFile[] = (await agent.directoryFiles?.(directory, host)) ?? [];
  return files.filter(({ always }) => !always);
}

/** For those who do not want to be asked. */
export async function mustNotHoldBack(agent: Agent, host: AgentHost, directory: string): Promise<void> {
  const found = await heldBack(agent, host, directory);
  if (found.length === 0) return;
  throw new ProblemError(
    "directory_untrusted",
    `${directory} is not trusted. ${reasonOf(agent.name, found)}\nTrust it with \`dragoman trust ${directory}\`, for one session with \`--trust\` (trust: trusted), or start without these with \`--restricted\` (trust: restricted).`,
  );
}

const SHOWN = 12;

function reasonOf(agent: string, found: readonly DirectoryFile[]): string {
  const lines = found.slice(0, SHOWN).map(({ path, kind, does }) => `  ${path} (${kind.replaceAll("_", " ")}): ${does}`);
  const more = found.length > SHOWN ? [`  … and ${found.length - SHOWN} more`] : [];
  return [`${agent} would load from it:`, ...lines, ...more].join("\n");
}
