/** Keys of what agents say beside the schema, such as metadata and details of notices: snake_case like all others. Values that are an agent's own stay. */

/** Under these names stands what a tool, a person or an agent wrote: it keeps its own keys. */
export const OWN_WORDS: ReadonlySet<string> = new Set(["input", "updated_input", "json", "args", "value", "frontmatter", "env"]);

/** A key in camelCase. Names of things that are keys, such as paths, models and tools, mostly are not. */
export const isCamelCase = (key: string): boolean => /^[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*$/.test(key);

/** `projectID` → `project_id`, `apiKeySource` → `api_key_source`. */
const snake = (key: string): string =>
  isCamelCase(key)
    ? key
        .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
        .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
        .toLowerCase()
    : key;

export function snakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeKeys);
  return typeof value === "object" && value !== null ? snakeRecord({ ...value }) : value;
}

/** Of two keys that become one, the one that was snake_case stays. */
export function snakeRecord(record: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(record).map(([key, entry]): [string, unknown] => [
    snake(key) !== key && Object.hasOwn(record, snake(key)) ? "" : snake(key),
    OWN_WORDS.has(key) ? entry : snakeKeys(entry),
  ]);
  return Object.fromEntries(entries.filter(([key]) => key !== ""));
}
