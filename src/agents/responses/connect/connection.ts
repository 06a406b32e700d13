/**
 * A session's connection to our own agent. There is no process: the loop runs here, and what it says goes through the channel like the words of any other agent.
 * Its journal is its memory: a session that was cut off goes on where the journal ends.
 */
import { randomUUID } from "node:crypto";
import type { TurnEnd } from "../../../runtime/agent-loop.ts";
import { type AgentOptions, type OwnAgent, openAgent } from "../../../runtime/assemble.ts";
import { callsOf } from "../../../runtime/input-items.ts";
import { McpServers } from "../../../runtime/mcp/servers.ts";
import type { TaskStarter } from "../../../runtime/ports.ts";
import type { WrapCommand } from "../../../runtime/shell-tasks.ts";
import type { ModelTransport } from "../../../runtime/step.ts";
import { errorEnd } from "../../../runtime/turn-outcome.ts";
import {
  AgentError,
  type Channel,
  type ConfigPatch,
  type Connection,
  type Launch,
  type PermissionReply,
  type Prompt,
} from "../../contract.ts";
import { isRecord, str } from "../../json.ts";
import { ResponsesTranslator } from "../translate/translator.ts";
import { type Command, type OpenCall, SESSION, type Statement } from "../translate/wire.ts";
import { agentOptions, mcpTimes } from "./agent-options.ts";
import { CommandProcesses } from "./command-processes.ts";
import { rulesOf } from "./directory.ts";
import { editPreview } from "./edit-preview.ts";
import { type Endpoint, endpointOf } from "./endpoint.ts";
import { Gate } from "./gate.ts";
import { mcpServersOf } from "./mcp-config.ts";
import { chosenModel } from "./models.ts";
import { NativeJournal } from "./native-journal.ts";
import { promptItems } from "./prompt-items.ts";
import { Requests, SessionPolicy } from "./requests.ts";
import { dataFor, type SessionData } from "./session-data.ts";
import { type SessionSkills, skillsOf } from "./skills.ts";
import { ChildAgents, subAgentLimits } from "./sub-agents.ts";

const COMPACT = "compact";
const ids = { next: () => randomUUID() };
/** What a sub-agent is when nothing else is asked for. */
const OWN_ID = "responses";

type OpenParts = { endpoint: Endpoint; model: string; policy: SessionPolicy; skills: SessionSkills };

export async function connect(launch: Launch): Promise<Connection> {
  const { config, host, resume } = launch;
  const endpoint = await endpointOf(host, config);
  const model = await chosenModel(endpoint);
  const [rules, skills] = [await rulesOf(host, config.directory, config.trusted), await skillsOf(host, config)];
  const data = await dataFor(host, resume);
  data.hold();
  const connection = new ResponsesConnection(launch, data);
  try {
    const readable = skills.offered.map(({ directory }) => directory);
    await connection.open({ endpoint, model, skills, policy: new SessionPolicy(config.directory, rules, readable) });
    return connection;
  } catch (error) {
    await connection.close();
    if (error instanceof AgentError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new AgentError("agent_failed_to_start", `The session's journal could not be opened: ${why}`, { cause: error });
  }
}

class ResponsesConnection implements Connection {
  readonly #launch: Launch;
  readonly #data: SessionData;
  readonly #channel: Channel;
  readonly #gate = new Gate();
  readonly #processes: CommandProcesses;
  #requests: Requests | null = null;
  #agent: OwnAgent | null = null;
  #mcp: McpServers | null = null;
  #children: ChildAgents | null = null;
  #tasks: TaskStarter | null = null;
  #compacting: Promise<void> | null = null;
  #closed = false;

  constructor(launch: Launch, data: SessionData) {
    this.#launch = launch;
    this.#data = data;
    this.#processes = new CommandProcesses(launch.host, launch.config.env);
    this.#channel = launch.host.openChannel(new ResponsesTranslator());
    this.#channel.attach(SESSION, launch.port);
  }

  async open({ endpoint, model, policy, skills }: OpenParts): Promise<void> {
    const { config } = this.#launch;
    const speaker = { say: (said: Statement) => this.#say(said), told: (command: Command) => this.#told(command) };
    const requests = new Requests(speaker, policy, (tool, args) => editPreview(config.directory, tool, args));
    this.#requests = requests;
    const mcp = await this.#servers(requests);
    const agent = await openAgent({
      ...agentOptions(this.#launch, endpoint, this.#data),
      ...{ model, policy, asker: requests, questions: requests.questions, ids, mcp, skills },
      ...(await this.#subAgents()),
      watchJournal: (file) => new NativeJournal(file, this.#channel, this.#gate),
      watchTransport: (transport) => this.#paced(transport),
      tasks: (wrap) => this.#watchedTasks(wrap),
      onMcpChange: () => this.#tellServers(),
    });
    this.#agent = agent;
    const commands = [COMPACT];
    const facts = { endpoint: endpoint.baseUrl, models: [], tools: toolNames(agent), commands };
    this.#say({ type: "session.facts", ...facts });
    if (mcp.states.length > 0) this.#tellServers();
    if (agent.sandbox.notice !== null) this.#say({ type: "notice", name: "sandbox", detail: agent.sandbox.notice });
    if (this.#launch.resume !== null) this.#goOn(agent);
  }

  async #servers({ questions }: Requests): Promise<McpServers> {
    const { config, host } = this.#launch;
    const { directory } = config;
    this.#mcp = new McpServers({
      ...{ servers: await mcpServersOf(host, config), directory, version: host.version, questions },
      environment: this.#processes.environment,
      onStarted: (pid, command) => this.#processes.started(pid, command),
      ...mcpTimes(host.settings),
    });
    await this.#mcp.start();
    return this.#mcp;
  }

  #tellServers(): void {
    if (this.#closed || this.#mcp === null || this.#agent === null) return;
    const servers = this.#mcp.states.map(({ name, status, error }) => ({
      name,
      status,
      ...(error === undefined ? {} : { error }),
    }));
    this.#say({ type: "mcp.servers", servers, tools: toolNames(this.#agent) });
  }

  /** None where a session is too far down. */
  async #subAgents(): Promise<Pick<AgentOptions, "subAgents">> {
    const { config, host } = this.#launch;
    const { children } = host;
    const limits = subAgentLimits(host.settings);
    if (children === undefined || (await children.depth(config.session_id)) >= limits.depth) return {};
    const turn = (): string | null => this.#agent?.loop.state.turn?.id ?? null;
    this.#children = new ChildAgents({ children, limits, own: OWN_ID, config, turn, say: (said) => this.#say(said) });
    return { subAgents: this.#children };
  }

  /** A command that outlives its call is a task of the session. */
  #watchedTasks(wrap: WrapCommand): TaskStarter {
    const tasks = this.#processes.tasks(wrap, ids, {
      started: (task) => this.#say({ type: "task.started", ...task }),
      output: (id, stream, text) => this.#say({ type: "task.output", id, stream, text }),
      ended: (id, end) => this.#say({ type: "task.ended", id, ...end }),
    });
    this.#tasks = tasks;
    return tasks;
  }

  /** While the daemon's log cannot write, nothing is read. */
  #paced(transport: ModelTransport): ModelTransport {
    return {
      stream: (body, request, handlers) =>
        transport.stream(body, request, {
          ...handlers,
          onEvent: (event) =>
            this.#gate.isOpen ? handlers.onEvent(event) : this.#gate.opened.then(() => handlers.onEvent(event)),
          ...(handlers.onDelta === undefined
            ? {}
            : {
                onDelta: (block, delta) =>
                  this.#gate.isOpen
                    ? handlers.onDelta?.(block, delta)
                    : this.#gate.opened.then(() => handlers.onDelta?.(block, delta)),
              }),
        }),
    };
  }

  /** A turn that a crash cut off is continued: the journal knows what was done. */
  #goOn({ loop }: OwnAgent): void {
    const { turn, settings } = loop.state;
    const continued = turn !== null && settings.after_crash === "continue";
    this.#say({
      type: "session.resumed",
      session_id: this.#data.id,
      model: settings.model,
      mode: settings.mode,
      turn_id: continued ? turn.id : null,
      calls: continued ? openCalls(loop.state) : [],
      records: loop.state.records,
    });
    const running = loop.resume();
    if (running !== null) this.#watch(running);
  }

  async prompt(prompt: Prompt): Promise<void> {
    const { loop } = this.#live();
    if (prompt.command !== undefined) return this.#command(prompt, prompt.command.name);
    // A turn has reported its end before it is over: its last record is being made durable.
    if (loop.state.turn === null) await loop.idle();
    // A turn of an earlier process goes on: the message joins it.
    if (loop.busy) return void (await this.steer(prompt));
    const items = promptItems(prompt);
    this.#told({ type: "prompt", message_id: prompt.message_id, text: prompt.text, items });
    this.#watch(loop.prompt(items, prompt.skill === undefined ? [] : [{ ...prompt.skill, by: "person" }]));
  }

  async steer(prompt: Prompt): Promise<"idle" | undefined> {
    const { loop } = this.#live();
    // A compaction takes no message in, and a turn beside it would be lost to it: the message waits for its end.
    if (this.#compacting !== null) return "idle";
    if (loop.state.turn === null) {
      await this.prompt(prompt);
      return undefined;
    }
    const items = promptItems(prompt);
    this.#told({ type: "steer", message_id: prompt.message_id, text: prompt.text, items });
    loop.steer(items);
    if (prompt.skill !== undefined) loop.takeSkill({ ...prompt.skill, by: "person" });
    return undefined;
  }

  async #command({ message_id, text }: Prompt, name: string): Promise<void> {
    const { loop } = this.#live();
    if (name !== COMPACT) throw new AgentError("agent_refused", `There is no command /${name}. There is /${COMPACT}.`);
    if (loop.state.turn === null) await loop.idle();
    if (loop.busy) throw new AgentError("agent_refused", "A turn is running: wait for its end, or interrupt it.");
    this.#told({ type: "command", message_id, text, name });
    this.#compacting = loop
      .compact()
      .then(
        () => this.#say({ type: "command.ended", name, outcome: "end_turn", error_code: null, message: null }),
        (error: unknown) => {
          const { reason, error_code = null, message = null } = errorEnd(error);
          const outcome = error_code === "aborted" ? "interrupted" : reason;
          this.#say({ type: "command.ended", name, outcome, error_code: outcome === "interrupted" ? null : error_code, message });
        },
      )
      .finally(() => {
        this.#compacting = null;
      });
  }

  async interrupt(): Promise<void> {
    const { loop } = this.#live();
    this.#told({ type: "interrupt" });
    await loop.interrupt();
    await this.#compacting;
  }

  async configure(patch: ConfigPatch): Promise<"done" | "restart"> {
    const { loop } = this.#live();
    // Without a model of its own the session asks the endpoint again, at its next start.
    if (patch.model === null) return "restart";
    const { model, permission_mode: mode, variant } = patch;
    const change = {
      ...(model === undefined ? {} : { model }),
      ...(mode === undefined ? {} : { mode }),
      ...(variant === undefined ? {} : { reasoning_effort: variant }),
    };
    this.#told({ type: "configure", ...change });
    loop.changeSettings(change);
    return "done";
  }

  async replyPermission(native: unknown, reply: PermissionReply): Promise<void> {
    this.#live();
    const id = idOf(native);
    if (!(await this.#children?.replyPermission(id, reply))) return this.#requests?.replyPermission(id, reply);
    this.#told({ type: "permission.reply", id, reply: reply.reply, message: reply.message });
  }

  async replyQuestion(native: unknown, answers: string[][] | null): Promise<void> {
    this.#live();
    const id = idOf(native);
    if (!(await this.#children?.replyQuestion(id, answers))) return this.#requests?.replyQuestion(id, answers);
    this.#told({ type: "question.reply", id, answers });
  }

  async stopTask(native: unknown): Promise<void> {
    this.#live();
    const id = idOf(native);
    this.#told({ type: "task.stop", id });
    await this.#tasks?.get(id)?.stop();
  }

  setPaused(paused: boolean): void {
    this.#gate.set(!paused);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.#end();
    } finally {
      this.#channel.detach(SESSION);
    }
  }

  async #end(): Promise<void> {
    this.#closed = true;
    // What waits for the gate must come to its end.
    this.#gate.set(true);
    try {
      await this.#agent?.close();
    } catch (error) {
      this.#launch.host.log("warn", "the journal of a session could not be closed", { error: String(error) });
    } finally {
      await this.#mcp?.close();
      await this.#processes.end();
      this.#data.release();
    }
  }

  /**
   * A turn reports its end by its records. It rejects only when not even those could be written. That is told when all of it has ended: a message that comes
   * right after opens the session anew.
   */
  #watch(turn: Promise<TurnEnd>): void {
    turn.catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      const message = `The journal of this session cannot be written: ${why}. Make room on the disk; the next message goes on where it stopped.`;
      if (this.#closed) return;
      const ended = (): void => {
        this.#say({ type: "runtime.failed", message });
        this.#channel.detach(SESSION);
        this.#launch.port.closed({ exit: null, message });
      };
      this.#end().then(ended, ended);
    });
  }

  #say(statement: Statement): void {
    this.#channel.record("out", JSON.stringify(statement), statement);
  }

  #told(command: Command): void {
    this.#channel.record("in", JSON.stringify(command), command);
  }

  #live(): OwnAgent {
    if (this.#closed || this.#agent === null)
      throw new AgentError("agent_gone", "The session was closed. Send the message again.");
    return this.#agent;
  }
}

const toolNames = ({ loop }: OwnAgent): string[] => loop.state.settings.tools.map((tool) => String(tool.name));

const idOf = (native: unknown): string => {
  const id = isRecord(native) ? str(native.id) : undefined;
  if (id === undefined) throw new AgentError("unsupported", "This request takes no answer.");
  return id;
};

/** Calls of the last answer that have no outcome. */
function openCalls(state: OwnAgent["loop"]["state"]): OpenCall[] {
  const { lastResponse } = state;
  if (lastResponse === null || state.entries.at(-1) !== lastResponse) return [];
  return callsOf(lastResponse)
    .filter((call) => state.outcomeOf(call.key) === undefined)
    .map(({ key, call_id, name, input }) => ({ key, call_id, name, input }));
}
