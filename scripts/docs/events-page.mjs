// docs/events.md: every event type with the fields of its data, from the schema.
import { eventData } from "../../build/schema/event-data.js";
import { eventMeanings } from "../../build/schema/event-meanings.js";

export function eventsPage() {
  const sections = Object.entries(eventData).map(
    ([type, schema]) => `## \`${type}\`\n\n${eventMeanings[type]}\n\n${fields(schema)}`,
  );
  return `# Events

A session is a sequence of events. This page is made from \`src/schema/\` by \`node scripts/docs.mjs\`; the same schema is in the package as
\`dragoman/schema/event.json\`, and the rules of order are in [SPEC.md](../SPEC.md).

Every event has the same envelope:

\`\`\`json event
{
  "event_id": "evt_01",
  "sequence": 12,
  "time": "2026-01-01T12:00:00.000Z",
  "session_id": "s1",
  "native_session_id": null,
  "source": "agent",
  "synthetic": false,
  "type": "turn.ended",
  "data": { "turn_id": "t1", "stop_reason": "end_turn" },
  "raw": null
}
\`\`\`

\`sequence\` counts from 1 without a gap within a session: it is the cursor of \`?after=\`. \`synthetic\` marks what the daemon added because the grammar asks
for it and the agent did not say it. \`raw\` is the native message it was made from, when it is asked for with \`include_raw=true\`.

${sections.join("\n\n")}
`;
}

function fields(schema) {
  const parts = schema.allOf ?? [schema];
  const rows = parts.flatMap((part) =>
    Object.entries(part.properties ?? {}).map(
      ([name, field]) =>
        `| \`${name}\` | ${typeOf(field)} | ${(part.required ?? []).includes(name) ? "always" : ""} | ${meaningOf(field)} |`,
    ),
  );
  return ["| field | type | there | meaning |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

const meaningOf = (schema) =>
  (schema.description ?? schema.anyOf?.find(({ description }) => description)?.description ?? "").replaceAll("|", "\\|");

function typeOf(schema) {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === "object") return objectOf(schema);
  return schema.type ?? "any";
}

function objectOf(schema) {
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0) return "object";
  if (names.includes("item_id") && names.includes("content")) return "[item](../SPEC.md)";
  return `{ ${names.map((name) => `${name}${(schema.required ?? []).includes(name) ? "" : "?"}`).join(", ")} }`;
}
