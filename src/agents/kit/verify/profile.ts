// What `verify` has to know of an agent beyond its contract: how to point it at the scripted model server, in a home of its own.
import type { PermissionMode } from "../../../schema/event-data.ts";
import type { Scenario } from "../../scenario.ts";
import type { ScenarioAdjustment } from "./adjustments.ts";
import type { AcceptedDifference } from "./differences.ts";

/** Folders of one lab and the address of its model server. Everything lies under `root` and is removed at the end. */
export type LabPlace = {
  readonly root: string;
  /** HOME of the agents. */
  readonly home: string;
  /** The scripted model server, without a slash at the end. */
  readonly modelUrl: string;
};

export type LabSetUp = {
  /** Variables of the daemon, and so of every agent it starts. */
  readonly env: Readonly<Record<string, string>>;
  close?(): Promise<void>;
};

export type ScenarioPlace = LabPlace & {
  /** The session's working folder. */
  readonly directory: string;
  /** A folder only this scenario uses, beside the working folder; it does not exist yet. */
  readonly own: string;
};

export interface VerifyProfile {
  /** The agent's id in the registry. */
  readonly agent: string;
  /** Its own scenarios. Those that all agents play are added to them, unless `commonScenarios` is false. */
  readonly scenarios: readonly Scenario[];
  readonly commonScenarios?: false;
  /** Which of the common ones it plays otherwise than the others, or not. */
  readonly adjustments?: readonly ScenarioAdjustment[];
  /** `npm run conformance` also shows it in a browser. */
  readonly shown?: true;
  /** Run only when somebody names it, because it shows the harness and not an agent. */
  readonly onlyByName?: true;
  /** Variables of the caller that it needs, beside those that name its command. */
  readonly environment?: readonly RegExp[];
  /** False: prompts go out as they are, because the agent talks to no model. */
  readonly marks: boolean;
  /** What sessions ask for, and what `{{other_model}}` is. */
  readonly models: { readonly first?: string; readonly other?: string };
  /** What sessions ask for that name no permission mode; needed where the agent has no default mode. */
  readonly mode?: PermissionMode;
  /** The message that makes the agent compact its conversation; null: there is none. */
  readonly compact: string | null;
  /** False: it has no process: it runs in the daemon, and dies with it. `restarted`: the daemon starts it again when it dies, and a session that is idle stays so. */
  readonly process?: false | "restarted";
  /** False: text comes whole, so what a scenario does in the middle of a text is done when the model is asked for it. */
  readonly streams?: boolean;
  /** Where it cannot report what the others report, and why. Absent: it is not compared with them. */
  readonly differences?: readonly AcceptedDifference[];
  /** How many scenarios may run at the same time. */
  readonly parallel: number;
  /** For agents that are slow to start or to give up. */
  readonly timeLimitMs?: number;
  setUp(place: LabPlace): Promise<LabSetUp>;
  /** Writes a configuration of the person that allows every command and every edit; answers with variables of the session. */
  permissive?(place: ScenarioPlace): Promise<Record<string, string>>;
  /** What one scenario needs of its own: variables of its session. */
  forScenario?(scenario: Scenario, place: ScenarioPlace): Promise<{ env: Record<string, string> }>;
}
