// Markers in a prompt show the model server which scenario a conversation plays, where in it the conversation is, and where it works.
// They travel inside the user's own text because that is the one thing every agent passes on to its model unchanged.

import type { Scenario } from "../../agents/scenario.ts";

export interface Marker {
  readonly scenario: string;
  /** Zero-based turn; undefined when the marker does not say. */
  readonly turn: number | undefined;
  /** Steps of that turn which are already done: only the summary of a compaction carries it. */
  readonly done: number;
}

const MARKER = /\[\[scenario:([a-z0-9][a-z0-9._-]*?)(?:#(\d+)(?:\+(\d+))?)?\]\]/gi;
const CWD = /\[\[cwd:([^\]\n]+)\]\]/g;

/** `[[scenario:NAME]]`, `[[scenario:NAME#2]]` (second turn) or `[[scenario:NAME#2+1]]` (its first step is done). */
export function formatMarker(scenario: string, turn?: number, done = 0): string {
  if (turn === undefined) return `[[scenario:${scenario}]]`;
  return done > 0 ? `[[scenario:${scenario}#${turn + 1}+${done}]]` : `[[scenario:${scenario}#${turn + 1}]]`;
}

/** The last marker of a text. */
export function lastMarker(text: string): Marker | undefined {
  const found = [...text.matchAll(MARKER)].at(-1);
  if (!found?.[1]) return undefined;
  return {
    scenario: found[1],
    turn: found[2] === undefined ? undefined : Math.max(0, Number(found[2]) - 1),
    done: Number(found[3] ?? 0),
  };
}

/** The working folder named by a text. */
export function cwdMarker(text: string): string | undefined {
  return [...text.matchAll(CWD)].at(-1)?.[1];
}

/**
 * The prompt to send for a turn: its text and the markers. Give `cwd` when the scenario's inputs use `{{cwd}}`.
 * A slash command stays as it is, because its arguments mean something.
 */
export function promptFor(scenario: Scenario, turn: number, cwd?: string): string {
  const { prompt: text = "", command = text.startsWith("/") } = scenario.turns[turn] ?? {};
  if (command) return text;
  const marks = [formatMarker(scenario.name, turn), ...(cwd === undefined ? [] : [`[[cwd:${cwd}]]`])];
  return `${text} ${marks.join(" ")}`.trimStart();
}
