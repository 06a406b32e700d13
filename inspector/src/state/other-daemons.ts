/**
 * Other daemons beside the one this page comes from: people have more than one machine. This daemon's start names them, each must allow this page's origin, and a person signs in to each with a
 * link of its own. They are looked at, not driven: their sessions and what waits there, with links to their own pages.
 */
import { Dragoman } from "../../../src/client/dragoman.ts";
import { DragomanError } from "../../../src/client/error.ts";
import type { Session } from "../../../src/schema/session.ts";
import { daemon, problemText } from "./daemon.ts";
import { KeptToken } from "./kept-token.ts";
import { linkIn } from "./page-token.ts";
import { Store } from "./store.ts";

export type OtherState =
  | { state: "signed out" }
  | { state: "connecting" }
  | { state: "live" }
  | { state: "failed"; detail: string };

const PAGE = 200;
const REFRESH_MS = 300;
/** Events after which its list is read again. */
const CHANGES_LIST = /^(session|turn|permission|question)\./;

export class OtherDaemon {
  readonly url: string;
  readonly name: string;
  readonly state = new Store<OtherState>({ state: "signed out" });
  readonly sessions = new Store<readonly Session[]>([]);
  readonly #token: KeptToken;
  readonly #client: Dragoman;
  #following: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string) {
    this.url = url;
    this.name = new URL(url).host;
    this.#token = new KeptToken(url, `dragoman.token ${url}`);
    this.#client = new Dragoman({ url, token: this.#token.get, fetch: (input, init) => this.#fetch(input, init) });
  }

  /** The list is read when the stream is open, not before: nothing happens between them, and a machine that sleeps now is found when it wakes. */
  async #fetch(input: Parameters<typeof fetch>[0], init: Parameters<typeof fetch>[1]): Promise<Response> {
    const response = await fetch(input, init);
    const signal = this.#following?.signal;
    if (signal && response.ok && String(input).startsWith(`${this.url}/v1/events/sse`)) void this.#read(signal);
    return response;
  }

  /** A link as `dragoman open` prints it there, or a token of that daemon. Throws. */
  async signIn(words: string): Promise<void> {
    const text = words.trim();
    await this.#token.signIn(linkIn(text.slice(Math.max(0, text.indexOf("#"))))?.token ?? text);
    void this.follow();
  }

  signOut(): void {
    this.#following?.abort();
    // Ended there too; a daemon that cannot be reached ends it by its time.
    void this.#client.signOut().catch(() => {});
    this.#token.forget();
    this.sessions.set([]);
    this.state.set({ state: "signed out" });
  }

  /** Where a session is shown by its own daemon. */
  hrefOf(session: Session): string {
    return `${this.url}/ui#/sessions/${encodeURIComponent(session.session_id)}`;
  }

  /** Reads the list and follows what happens, until it is signed out or refused. */
  async follow(): Promise<void> {
    if (this.#token.get() === undefined) return;
    this.#token.schedule();
    this.#following?.abort();
    const following = new AbortController();
    this.#following = following;
    const { signal } = following;
    this.state.set({ state: "connecting" });
    try {
      const stream = this.#client.events({
        signal,
        kinds: ["session"],
        onState: (state) => {
          if (state.state === "reconnecting") this.state.set({ state: "failed", detail: state.reason });
        },
      });
      for await (const { event } of stream) if (CHANGES_LIST.test(event.type)) this.#readSoon(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof DragomanError && error.status === 401) return this.signOut();
      this.state.set({ state: "failed", detail: problemText(error) });
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    try {
      const { sessions } = await this.#client.sessions({ limit: PAGE, order: "updated" }, signal);
      if (signal.aborted) return;
      this.sessions.set(sessions);
      this.state.set({ state: "live" });
    } catch (error) {
      if (!signal.aborted) this.state.set({ state: "failed", detail: problemText(error) });
    }
  }

  #readSoon(signal: AbortSignal): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#read(signal);
    }, REFRESH_MS);
  }
}

export const otherDaemons = new Store<readonly OtherDaemon[]>([]);

export async function followOthers(): Promise<void> {
  const found = await daemon.daemons().catch(() => []);
  otherDaemons.set(found.map(({ url }) => new OtherDaemon(url)));
  for (const each of otherDaemons.get()) void each.follow();
}
