// What the agents that speak ACP do differently, as data. Code asks a quirk, never an agent's name.
// Not here: how an agent is started (definitions.ts).
import type { PermissionMode } from "../../../schema/event-data.ts";
import { arr, isRecord, type JsonRecord, rec, str } from "../../json.ts";

/** A text chunk that may be a fault in disguise: it is held back until the turn's end shows what it was. */
export type DisguisedError = {
  pattern: RegExp;
  /** `absent`: only chunks without messageId; `uuid`: only chunks whose id is not the model's own. */
  messageId?: "absent" | "uuid";
  /** When it is one: always, only when the turn used no tokens, or only when the turn's answer is an error as well. */
  fault: "always" | "no_usage" | "with_error";
};

export type Quirks = {
  id: string;
  /** Matches agentInfo.name of the initialize result. */
  agentInfo: RegExp | null;
  /** Ids in authMethods that give away an agent that says no name. */
  authMethods?: string[];
  /** Texts that are not the model's: shown as notices. */
  noticeTexts?: RegExp[];
  /** A text that says the conversation was compacted. */
  compactedText?: RegExp;
  /** A text chunk that announces a mode change; the first group is the mode. */
  modeText?: RegExp;
  disguisedErrors?: DisguisedError[];
  /** A prefix the agent puts before each piece of a thought. */
  thoughtPrefix?: string;
  /** The answer to session/load comes before the replay. */
  lateReplay?: boolean;
  /** The history on disk must be looked after, or a load destroys it (gemini-history.ts). */
  fragileHistory?: boolean;
  /** `raw`: rawOutput is the plain text, the content is dressed for display. */
  outputFrom?: "raw" | "content";
  /** What stands at the end of an output and is not output; the first group is the exit code. */
  outputTrailer?: RegExp;
  /** The output of a command that was stopped, which the agent calls completed. */
  stoppedOutput?: RegExp;
  /** The tool's own name is the part of toolCallId before this. */
  nameFromCallId?: string;
  /** The first title of a call is the tool's own name. */
  nameFromTitle?: boolean;
  /** While a call of a sub-agent runs, it is the sub-agent that speaks: the model waits for it. */
  subagentSpeaks?: boolean;
  /** An empty chunk opens a content block: the same kind again is a new message. */
  emptyChunkOpensBlock?: boolean;
  /** A turn with no content and no model usage was stopped by the provider's safety filter. */
  silentTurnIsRefusal?: boolean;
  /** How a missing file is answered: an error, or an empty text for agents that read before they create. */
  missingFile?: "error" | "empty";
  /** Does not end when stdin does: only a signal ends it. */
  staysOnEof?: boolean;
  /** Its own modes for these are refused in a folder that is not trusted: the policy here does the same. */
  trustedModes?: readonly PermissionMode[];
  /** Mode ids in the universal words. */
  permissionModes?: Partial<Record<string, PermissionMode>>;
  /** Options of a permission that are never offered: the agent would write them into a settings file, or leave the modes of the session. */
  unofferedOptions?: RegExp;
  /** A change of mode holds at once, in the running turn. Seen live; where it was not, modes change between turns. */
  modeInTurn?: boolean;
  /** Planning is an option beside the mode. */
  planOption?: { id: string; on: string; off: string };
  /** Vendor methods outside the `_` rule of the protocol. */
  vendorMethods?: RegExp;
  /** Vendor messages that frame a turn the agent begins by itself. */
  agentTurn?: { start: string; end: string };
  /** A vendor notification that says the new mode, the new model. */
  modeMethod?: string;
  modelMethod?: string;
};

/** What holds for an agent nobody described. */
export const PLAIN: Quirks = { id: "acp", agentInfo: null };

const GEMINI: Quirks = {
  id: "gemini",
  agentInfo: /^gemini/i,
  authMethods: ["gemini-api-key", "oauth-personal"],
  // gemini 0.61: session/set_mode and the model's own mode change are reported as a text chunk.
  modeText: /^\[MODE_UPDATE\] (\S+)$/,
  thoughtPrefix: "****\n",
  lateReplay: true,
  fragileHistory: true,
  nameFromCallId: "__",
  silentTurnIsRefusal: true,
  // gemini 0.61: the whole output of a command that printed nothing, the beginning of that of one that was ended.
  outputTrailer: /^Command exited with code: (\d+)$/,
  stoppedOutput: /^Command (?:cancelled by user\.|was automatically cancelled because |terminated by signal: \w+$)/,
  // gemini 0.61: write_file reads first, and an error for a missing file fails the write.
  missingFile: "empty",
  trustedModes: ["accept_edits", "bypass"],
  permissionModes: { default: "default", autoEdit: "accept_edits", yolo: "bypass", plan: "plan" },
  modeInTurn: true,
  unofferedOptions: /_and_save$/,
};

const CLAUDE_MODES: Quirks["permissionModes"] = {
  default: "default",
  acceptEdits: "accept_edits",
  plan: "plan",
  bypassPermissions: "bypass",
};

export const QUIRKS: readonly Quirks[] = [
  {
    id: "claude-agent-acp",
    agentInfo: /claude-agent-acp/,
    // 0.99: its own texts have a fresh uuid; an error's text comes so first, then again as the prompt's error.
    disguisedErrors: [{ pattern: /^/, messageId: "uuid", fault: "with_error" }],
    outputFrom: "raw",
    permissionModes: CLAUDE_MODES,
    modeInTurn: true,
    unofferedOptions: /^allow-(?:with-updates|skill-)|^exit-plan-(?:clear-)?(?:auto|bypass)$/,
  },
  {
    id: "claude-code-acp",
    agentInfo: /claude-code-acp/,
    authMethods: ["claude-login"],
    disguisedErrors: [{ pattern: /^(API Error\b|Please run \/login|Invalid API key|Credit balance)/, fault: "with_error" }],
    outputFrom: "raw",
    emptyChunkOpensBlock: true,
    staysOnEof: true,
    permissionModes: { ...CLAUDE_MODES, dontAsk: "default" },
  },
  {
    id: "codex-acp",
    agentInfo: /@agentclientprotocol\/codex-acp/,
    authMethods: ["chat-gpt-device-code"],
    // 2.6: faults are a chunk without messageId that ends with a blank line, and the turn ends `end_turn`.
    disguisedErrors: [
      {
        pattern: /^(?:Incomplete response|stream disconnected|exceeded retry limit|unexpected status)/,
        messageId: "absent",
        fault: "always",
      },
      { pattern: /\n\n$/, messageId: "absent", fault: "no_usage" },
    ],
    noticeTexts: [/^Warning: /],
    // 2.6 does end, but takes seven seconds in a turn.
    staysOnEof: true,
    planOption: { id: "collaboration_mode", on: "plan", off: "default" },
    // 2.6: `read-only` asks before edits and before commands that the model wants outside of the sandbox; `agent` asks a model, not the user.
    permissionModes: { "read-only": "default", "workspace-write": "accept_edits", "agent-full-access": "bypass" },
  },
  {
    id: "codex-acp-zed",
    agentInfo: /^codex-acp$/,
    authMethods: ["codex-api-key"],
    compactedText: /^Context compacted\s*$/,
    noticeTexts: [
      /^Model metadata for `[^`]*` not found\./,
      /^Heads up: Long threads and multiple compactions/,
      /^Codex(?:'s Linux sandbox| could not find)/,
    ],
    outputFrom: "raw",
    staysOnEof: true,
    permissionModes: { "read-only": "default", auto: "accept_edits", "full-access": "bypass" },
  },
  {
    id: "opencode",
    agentInfo: /^opencode$/i,
    authMethods: ["opencode-login"],
    nameFromTitle: true,
    permissionModes: { build: "default", plan: "plan" },
  },
  {
    id: "qwen",
    agentInfo: /^qwen/i,
    outputFrom: "raw",
    trustedModes: ["accept_edits", "bypass"],
    permissionModes: { plan: "plan", default: "default", "auto-edit": "accept_edits", yolo: "bypass" },
    modeInTurn: true,
    unofferedOptions: /^proceed_always_(?:project|user)$/,
    vendorMethods: /^(craft|qwen)\//,
    agentTurn: { start: "_qwencode/start_turn", end: "_qwencode/end_turn" },
    modeMethod: "qwen/notify/session/mode-update",
    modelMethod: "qwen/notify/session/model-update",
  },
  {
    id: "copilot",
    agentInfo: /^copilot$/i,
    authMethods: ["copilot-login"],
    noticeTexts: [/^Info: /],
    subagentSpeaks: true,
    disguisedErrors: [
      // Its own sentences: also after a tool has run, when the turn has used tokens.
      {
        pattern:
          /^Error: (?:[45]\d\d |Failed to get response from|Authentication failed with provider|Model '.*' not found on provider|The provider rejected|No response was returned)/,
        fault: "always",
      },
      { pattern: /^Error: /, fault: "no_usage" },
    ],
    outputTrailer: /\n?<(?:shellId: \S+ completed|exited) with (?:exit )?code (-?\d+)>\s*$/,
    permissionModes: {
      "https://agentclientprotocol.com/protocol/session-modes#agent": "default",
      "https://agentclientprotocol.com/protocol/session-modes#plan": "plan",
      "https://agentclientprotocol.com/protocol/session-modes#autopilot": "bypass",
    },
    modeInTurn: true,
  },
  {
    id: "goose",
    agentInfo: /^goose/i,
    permissionModes: { auto: "bypass", approve: "default", smart_approve: "accept_edits", chat: "plan" },
  },
  GEMINI,
];

export const quirksOf = (id: string): Quirks => QUIRKS.find((quirks) => quirks.id === id) ?? PLAIN;

/** Reads an initialize result. v2 says `info`, v1 `agentInfo`; an agent that says neither is known by its ways to sign in. */
export function detectQuirks(result: JsonRecord): Quirks | null {
  const info = isRecord(result.agentInfo) ? result.agentInfo : rec(result.info);
  const name = str(info.name);
  if (name !== undefined) {
    const named = QUIRKS.find((quirks) => quirks.agentInfo?.test(name));
    if (named) return named;
    return null;
  }
  const methods = arr(result.authMethods).map((method) => str(rec(method).id) ?? str(rec(method).methodId));
  return QUIRKS.find((quirks) => quirks.authMethods?.some((id) => methods.includes(id))) ?? null;
}
