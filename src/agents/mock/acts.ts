// What the mock agent can act out: one entry a command, listed by `help`. Together they produce every event type of the schema.
import { facts } from "./acts/facts.ts";
import { faults } from "./acts/faults.ts";
import { people } from "./acts/people.ts";
import { speech } from "./acts/speech.ts";
import type { Act } from "./acts/stage.ts";
import { tools } from "./acts/tools.ts";

export const acts: Record<string, Act> = { ...speech, ...tools, ...people, ...facts, ...faults };

/** Acts that `all` leaves out: they end the turn, wait for a person, or are there to hurt. */
const APART = new Set([
  "hang",
  "hold",
  "crash",
  "depart",
  "error",
  "refuse",
  "longline",
  "big",
  "ask",
  "options",
  "propose",
  "question",
  "secret",
  "garbage",
  "stderr",
  "messages",
  "flood",
  "clock",
  "slow",
  "remember",
  "background",
]);

export const tour = Object.keys(acts).filter((name) => !APART.has(name));

export const help = (): string =>
  [
    "I am the mock agent: I act out what you tell me. One command a line:",
    ...Object.values(acts).map((act) => `- \`${act.usage}\`: ${act.about}`),
    "- `all`: everything that neither waits nor hurts",
    "- `help`: this list",
    "\nAnything else I repeat.",
  ].join("\n");
