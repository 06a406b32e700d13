// The event stream of one server: records every frame, and knows from it which sessions are at work and whether the stream is really open.
import { parseMessage } from "../../../json/depth.ts";
import { openSse, type SseConnection } from "../../../transports/index.ts";
import type { Channel } from "../../contract.ts";
import { arr, type JsonRecord, rec, str } from "../../json.ts";

const STREAM = "/global/event";
/** The server beats every ten seconds. */
const SILENCE_MS = 60_000;

/** A permission request, as far as a session's own policy needs it. */
export type AskedPermission = { id: string; session: string; permission: string; patterns: string[] };

/** What the connection of a session is informed of, whose own id comes first: that of the session its sub-agents work for. */
export type PermissionWatch = {
  asked(root: string, asked: AskedPermission): void;
  /** `request` null: the native session is idle, nothing in it waits for an answer. */
  settled(root: string, session: string, request: string | null): void;
};

export class StreamListener {
  /** A session that does not exist; see `OpencodeServer`. */
  static readonly PROBE = "ses_00000000000000000000000000";

  /** Native sessions that work now, sub-agents among them. */
  readonly busy = new Set<string>();
  readonly #channel: Channel;
  readonly #permissions: PermissionWatch;
  /** Sub-agents and the sessions they work for. */
  readonly #parents = new Map<string, string>();
  #probed: (() => void)[] = [];
  /** Sessions in which the agent has said something since they were last idle. */
  readonly #answered = new Set<string>();
  readonly #disposed = new Map<string, () => void>();
  #onUnanswered: (session: string) => void = () => {};

  constructor(channel: Channel, permissions: PermissionWatch) {
    this.#channel = channel;
    this.#permissions = permissions;
  }

  /** Resolves when the next sign of a probe arrives. */
  nextProbe(): Promise<void> {
    return new Promise((resolve) => this.#probed.push(resolve));
  }

  /** Resolves when the stream has reported that the instance of this directory is gone. */
  disposed(directory: string): Promise<void> {
    return new Promise((resolve) => this.#disposed.set(directory, resolve));
  }

  open(
    url: string,
    headers: Record<string, string>,
    on: { onReopened(): void; onUnanswered(session: string): void },
  ): SseConnection {
    this.#onUnanswered = on.onUnanswered;
    this.#record("http", { phase: "sse-open", method: "GET", path: STREAM, stream: STREAM });
    return openSse({
      url: `${url}${STREAM}`,
      headers,
      idleTimeoutMs: SILENCE_MS,
      maxRetryMs: 2_000,
      onOpen: ({ reconnected }) => {
        this.#record("http", { phase: "sse-headers", stream: STREAM, status: 200 });
        if (reconnected) on.onReopened();
      },
      onEvent: ({ data }) => this.#frame(data),
      onOversize: (bytes) => this.#channel.unparsed("sse", Buffer.alloc(0), `an event of ${bytes} bytes was left out`),
      onDisconnect: (reason) => this.#record("err", { phase: "sse-error", stream: STREAM, ...reason }),
    });
  }

  #frame(text: string): void {
    let json: unknown;
    try {
      json = parseMessage(text);
    } catch (error) {
      this.#channel.unparsed("sse", Buffer.from(text), error instanceof Error ? error.message : String(error));
      return;
    }
    this.#channel.record("sse", text, json);
    this.#watch(json);
  }

  #watch(json: unknown): void {
    const payload = rec(rec(json).payload);
    const properties = rec(payload.properties);
    if (payload.type === "permission.asked") return this.#asked(properties);
    if (payload.type === "session.created") return this.#created(rec(properties.info));
    if (payload.type === "session.deleted") return void this.#parents.delete(str(properties.sessionID) ?? "");
    const session = str(properties.sessionID) ?? "";
    if (payload.type === "permission.replied")
      return this.#permissions.settled(this.#root(session), session, str(properties.requestID) ?? "");
    if (payload.type === "message.updated" && rec(properties.info).role === "assistant") this.#answered.add(session);
    if (payload.type === "server.instance.disposed") this.#disposed.get(str(properties.directory) ?? "")?.();
    if (payload.type !== "session.status") return;
    if (session === StreamListener.PROBE) {
      for (const resolve of this.#probed.splice(0)) resolve();
      return;
    }
    if (rec(properties.status).type !== "idle") return void this.busy.add(session);
    this.#permissions.settled(this.#root(session), session, null);
    if (this.busy.delete(session) && !this.#answered.delete(session)) this.#onUnanswered(session);
  }

  #created({ id, parentID }: JsonRecord): void {
    if (typeof id === "string" && typeof parentID === "string") this.#parents.set(id, parentID);
  }

  #root(session: string): string {
    let root = session;
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent;
    return root;
  }

  #asked({ id, sessionID, permission, patterns }: JsonRecord): void {
    const session = str(sessionID) ?? "";
    this.#permissions.asked(this.#root(session), {
      id: str(id) ?? "",
      session,
      permission: str(permission) ?? "",
      patterns: arr(patterns).flatMap((pattern) => str(pattern) ?? []),
    });
  }

  #record(dir: "http" | "err", data: unknown): void {
    this.#channel.record(dir, JSON.stringify(data), data);
  }
}
