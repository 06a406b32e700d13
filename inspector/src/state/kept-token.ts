/**
 * A token of a daemon, kept in localStorage under one key and renewed while a page is open. localStorage and not sessionStorage, because a second tab and a reload must not ask
 * for another link; and not a cookie, because a cookie is sent to every port of this host, while storage belongs to this origin, port included. Not here: what the token may do.
 */
import { Dragoman } from "../../../src/client/dragoman.ts";
import { DragomanError } from "../../../src/client/error.ts";
import type { MintedToken } from "../../../src/client/tokens.ts";

const SHORTEST_WAIT_MS = 500;
/** A browser's timer counts at most 24 days, and fires at once when it should count more. */
const LONGEST_WAIT_MS = 6 * 3_600_000;
/** A token that was just renewed is not over, whatever this machine's clock says. */
const WRONG_CLOCK_WAIT_MS = 60_000;

type Held = { token: string; expires_at: string };

export class KeptToken {
  readonly #key: string;
  /** Never through the fetch that keeps requests for copying: these carry tokens. */
  readonly #plain: Dragoman;
  #held: Held | null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The last renewal worked. */
  #renewed = false;

  constructor(url: string, key: string) {
    this.#key = key;
    this.#plain = new Dragoman({ url, token: () => this.#held?.token });
    this.#held = this.#read();
    window.addEventListener("storage", ({ key: changed }) => {
      if (changed === key || changed === null) this.#take(this.#read());
    });
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.#renew();
    });
  }

  /** Asked for with each request. */
  readonly get = (): string | undefined => this.#held?.token;

  /** With the token of a link, or one that a person typed. Throws. */
  async signIn(token: string): Promise<void> {
    const { token: own, expires_at }: MintedToken = await this.#plain.signIn(token);
    this.#keep({ token: own, expires_at: expires_at ?? new Date(0).toISOString() });
  }

  /** The token is over: no tab of this origin shows it any more. */
  forget(): void {
    localStorage.removeItem(this.#key);
    this.#take(null);
  }

  /** At half of what is left, so that a failed renewal is tried again before the end. */
  schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#held) return;
    const left = Date.parse(this.#held.expires_at) - Date.now();
    const shortest = left <= 0 && this.#renewed ? WRONG_CLOCK_WAIT_MS : SHORTEST_WAIT_MS;
    this.#timer = setTimeout(() => void this.#renew(), Math.min(LONGEST_WAIT_MS, Math.max(shortest, left / 2)));
  }

  #read(): Held | null {
    try {
      const value = JSON.parse(localStorage.getItem(this.#key) ?? "null") as Held | null;
      return value && typeof value.token === "string" && typeof value.expires_at === "string" ? value : null;
    } catch {
      return null;
    }
  }

  #keep(value: Held): void {
    localStorage.setItem(this.#key, JSON.stringify(value));
    this.#take(value);
  }

  #take(value: Held | null): void {
    this.#held = value;
    this.schedule();
  }

  /** Several tabs may do it: the secret stays, so nobody is in another's way. */
  async #renew(): Promise<void> {
    if (!this.#held) return;
    try {
      const { expires_at } = await this.#plain.renew();
      this.#renewed = true;
      if (this.#held) this.#keep({ ...this.#held, expires_at });
    } catch (error) {
      this.#renewed = false;
      if (error instanceof DragomanError && error.status === 401) return this.forget();
      this.schedule();
    }
  }
}
