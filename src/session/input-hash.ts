/**
 * The hash an approval is bound to: sha256 of the input as canonical JSON, that is with sorted keys and no spaces. Two inputs have the same hash exactly
 * when they mean the same JSON value.
 */
import { createHash } from "node:crypto";

export const inputHash = (input: unknown): string => `sha256:${createHash("sha256").update(canonicalJson(input)).digest("hex")}`;

/** The hash of arguments that are kept as JSON text; null while they are not JSON, as when they are still being streamed. */
export function argumentsHash(json: string): string | null {
  try {
    return inputHash(JSON.parse(json));
  } catch {
    return null;
  }
}

const NO_ARGUMENTS: ReadonlySet<string | null> = new Set([inputHash({}), inputHash(null), null]);

/** The same, but null also for a call that has no arguments: many agents announce a call before they show what it is called with. */
export function knownHash(json: string): string | null {
  const hash = argumentsHash(json);
  return NO_ARGUMENTS.has(hash) ? null : hash;
}

/** What JSON cannot hold (undefined, a function) counts as null, or is left out of an object, as `JSON.stringify` does. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`);
  return `{${members.join(",")}}`;
}
