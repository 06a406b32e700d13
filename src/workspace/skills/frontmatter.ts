/** Reads the YAML at the head of a SKILL.md, and checks it against the Agent Skills specification. Loading is lenient: most faults are warnings. */
import type { SkillWarning } from "./skill.ts";

const NAME_LENGTH = 64;
const DESCRIPTION_LENGTH = 1_024;
const COMPATIBILITY_LENGTH = 500;
const NAME = /^[\p{Ll}\p{Lo}\p{Lm}\p{Nd}-]+$/u;
const SPECIFIED = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"]);
/** Not in the specification, but in use. */
const IN_USE = new Set([
  "disable-model-invocation",
  "user-invocable",
  "context",
  "agent",
  "model",
  "hooks",
  "argument-hint",
  "version",
  "author",
  "tags",
]);

export type Frontmatter = { fields: Record<string, unknown>; body: string; repaired: boolean };

/** null: there is no frontmatter, or it is no YAML map even after repair. */
export async function readFrontmatter(text: string): Promise<Frontmatter | null> {
  const parts = divided(text);
  if (!parts) return null;
  const { head, body } = parts;
  const fields = await parseMap(head);
  if (fields) return { fields, body, repaired: false };
  const repaired = await parseMap(quoteColons(head));
  return repaired ? { fields: repaired, body, repaired: true } : null;
}

/** What stands behind the frontmatter; nothing where there is none. */
export const bodyOf = (text: string): string => divided(text)?.body ?? "";

function divided(text: string): { head: string; body: string } | null {
  const match = /^\uFEFF?---[ \t]*\r?\n((?:[\s\S]*?\r?\n)??)---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text);
  return match && { head: match[1] ?? "", body: match[2] ?? "" };
}

async function parseMap(yaml: string): Promise<Record<string, unknown> | null> {
  // Loaded on use: most daemons never read a skill.
  const { parseDocument } = await import("yaml");
  try {
    // No aliases: a small file could become a huge value. No custom tags: only plain data.
    const document = parseDocument(yaml, { schema: "core", uniqueKeys: true });
    if (document.errors.length > 0) return null;
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/** `description: Use this: always` is no YAML, but common: such values are put in quotes. */
function quoteColons(yaml: string): string {
  return yaml
    .split("\n")
    .map((line) => {
      const match = /^([A-Za-z][\w-]*):[ \t]+([^"'|>[{].*)$/.exec(line.replace(/\r$/, ""));
      if (!match || !/:(\s|$)|\s#/.test(match[2]!)) return line;
      return `${match[1]}: "${match[2]!.replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;
    })
    .join("\n");
}

/** Everything the specification complains about. */
export function validate(fields: Record<string, unknown>, directory: string): SkillWarning[] {
  const found: SkillWarning[] = [];
  const add = (kind: SkillWarning["kind"], detail: string) => found.push({ kind, detail });
  const { name, description, compatibility, metadata, license } = fields;
  if (name === undefined) add("invalid_name", "There is no name; the directory's is used.");
  else if (typeof name !== "string") add("invalid_name", "The name is not a text.");
  else for (const fault of nameFaults(name)) add("invalid_name", fault);
  if (typeof name === "string" && name.normalize("NFKC") !== directory.normalize("NFKC"))
    add("name_mismatch", `The name is ${JSON.stringify(name)}, its directory ${JSON.stringify(directory)}.`);
  if (typeof description !== "string" || description.trim() === "")
    add("missing_description", "There is no description: nobody could know when to use it.");
  else if (description.length > DESCRIPTION_LENGTH)
    add("description_too_long", `The description has ${description.length} characters; ${DESCRIPTION_LENGTH} are allowed.`);
  if (
    compatibility !== undefined &&
    (typeof compatibility !== "string" || compatibility === "" || compatibility.length > COMPATIBILITY_LENGTH)
  )
    add("invalid_field", `compatibility must be a text of at most ${COMPATIBILITY_LENGTH} characters.`);
  if (license !== undefined && typeof license !== "string") add("invalid_field", "license must be a text.");
  if (metadata !== undefined && !isStringMap(metadata)) add("invalid_field", "metadata must be a map from texts to texts.");
  if (fields["allowed-tools"] !== undefined && typeof fields["allowed-tools"] !== "string")
    add("invalid_field", "allowed-tools must be one text, with spaces between the tools.");
  for (const key of Object.keys(fields))
    if (!SPECIFIED.has(key) && !IN_USE.has(key)) add("unknown_field", `${key} is not in the specification.`);
  return found;
}

function nameFaults(name: string): string[] {
  const faults: string[] = [];
  if (name.length === 0 || name.length > NAME_LENGTH) faults.push(`The name must have 1 to ${NAME_LENGTH} characters.`);
  if (name !== name.toLowerCase() || (name !== "" && !NAME.test(name.normalize("NFKC"))))
    faults.push("The name may have lowercase letters, digits and hyphens only.");
  if (name.startsWith("-") || name.endsWith("-")) faults.push("The name may not begin or end with a hyphen.");
  if (name.includes("--")) faults.push("The name may not have two hyphens in a row.");
  return faults;
}

const isStringMap = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((each) => typeof each === "string");
