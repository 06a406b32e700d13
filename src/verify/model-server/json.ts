// Reading JSON of unknown shape: every look into a request body goes through these guards, so nothing here casts.

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const arrayOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const objectsOf = (value: unknown): JsonObject[] => arrayOf(value).filter(isObject);
export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The text of a content field that is a string or a list of parts with `text` (and, nested, `content`). */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .map((part) => {
      if (typeof part === "string") return part;
      if (!isObject(part)) return "";
      if (typeof part.text === "string") return part.text;
      return part.content === undefined ? "" : textOf(part.content);
    })
    .filter((text) => text !== "")
    .join("\n");
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
