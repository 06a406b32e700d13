/** Promises of a committer: for those who wait until what they wrote is durable. */
import type { LogError } from "./log-error.ts";

export type Waiter = { promise: Promise<void>; resolve(): void; reject(error: LogError): void };

export function waiter(): Waiter {
  let resolve: () => void = () => undefined;
  let reject: (error: LogError) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** Handled or not: a caller that went away must not bring the process down. */
export function rejected(error: LogError): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => undefined);
  return promise;
}
