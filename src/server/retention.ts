/**
 * Keeps to what the configuration says about old sessions: looks at the start of the daemon and once a day, and removes a few at a time. Without a
 * configuration nothing is removed.
 */
import { setTimeout as delay } from "node:timers/promises";
import { BY_THE_DAEMON } from "../schema/actor.ts";
import type { RetentionPolicy } from "../session/pruning.ts";
import type { Audit } from "./audit.ts";
import { removed } from "./prune.ts";
import type { ServerOptions } from "./server-context.ts";

type Context = Pick<ServerOptions, "log" | "manager" | "logger"> & { audit: Audit; now?: () => number };

const DAY_MS = 24 * 60 * 60_000;
/** Between two removals: everything else goes first. */
const PAUSE_MS = 20;

export class Retention {
  readonly #context: Context;
  readonly #policy: RetentionPolicy;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> | undefined;

  constructor(context: Context, policy: RetentionPolicy) {
    this.#context = context;
    this.#policy = policy;
  }

  start(): void {
    const { ended_ms, dormant_ms } = this.#policy;
    if (ended_ms === undefined && dormant_ms === undefined) return;
    const look = (): void => {
      this.#running ??= this.run().finally(() => {
        this.#running = undefined;
      });
    };
    this.#timer = setInterval(look, DAY_MS).unref();
    look();
  }

  /** How many were removed. Never rejects: what could not be removed is found again the next day. */
  async run(): Promise<number> {
    const { logger, now = Date.now } = this.#context;
    const { ended_ms, dormant_ms, keep } = this.#policy;
    const rule = {
      keep,
      ...(ended_ms === undefined ? {} : { endedBefore: now() - ended_ms }),
      ...(dormant_ms === undefined ? {} : { restingBefore: now() - dormant_ms }),
    };
    let count = 0;
    try {
      for await (const { session_id, updated_at } of removed(this.#context, rule, BY_THE_DAEMON)) {
        count++;
        logger.info({ session_id, updated_at }, "an old session was removed");
        await delay(PAUSE_MS, undefined, { signal: this.#stopped.signal });
      }
      if (count > 0) await this.#context.log.erased();
    } catch (error) {
      if (!this.#stopped.signal.aborted) logger.warn({ err: error, removed: count }, "old sessions could not be removed");
    }
    return count;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await this.#running;
  }
}
