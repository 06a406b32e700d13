/** When a failed request is asked again, and after how long. It waits; it does not know what is asked. */
import { ResponsesError } from "./errors.ts";

export interface RetryPolicy {
  /** How often a request is asked again after it failed. */
  readonly retries: number;
  /** The first wait; each later one is twice as long. */
  readonly baseMs: number;
  /** No wait of our own is longer. A wait the provider asks for may be. */
  readonly maxMs: number;
  /** 0 to 1, for the jitter. */
  random(): number;
}

export const DEFAULT_RETRY: RetryPolicy = { retries: 5, baseMs: 1000, maxMs: 60_000, random: Math.random };

/** A wait before another attempt. */
export interface RetryNotice {
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: ResponsesError;
}

/** The wait after a failed attempt (from 1): what the provider asks for, else doubled with jitter of a quarter; null when it is not asked again. */
export function waitAfter(error: ResponsesError, attempt: number, policy: RetryPolicy): number | null {
  if (!error.retryable || attempt > policy.retries) return null;
  if (error.retryAfterMs !== null) return error.retryAfterMs;
  const full = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1));
  return Math.round(full * (0.75 + policy.random() * 0.25));
}

export interface RetryOptions {
  readonly policy?: RetryPolicy;
  readonly signal?: AbortSignal;
  onRetry?(notice: RetryNotice): void;
}

/** Runs an attempt until it succeeds, is not worth asking again, or the signal fires. */
export async function withRetry<T>(attemptOnce: (attempt: number) => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { policy = DEFAULT_RETRY, signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptOnce(attempt);
    } catch (error) {
      if (!(error instanceof ResponsesError)) throw error;
      const waitMs = waitAfter(error, attempt, policy);
      if (waitMs === null || signal?.aborted) throw error;
      options.onRetry?.({ attempt, waitMs, error });
      await wait(waitMs, signal);
    }
  }
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new ResponsesError("aborted", "The request was aborted while it waited to be sent again."));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
