/** Reading of JSON whose shape nobody guarantees. */
import { parseMessage } from "../json/depth.ts";

/** A JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Undefined when it is not JSON, or nested too deeply. */
export function parseJson(text: string): unknown {
  try {
    return parseMessage(text);
  } catch {
    return undefined;
  }
}
