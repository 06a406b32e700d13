// docs/events.md: every event type with the fields of its data, from the schema.
import { eventData } from "../../build/schema/event-data.js";

/** When it comes, in one sentence. A type that is missing here fails the build of the docs. */
const ABOUT = {
  "session.started": "The agent is there and can take messages. `metadata` holds what it said about itself.",
  "session.ended": "The last event of a session.",
  "item.started": "An item begins; it may be empty yet.",
  "item.delta": "A piece of a part: the deltas of a part add up to its final text.",
  "item.completed": "The item in its final form.",
  error: "Something failed. The code is canonical: the same fault has the same code whatever the agent.",
  "permission.requested": "The agent wants to do something and waits for an answer.",
  "permission.resolved": "It was answered: by a client, by a rule, by the agent, or by the session's end.",
  "question.requested": "The agent asks a person something and waits.",
  "question.resolved": "The questions were answered or declined.",
  "agent.unparsed": "A native message that was not understood. It is in the ledger, verbatim.",
  "message.queued": "A message was accepted and waits at the end of the queue, until a turn names it or it is removed.",
  "message.updated": "A queued message was edited or moved, or a delivery of it was begun: only the fields that changed.",
  "message.removed": "A queued message will have no turn of its own.",
  "turn.started": "A turn begins: after a client's message, or of the agent's own accord.",
  "turn.ended": "The turn is over; nothing it opened is left open.",
  "step.started": "One call of the model within a turn begins.",
  "step.ended": "That call is over, with its tokens.",
  "item.updated": "An item changed otherwise than by deltas: a plan moves on, a tool call gets its arguments.",
  "item.removed": "An item is taken back: the agent does not stand by it.",
  "session.status": "What the session does now.",
  "session.updated": "Title or metadata changed.",
  "session.compacted": "The agent shortened its memory of the conversation.",
  "config.changed": "What is configured or offered changed: only the fields that did. Lists replace the older list whole.",
  "usage.updated": "Tokens and cost so far, of a step, a turn or the session.",
  "limits.updated": "How much of the provider's limits is used.",
  "auth.status": "The agent's login.",
  "team.message": "One member of a team of agents wrote to another.",
  "team.task_updated": "A task of the team changed.",
  "team.state_changed": "The members of the team.",
  "checkpoint.created": "The agent kept the state of files.",
  "checkpoint.rewound": "Files were put back.",
  "checkpoint.failed": "Keeping or putting back failed.",
  "artifact.written": "Bytes too large for an event were stored; GET /v1/artifacts/{artifact_id} has them.",
  "skill.catalog_updated": "The agent knows these many skills.",
  "skill.loaded": "A skill was read.",
  "skill.invoked": "A skill is used.",
  "skill.warning": "Something is wrong with a skill.",
  "task.spawned": "A program was started that may outlive the turn.",
  "task.status": "What became of it.",
  "task.output": "What it wrote.",
  "task.stdin": "What was written to it.",
  "task.resized": "Its terminal changed size.",
  "task.signalled": "It got a signal.",
  "task.cancel_requested": "Someone wants it stopped.",
  "task.cancelled": "It was stopped.",
  "agent.notice": "Something the agent said that has no event of its own and is worth knowing.",
};

export function eventsPage() {
  const missing = Object.keys(eventData).filter((type) => !(type in ABOUT));
  if (missing.length > 0) throw new Error(`scripts/docs/events-page.mjs says nothing about ${missing.join(", ")}`);
  const sections = Object.entries(eventData).map(([type, schema]) => `## \`${type}\`\n\n${ABOUT[type]}\n\n${fields(schema)}`);
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
      ([name, field]) => `| \`${name}\` | ${typeOf(field)} | ${(part.required ?? []).includes(name) ? "always" : ""} |`,
    ),
  );
  return ["| field | type | there |", "| --- | --- | --- |", ...rows].join("\n");
}

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
