// When the runner acts: the moments of a scenario (`When`), found in events.
import type { UniversalEvent } from "../schema/event.ts";
import type { When } from "./scenario/index.ts";

export type EventTrigger = Exclude<When, { on: "start" } | { on: "request" }>;

/** Whether the moment has come, decided by the events since the prompt was sent. */
export function isDue(when: EventTrigger, events: readonly UniversalEvent[]): boolean {
  switch (when.on) {
    case "event":
      return events.filter((event) => event.type === when.type).length >= (when.nth ?? 1);
    case "text":
      return agentText(events).includes(when.text);
    case "tool":
      return when.output === undefined || when.output === ""
        ? events.some((event) => event.type === "item.started" && event.data.item.kind === "tool_call")
        : toolOutput(events).includes(when.output);
    default:
      return when satisfies never;
  }
}

/** What the agent has streamed as text, without what the person said. */
function agentText(events: readonly UniversalEvent[]): string {
  const people = new Set<string>();
  let text = "";
  for (const event of events) {
    if (event.type === "item.started" && event.data.item.role === "user") people.add(event.data.item.item_id);
    if (event.type === "item.delta" && event.data.part_type === "text" && !people.has(event.data.item_id))
      text += event.data.delta;
  }
  return text;
}

function toolOutput(events: readonly UniversalEvent[]): string {
  let text = "";
  for (const event of events) {
    if (event.type === "item.delta" && event.data.part_type === "tool_output") text += event.data.delta;
    if (event.type === "item.completed")
      for (const part of event.data.item.content) if (part.type === "tool_result") text += part.output;
  }
  return text;
}
