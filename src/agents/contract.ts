// The agent contract: what one folder under src/agents/ provides. The core knows agents only through these types.
// Not here: how bytes become messages (transports) and how drafts become events (session).
import type { LedgerReader } from "../schema/dialect.ts";
import type { Draft } from "../schema/draft.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { ModeInfo, ModelInfo, PermissionMode, PlainReply, StderrOutput } from "../schema/event-data.ts";
import type { Disposition, NativeDirection } from "../schema/native.ts";
import type { DirectoryFile } from "../schema/session.ts";

export type { Disposition, NativeDirection } from "../schema/native.ts";

export type NativeMessage = {
  dir: NativeDirection;
  /** The parsed JSON; a string when the line was not JSON. */
  data: unknown;
};

/**
 * What one native message means. Every message yields at least one of these.
 */
export type Translation = {
  /**
   * The native session it belongs to, null when it concerns the whole process (then every session on it gets it). A message that belongs to a
   * session whose id is not known yet may use an address of the translator's own making; a later `bind` says which one it was.
   */
  session: string | null;
  /** The native type, for the coverage table: `system/init`, `item/started:commandExecution`. Bounded in number: no ids in it. */
  type: string;
  disposition: Disposition;
  drafts: Draft[];
  /** Only for unparsed: what was not understood. */
  error?: string;
  /** Only for mapped without drafts: why there is nothing to say. From the translator's table. */
  silent?: string;
  /** Everything addressed to `from` so far belongs to `session`. */
  bind?: { from: string };
  /** Only for one that is a single delta: the messages that follow may mean the same with another text. */
  repeat?: Repeat;
};

/** The way to a value in a message: keys and indexes. */
export type JsonPath = readonly (string | number)[];

/**
 * The next message, when it differs from this one only in the text at `path` and in what is `ignored`, means the same with that text as its delta. So
 * the pieces of a streamed answer are not translated one by one. It holds until any other message is translated.
 */
export type Repeat = {
  path: JsonPath;
  ignored?: readonly JsonPath[];
  /** In place of `translate`: remembers what that would remember. False: this text means something else, and nothing was remembered. */
  say(text: string): boolean;
};

/** What takes the next message in place of `Channel.record`, when it repeats the one before. */
export type Repeated = Pick<Repeat, "path" | "ignored"> & {
  /** False: nothing was recorded, it is a message like any other. */
  take(raw: string, text: string): boolean;
};

/** A native type, its beginning followed by `*` or its end after one, and a reason in words. The first that fits counts. */
export type SilenceTable = readonly (readonly [type: string, reason: string])[];

/**
 * Turns native messages into drafts. Stateful, but pure: no I/O, no clock, no randomness, so that the same messages always give the same drafts, live
 * and in replay. Guaranteed by the caller: messages of both directions arrive in wire order, each once. A translator must accept any input: what it
 * does not understand is `unparsed`, never dropped, never thrown. One translator serves one process with all sessions on it.
 *
 * Both directions matter: what we send opens the client's turn (`turn.start`), makes the user's message where the agent does not echo it, and resolves
 * requests. In a recorded trace the client may have behaved otherwise than our connection does; it must still translate.
 */
export interface Translator {
  translate(message: NativeMessage): Translation[];
  /**
   * How long item keys hold. Absent or `process`: for one process, a later one may count from one again. `session`: they are the agent's own lasting ids, so that an
   * item reported again after a restart is recognised and not shown twice.
   */
  readonly keys?: "process" | "session" | undefined;
  /** The agent starts a process for each message, and this one reads them one after the other. Absent: each process has a translator of its own. */
  readonly manyProcesses?: true;
  /** Why messages of some types make no event. A mapped message of another type makes one. */
  readonly silence?: SilenceTable;
  /** What was reported about this native session was dropped, because nobody claimed it: what is remembered of it may go too. */
  forget?(session: string): void;
}

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

export type McpServer =
  | { name: string; type: "stdio"; command: string; args?: string[]; env?: Record<string, string> }
  | { name: string; type: "http" | "sse"; url: string; headers?: Record<string, string> };

export type SessionConfig = {
  session_id: string;
  directory: string;
  /**
   * False: nothing of the directory may run or steer the agent: no settings, hooks, MCP servers, plugins, helpers, environment files. An agent that
   * cannot be started so refuses with `directory_untrusted`.
   */
  trusted: boolean;
  model: string | null;
  variant: string | null;
  agent_mode: string | null;
  permission_mode: PermissionMode;
  env: Record<string, string>;
  mcp_servers: McpServer[];
  system_prompt: string | null;
  metadata: Record<string, unknown>;
  /**
   * A folder of the daemon with skills that the agent would not find by itself: `<folder>/skills/<name>/SKILL.md`, and a manifest that makes it a plugin. Only
   * for agents with a door. For `skill_root` equal skills lie in the same folder: sessions that have the same one can share a process.
   */
  skills?: string;
};

export type ConfigPatch = Partial<Pick<SessionConfig, "model" | "variant" | "agent_mode" | "permission_mode">>;

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

/** A skill as it was read. */
export type ReadSkill = {
  name: string;
  /** Of its SKILL.md. */
  path: string;
  /** Where its files are. */
  directory: string;
  digest: string;
  /** What the model gets. */
  text: string;
  /** Tools that need no question while it is in use, in the names of our own tools. */
  allowed: string[];
};

/** A skill that a model may be informed of. */
export type OfferedSkill = { name: string; description: string; allowed: string[]; directory: string; project: boolean };

/** The skills of a place, for an agent that reads none by itself. */
export interface AgentSkills {
  catalog(place: SkillAsked): Promise<OfferedSkill[]>;
  /** Null: there is none of this name, or a model may not use it. */
  read(name: string, args: string, place: SkillAsked): Promise<ReadSkill | null>;
}

export type SkillAsked = Pick<SessionConfig, "directory" | "trusted" | "permission_mode">;

/** A session that an agent wants to start for a part of its work. */
export type ChildRequest = Pick<SessionConfig, "directory" | "trusted" | "model" | "permission_mode" | "env"> & {
  /** Of the child: chosen by the parent, so that it finds it again. */
  session_id: string;
  parent_session_id: string;
  agent: string;
  title: string;
};

/** The sessions that agents start. A child is a session like any other, and names its parent. */
export interface ChildSessions {
  /** Agents whose program is there, as far as is known. */
  agents(): string[];
  /** How many sessions are above this one. */
  depth(session_id: string): Promise<number>;
  /** Rejects with a sentence. */
  create(request: ChildRequest): Promise<ChildSession>;
  /** Null: there is none of this id, or it is no child of this parent. */
  find(session_id: string, parent_session_id: string): Promise<ChildSession | null>;
}

export interface ChildSession {
  readonly session_id: string;
  readonly agent: string;
  /** `new`: it has never been given anything. */
  state(): Promise<"new" | "busy" | "idle" | "ended">;
  send(text: string): Promise<void>;
  /** Lets an agent that was cut off by a crash go on, if it can. */
  resume(): Promise<void>;
  /** Its events of these types so far. */
  history(types: readonly UniversalEvent["type"][]): Promise<UniversalEvent[]>;
  /** Its events from now on; returns what ends it. */
  follow(onEvent: (event: UniversalEvent) => void): () => void;
  replyPermission(permission_id: string, reply: Pick<PermissionReply, "reply" | "message">): Promise<void>;
  replyQuestion(question_id: string, answers: string[][] | null): Promise<void>;
  end(): Promise<void>;
}

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
};

export type CommandExit = { exitCode: number | null; signal: string | null };

/** What an agent that lets its client run its commands asks for. Parameters and answers are those of the protocol's `terminal/*`. */
export interface AgentTerminals {
  create(params: Readonly<Record<string, unknown>>): Promise<{ terminalId: string }>;
  output(params: Readonly<Record<string, unknown>>): { output: string; truncated: boolean; exitStatus?: CommandExit };
  waitForExit(params: Readonly<Record<string, unknown>>): Promise<CommandExit>;
  kill(params: Readonly<Record<string, unknown>>): Promise<Record<string, never>>;
  release(params: Readonly<Record<string, unknown>>): Promise<Record<string, never>>;
  /** Ends all of them: no process is left when it resolves. */
  closeAll(): Promise<void>;
}

export type TerminalsOptions = {
  session_id: string;
  /** Where a command may run; rejects what is outside. */
  directory(asked: string | undefined): Promise<string>;
  environment: Readonly<Record<string, string>>;
  /** What a running command wrote, and how it ended. */
  onOutput(terminalId: string, text: string): void;
  onExit(terminalId: string, exit: CommandExit): void;
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

export type SkillDoorName = "plugin_directory" | "skill_root" | "mcp_server";

/** How an agent gets Agent Skills: which folders it reads by itself, and how it can be given more. */
export type SkillDoor = {
  /** Kinds of project and user roots that the agent reads by itself, such as `.claude`. */
  project: readonly string[];
  user: readonly string[];
  /** Whether it also looks in directories above its own, up to the repository's root. */
  upwards: boolean;
  /**
   * How it is given more: its connection hands over `SessionConfig.skills` as a plugin or as one more root of skills, or it gets an MCP server with a tool for
   * them; null: it cannot.
   */
  door: SkillDoorName | null;
  /** False: `/name` is no command of its own, so it gets the text of the skill. */
  commands?: false;
};

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
