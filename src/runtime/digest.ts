/** Digests. Objects are digested with their keys sorted, so that the same input always has the same digest. */
import { hash } from "node:crypto";

export const sha256 = (bytes: string | Buffer): string => hash("sha256", bytes, "hex");

/** JSON with sorted keys. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join(",")}}`;
}

/** What an approval is bound to: this tool with exactly this input. */
export const inputDigest = (tool: string, args: unknown): string => sha256(`${tool}\n${canonicalJson(args)}`);
