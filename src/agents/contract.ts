/**
 * The agent contract: what one folder under src/agents/ provides. The core knows agents only through these types, and reaches all of them here.
 * Not here: how bytes become messages (transports) and how drafts become events (session).
 */
import type { LedgerReader } from "../schema/dialect.ts";
import type { Draft } from "../schema/draft.ts";
import type { ModeInfo, ModelInfo, PermissionMode, PlainReply, StderrOutput } from "../schema/event-data.ts";
import type { NativeDirection } from "../schema/native.ts";
import type { DirectoryFile } from "../schema/session.ts";
import type { AgentSkills, ReadSkill, SkillDoor } from "./agent-skills.ts";
import type { AgentTerminals, TerminalsOptions } from "./agent-terminals.ts";
import type { ChildSessions } from "./child-sessions.ts";
import type { ConfigPatch, SessionConfig } from "./session-config.ts";
import type { NativeMessage, Repeated, Translator } from "./translator.ts";

export type * from "./agent-skills.ts";
export type * from "./agent-terminals.ts";
export type * from "./child-sessions.ts";
export type * from "./session-config.ts";
export type * from "./translator.ts";

export type AgentCapabilities = {
  /** Can answer permissions while the turn waits. */
  permissions: boolean;
  /** Runs a call with the input of `PermissionReply.updated_input` instead of its own. False: such a reply never reaches its connection. */
  edit_input: boolean;
  questions: boolean;
  /** A message can be put into a running turn. */
  steer: boolean;
  interrupt: boolean;
  /** A session can be resumed in a new process. Resuming a session is not continuing a turn: an interrupted turn stays interrupted. */
  resume: boolean;
  fork: boolean;
  images: boolean;
  mcp_servers: boolean;
  system_prompt: boolean;
  /** Streams natively; otherwise each message gets one synthetic delta. */
  deltas: boolean;
  reasoning: boolean;
  plans: boolean;
  subagents: boolean;
  /** Which parts of the configuration the agent takes at all. A session that asks for another one is refused. */
  settings: { model: boolean; variant: boolean; agent_mode: boolean };
  /** Which parts of the configuration can change while the session lives. */
  live: { model: boolean; variant: boolean; agent_mode: boolean; permission_mode: boolean };
  /** The modes it honours. A session in another one is refused. */
  permission_modes: PermissionMode[];
};

/** What the machine says about an agent. */
export type AgentInspection = {
  installed: boolean;
  path: string | null;
  version: string | null;
  /** false: it needs what `advice` says first, a sign-in, a key or an endpoint. null: cannot be determined without asking the provider. */
  signed_in: boolean | null;
  /** What to do next when it is not installed or not signed in. */
  advice: string | null;
};

export type Attachment = { name: string; mime: string; bytes: Buffer; path: string | null };

export type Prompt = {
  /** Stable id of this message, a uuid: an agent that takes a message id gets this one. */
  message_id: string;
  /** What the person wrote. It is text, whatever it begins with, unless `command` is set. */
  text: string;
  /** The person chose one of the agent's own commands; `text` is `/name arguments`. */
  command?: ChosenCommand;
  attachments: Attachment[];
  /** The person used a skill, and `text` is what it says. For an agent that keeps account of its skills. */
  skill?: ReadSkill;
};

export type ChosenCommand = { name: string; arguments: string };

export type PermissionReply = {
  reply: PlainReply;
  option_id: string | null;
  message: string | null;
  updated_input: unknown;
};

export type ExitInfo = { code: number | null; signal: string | null; stderr: StderrOutput };

/**
 * The session's end of the line, given to a connection. All calls are synchronous and cheap; the ledger and the events are written in the same tick.
 */
export interface Channel {
  /** Records one native message, verbatim, and applies what it means. `raw` are the exact bytes; `data` is their parse. */
  record(dir: NativeDirection, raw: Buffer | string, data: unknown): Repeated | undefined;
  /** The process is gone: recorded as `exit`. `data` is what stands in the ledger, by default the code and the signal. */
  exited(exit: ExitInfo, data?: unknown): void;
  /** A line that could not be parsed or was too large to keep: recorded (or its head is) and said as `agent.unparsed`. */
  unparsed(dir: NativeDirection, raw: Buffer, error: string, rawHash?: string): void;
  /** For processes that serve several sessions: from now on messages of this native session go to that session. Buffered ones are delivered first. */
  attach(nativeSession: string, port: SessionPort): void;
  detach(nativeSession: string): void;
}

/** What a session offers to the connection that serves it. */
export interface SessionPort {
  readonly session_id: string;
  /** The agent is gone. What that means for the session is the core's to decide: one whose agent can resume becomes dormant, any other ends. */
  closed(info: { exit: ExitInfo | null; message?: string }): void;
  /** Drafts of the connection's own: something it knows that no native message says. They are synthetic. */
  say(drafts: Draft[]): void;
}

export type ResumeTarget = {
  native_session_id: string;
  fork: boolean;
  /** Only for a fork: the place where it branches off, as `Agent.forkPlace` named it. Absent: the end. */
  at?: string;
  /** False: the agent has never answered in this session. If it does not know the session then, nothing is lost by starting anew. */
  answered?: boolean;
};

export type Launch = {
  config: SessionConfig;
  /** The native session to go on with, or to branch from. */
  resume: ResumeTarget | null;
  port: SessionPort;
  host: AgentHost;
  /** Aborted when nobody wants the start any more: `connect` rejects soon then, and leaves no process of its own. */
  abandoned?: AbortSignal | undefined;
};

/** What the daemon gives every agent. One per agent id. */
export interface AgentHost {
  /** Command found by configuration, `DRAGOMAN_<ID>_COMMAND`, install directory, PATH (in this order); throws AgentNotFound with advice. */
  resolveCommand(): Promise<{ command: string; args: string[] }>;
  /** The child's environment: the daemon's, cleaned of its own secrets and of nested-agent variables, then the session's, then the mark of an agent. */
  environment(extra: Record<string, string>): Record<string, string>;
  /** Configuration of this agent from the configuration file (`agents.<id>`). */
  readonly settings: Record<string, unknown>;
  /** A directory of the daemon for this agent's files. */
  readonly stateDir: string;
  /** Opens a channel with a fresh translator. Shared processes attach several sessions to it; a process of one session attaches one. */
  openChannel(translator: Translator): Channel;
  /** Commands of an agent that its client runs: tasks of the session. Absent: the agent runs its commands itself. */
  openTerminals?(options: TerminalsOptions): AgentTerminals;
  /** Folder where running child processes are recorded, so that a crash of the daemon leaves no orphan. */
  readonly processDir: string;
  /** Absent: there are no skills. */
  readonly skills?: AgentSkills;
  /** Absent: agents start no sessions. */
  readonly children?: ChildSessions;
  readonly version: string;
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Record<string, unknown>): void;
}

/** A live line between one session and its agent. */
export interface Connection {
  /** Sends a message: starts a turn, or joins the one that runs if the agent works so. Resolves when it is written; rejects when it cannot be. */
  prompt(prompt: Prompt): Promise<void>;
  /** Puts a message into the running turn. Absent: the agent cannot. `idle`: no turn ran any more, and nothing was given. */
  steer?(prompt: Prompt): Promise<void> | Promise<"idle" | undefined>;
  /** Stops the running turn. The turn's end comes as a native message. */
  interrupt(): Promise<void>;
  /**
   * Changes all of it or nothing: rejects with a sentence what cannot be changed. `restart`: nothing was changed, because it holds only for a process
   * that starts with it; the session closes the connection between turns and opens another.
   */
  configure(patch: ConfigPatch): Promise<"done" | "restart">;
  /** `native` is what the translator's draft carried. */
  replyPermission(native: unknown, reply: PermissionReply): Promise<void>;
  replyQuestion(native: unknown, answers: string[][] | null): Promise<void>;
  /** Stops a command that was reported with `task.start`; `native` is what that draft carried. Its end comes as a native message. */
  stopTask?(native: unknown): Promise<void>;
  /**
   * True: stop reading what the agent writes, so that it waits for us instead of filling our memory; false: go on. The daemon asks for it while its log
   * cannot write. A process shared by several sessions is paused by the first and resumed by the first: the daemon pauses and resumes all of them. Absent:
   * the agent cannot be paused. Closing works in both states.
   */
  setPaused?(paused: boolean): void;
  /** Ends the line. No process of this session is left when it resolves; shared processes may live on for others. */
  close(): Promise<void>;
}

/** A file of a directory that the agent loads when the directory is trusted. `always`: it is loaded in a restricted session too, because it is only text. */
export type LoadedFile = DirectoryFile & { always?: true };

/** Where a question about models and modes is asked. Not trusted: a neutral directory, and nothing of it is loaded. */
export type ProbePlace = { directory: string; trusted: boolean };

/** Whose memory is meant, and what its agent runs with on this machine. */
export type CarryPlace = {
  native_session_id: string;
  directory: string;
  environment: Readonly<Record<string, string>>;
  host: AgentHost;
};

/** How the agent's own memory of a session goes to another machine: as files below one folder. */
export type Carry = {
  /** `data_directory`: in the daemon's own, which no two machines share. `home`: where the user's programs keep theirs, which machines may share. */
  readonly kept: "data_directory" | "home";
  /** Where it lies on this machine. Empty: nowhere. */
  folder(place: CarryPlace): string;
  /** The files that hold it now, relative to the folder. They may grow meanwhile. */
  files(place: CarryPlace): Promise<readonly string[]>;
};

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly capabilities: AgentCapabilities;
  /** One process serves several sessions: its environment names none of them. */
  readonly sharesProcess?: boolean;
  /**
   * npm package that `install` puts into the data directory; null when it cannot be installed so. `script`: its own install script must run, because its
   * program is not there without.
   */
  readonly npmPackage: { name: string; version: string; bin: string; script?: boolean } | null;
  createTranslator(): Translator;
  /** Absent: the agent does not show its provider's stream, and frames are made from events. */
  createLedgerReader?(): LedgerReader;
  inspect(host: AgentHost): Promise<AgentInspection>;
  /** False: `inspect` starts no program, so everybody may ask. */
  readonly inspectStarts?: false;
  /** Why this configuration could not be honoured on this machine, as a sentence with advice; null when it can. Starts nothing. */
  refusal?(config: SessionConfig, host: AgentHost): Promise<string | null>;
  models?(host: AgentHost, place: ProbePlace): Promise<ModelInfo[]>;
  modes?(host: AgentHost, place: ProbePlace): Promise<ModeInfo[]>;
  /** Absent: it knows no skills. */
  readonly skills?: SkillDoor;
  /** What it would load from this directory. Reads files and starts nothing. Absent: the agent loads nothing of a directory. */
  directoryFiles?(directory: string, host: AgentHost): Promise<LoadedFile[]>;
  /**
   * Names the place of its conversation up to which this ledger goes, for a fork that branches off there; null when there is none yet. Reads nothing else. Absent:
   * a fork has the whole conversation.
   */
  forkPlace?(ledger: AsyncIterable<NativeMessage>): Promise<string | null>;
  /**
   * True: the agent's own memory of this native session ends in the middle of a turn that it goes on with when it is started. The daemon then starts it after a
   * crash. Starts nothing. Absent: a turn that was cut stays cut.
   */
  unfinished?(nativeSession: string, host: AgentHost): Promise<boolean>;
  /** Absent: where its files are not shared, its sessions go on where they began. */
  readonly carry?: Carry;
  /** Its session is removed: so must be what the agent keeps of it in the daemon's data directory. Absent: it keeps nothing there. */
  forget?(nativeSession: string, host: AgentHost): Promise<void>;
  /** Starts or resumes. Resolves when messages can be sent; rejects with AgentError otherwise. */
  connect(launch: Launch): Promise<Connection>;
  /**
   * One instance for one daemon, with all that it keeps between sessions (shared processes, what it found out). Several daemons may live in one process, so
   * nothing is kept in a module. Absent: it keeps nothing, and is its own instance.
   */
  open?(host: AgentHost): Agent;
  /** Ends the instance: no process of it is left, and no other instance is touched. */
  close?(): Promise<void>;
}

/** The version of this contract. It changes when an agent that was written for the one before would no longer work. */
export const AGENT_CONTRACT = 1;

/** What a package of an agent exports as its default. */
export type AgentPackage = { readonly contract: number; readonly agent: Agent };

export const defineAgent = (agent: Agent): AgentPackage => ({ contract: AGENT_CONTRACT, agent });

/** Why an agent cannot do it, with a stable code and a sentence that says what to do next. */
export class AgentError extends Error {
  readonly code:
    | "agent_not_found"
    | "agent_failed_to_start"
    | "agent_auth_required"
    | "agent_refused"
    | "unsupported"
    | "directory_untrusted"
    | "agent_gone";
  constructor(code: AgentError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AgentError";
    this.code = code;
  }
}
