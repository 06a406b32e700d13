/**
 * Examples for the OpenAPI document, made from the schemas: real-looking values by the name of a field, otherwise the simplest value that is valid. A test
 * checks each against its schema. Not here: where they stand in the document.
 */
type Json = Record<string, unknown>;

const TIME = "2026-11-17T09:30:00.000Z";
const ARTIFACT = `art_${"0123456789abcdef".repeat(4)}`;

/** What a field of this name says, in a project everybody can imagine. */
const BY_NAME: Json = {
  agent: "my-agent",
  agent_version: "1.4.0",
  session_id: "sess_01k2x9v7c4q8",
  native_session_id: "b6cf2dc0-d101-4cce-b1b9-29872d006d8c",
  parent_session_id: "sess_01k2x9v7c4q7",
  origin_session_id: "sess_01k2x9v7c4q8",
  forked_from: null,
  turn_id: "turn_01k2x9vq3m5r",
  step_id: "step_01k2x9vr8w2d",
  item_id: "itm_01k2x9vt5h7k",
  message_id: "msg_01k2x9vn0p6e",
  task_id: "task_01k2xa0d9f3s",
  checkpoint_id: "0199a7c4-8b1e-7d35-9c2a-5f60e4d1a8b3",
  permission_id: "perm_01k2xa1g6j4t",
  question_id: "ques_01k2xa2h7k5u",
  artifact_id: ARTIFACT,
  token_id: "tok_01k2xa3j8m6v",
  event_id: "evt_01k2x9vt5h7k",
  directory: "/home/me/parser",
  path: "src/parser.ts",
  cwd: "src",
  title: "Two parser tests fail",
  message: "Two parser tests fail since yesterday. Find out why.",
  text: "The reader forgets what is left in its buffer.",
  model: "large",
  label: "before the release",
  mime: "text/plain",
  digest: `sha256:${"0123456789abcdef".repeat(4)}`,
  command: "npm test",
  reply: "once",
  answers: [["Red"]],
  url: "https://example.org/mcp",
  older_than: "30d",
  base64: "aGVsbG8K",
  tags: ["parser"],
  detail: 'There is no session "sess_1".',
};

const TIMES = /(^time|_at)$/;
/** Deeper than this an example says nothing more. */
const DEEPEST = 6;

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** `resolve` gives the schema behind a `$ref`. */
export function exampleOf(schema: unknown, resolve: (ref: string) => unknown, name = "", depth = 0): unknown {
  if (!isJson(schema)) return null;
  if (typeof schema.$ref === "string") return exampleOf(resolve(schema.$ref), resolve, name, depth);
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const known = BY_NAME[name];
  if (known !== undefined && fits(schema, known)) return known;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const forms = listOf(schema.anyOf);
  if (forms.length > 0) return exampleOf(forms[0], resolve, name, depth);
  if (Array.isArray(schema.allOf)) return Object.assign({}, ...schema.allOf.map((each) => exampleOf(each, resolve, name, depth)));
  return ofType(schema, resolve, name, depth);
}

function ofType(schema: Json, resolve: (ref: string) => unknown, name: string, depth: number): unknown {
  switch (schema.type) {
    case "object":
      return objectOf(schema, resolve, depth);
    case "array":
      return depth > DEEPEST && !schema.minItems ? [] : [exampleOf(schema.items, resolve, name, depth + 1)];
    case "string":
      return TIMES.test(name) || schema.format === "date-time" ? TIME : pattern(schema, name);
    case "integer":
    case "number":
      return Math.max(1, Number(schema.minimum ?? 1));
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return {};
  }
}

/** All that must be there; of what may be, only a few well-known fields, so that an example is not a list of everything. */
function objectOf(schema: Json, resolve: (ref: string) => unknown, depth: number): Json {
  const required = listOf(schema.required);
  const properties = Object.entries(isJson(schema.properties) ? schema.properties : {});
  const chosen = properties.filter(([name]) => required.includes(name));
  const shown = chosen.length > 0 || depth > 0 ? chosen : properties.slice(0, 1);
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, resolve, name, depth + 1)]));
}

const PATTERNS: readonly [RegExp, string][] = [
  [/art_/, ARTIFACT],
  [/A-Za-z0-9\+/, "aGVsbG8K"],
];

function pattern(schema: Json, name: string): string {
  const wanted = typeof schema.pattern === "string" ? schema.pattern : "";
  return PATTERNS.find(([shape]) => shape.test(wanted))?.[1] ?? (name === "" ? "text" : name);
}

/** Whether a prepared value can stand here: the types agree. The test checks the rest. */
function fits(schema: Json, value: unknown): boolean {
  const forms = listOf(schema.anyOf);
  if (forms.length > 0) return forms.some((form) => isJson(form) && fits(form, value));
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  if (value === null) return schema.type === "null";
  if (Array.isArray(value)) return schema.type === "array";
  return schema.type === typeof value;
}
