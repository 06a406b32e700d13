// Decides which step answers a request: the script's, or a built-in one for an agent's side calls. It counts attempts, and nothing else.

import type { Fault, ModelStep, Scenario } from "../../agents/scenario.ts";
import { formatMarker } from "../scenario/marker.ts";
import { lastUserText, type ModelRequest } from "./model-request.ts";
import { locate, type Position } from "./position.ts";
import { schemaInstance } from "./schema-instance.ts";
import { type SideCall, sideCall } from "./side-call.ts";

export interface Play {
  readonly kind: "play";
  readonly step: ModelStep;
  /** The step's fault, if this attempt is to fail. */
  readonly fault: Fault | undefined;
  readonly attempt: number;
  readonly side: SideCall["kind"] | undefined;
  readonly position: Position | undefined;
  readonly past_end: boolean;
}

/** The prompt names a scenario that nobody has given to the server, or names none and there is no default. */
export interface NoPlay {
  readonly kind: "none";
  readonly message: string;
  readonly scenario: string | undefined;
}

const MAX_ATTEMPT_KEYS = 10_000;
const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });

export class Playbook {
  readonly #scenarios: ReadonlyMap<string, Scenario>;
  readonly #fallback: string | undefined;
  readonly #attempts = new Map<string, number>();

  constructor(scenarios: ReadonlyMap<string, Scenario>, fallback: string | undefined) {
    this.#scenarios = scenarios;
    this.#fallback = fallback;
  }

  play(request: ModelRequest): Play | NoPlay {
    const position = locate(request, this.#fallback);
    const scenario = position && this.#scenarios.get(position.scenario);
    const side = sideCall(request);
    if (side) return this.#turnOut(sideStep(side, request, scenario, position), side.kind, position, false);
    if (!position) {
      return {
        kind: "none",
        scenario: undefined,
        message: `No scenario: put ${formatMarker("NAME")} into the prompt or give a default.`,
      };
    }
    if (!scenario) {
      const known = [...this.#scenarios.keys()].slice(0, 20).join(", ");
      return { kind: "none", scenario: position.scenario, message: `No scenario "${position.scenario}". Known: ${known}.` };
    }
    const step = scenario.turns[position.turn]?.steps[position.step];
    return this.#turnOut(step ?? say("Done."), undefined, position, step === undefined);
  }

  /** A step that stands in no script. Its place is that of the conversation, so that a failure passes at the next attempt. */
  improvised(step: ModelStep, request: ModelRequest): Play {
    const position = locate(request, "improvised");
    return { ...this.#turnOut(step, undefined, position, false), position: undefined };
  }

  #turnOut(step: ModelStep, side: SideCall["kind"] | undefined, position: Position | undefined, past_end: boolean): Play {
    const place = position ? `${position.conversation} ${position.scenario} ${position.turn} ${position.step}` : "nowhere";
    const attempt = this.#count(`${place} ${side ?? ""}`);
    const { fault } = step;
    const fails = fault !== undefined && (fault.times === undefined || attempt <= fault.times);
    return { kind: "play", step, fault: fails ? fault : undefined, attempt, side, position, past_end };
  }

  #count(key: string): number {
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.delete(key);
    this.#attempts.set(key, attempt);
    if (this.#attempts.size > MAX_ATTEMPT_KEYS) {
      const oldest = this.#attempts.keys().next();
      if (!oldest.done) this.#attempts.delete(oldest.value);
    }
    return attempt;
  }
}

function sideStep(
  side: SideCall,
  request: ModelRequest,
  scenario: Scenario | undefined,
  position: Position | undefined,
): ModelStep {
  switch (side.kind) {
    case "title":
      return scenario?.side?.title ?? say(request.json_schema ? structured(request) : "Scripted session");
    case "summary": {
      // The summary replaces the history, so it has to carry the place in the script.
      const marker = position ? ` ${formatMarker(position.scenario, position.turn, position.step)}` : "";
      return (
        scenario?.side?.summary ??
        say(inTags(`Summary of the conversation so far: the script has been followed.${marker}`, request))
      );
    }
    case "suggestion":
      return say("run the tests");
    case "quota":
      return say("ok");
    case "label":
      return say("Ran a command");
    case "memory":
      return say("Nothing to remember.");
    case "page":
      return say("The page says hello.");
    case "structured":
      return say(structured(request));
    case "forced_tool": {
      const value = schemaInstance(request.tools[0]?.schema ?? {});
      return { blocks: [{ type: "tool", native_name: side.tool, raw_arguments: JSON.stringify(value) }] };
    }
    default:
      return side satisfies never;
  }
}

/** claude 2.1.325 asks a second time when the summary does not stand in the tags it has asked for. */
function inTags(text: string, request: ModelRequest): string {
  const asked = `${request.system}\n${lastUserText(request)}`;
  const tag = ["summary", "state_snapshot"].find((name) => asked.includes(`<${name}>`));
  return tag === undefined ? text : `<${tag}>\n${text}\n</${tag}>`;
}

const structured = (request: ModelRequest): string => JSON.stringify(schemaInstance(request.json_schema ?? {}));
