/**
 * What a person can type after a slash in `attach`: commands of dragoman, for this session. The agent's own commands begin with a slash too; where one has the
 * same name, two slashes mean the agent's. Not here: messages, answers to requests (attach-view.ts).
 */
import type { Dragoman } from "../client/dragoman.ts";
import type { SessionHandle } from "../client/session-handle.ts";
import { changeLines } from "./change-lines.ts";
import { factLines } from "./facts.ts";
import { exactLine } from "./output.ts";
import { isMode, MODES } from "./session-options.ts";
import { similar } from "./similar.ts";
import { ago, type Paint, table } from "./style.ts";

export type AttachContext = {
  dragoman: Dragoman;
  session: SessionHandle;
  paint: Paint;
  columns: number;
  /** The agent's own commands. */
  commands: readonly { name: string; description?: string | null | undefined }[];
  show(lines: string[]): void;
  leave(): void;
  stop(): Promise<void>;
  /** Answers the request that is open; false when none is. */
  answer(typed: string): Promise<boolean>;
};

type AttachCommand = { usage: string; about: string; run(context: AttachContext, rest: string): Promise<void> };

const NOTHING_ASKED = "Nothing waits for an answer.";

const COMMANDS: Record<string, AttachCommand> = {
  help: { usage: "/help", about: "this list", run: async (context) => context.show(helpLines(context)) },
  stop: { usage: "/stop", about: "stop the running turn (Ctrl-C)", run: (context) => context.stop() },
  mode: { usage: "/mode [mode]", about: `what the agent may do unasked: ${MODES.join(", ")}`, run: mode },
  model: { usage: "/model [model]", about: "list the models, or choose one", run: model },
  queue: { usage: "/queue [rm|send <place>]", about: "messages that wait", run: queue },
  approve: { usage: "/approve [number]", about: "allow what is asked: once, or by the number of an option", run: approve },
  deny: { usage: "/deny [why]", about: "refuse what is asked", run: deny },
  diff: { usage: "/diff", about: "what changed in the directory during the session", run: diff },
  status: { usage: "/status", about: "the session in a few words", run: status },
  title: { usage: "/title <text>", about: "name the session", run: title },
  quit: { usage: "/quit", about: "leave; the session goes on (Ctrl-D)", run: async (context) => context.leave() },
};

/** What a line that begins with a slash means. */
export type SlashLine =
  | { kind: "ours"; run: (context: AttachContext) => Promise<void> }
  | { kind: "message"; text: string }
  | { kind: "unknown"; advice: string };

export function slashLine(line: string, agentCommands: AttachContext["commands"]): SlashLine {
  if (line.startsWith("//")) return { kind: "message", text: line.slice(1) };
  const [, name = "", rest = ""] = /^\/([a-z][\w:.-]*)(?:\s+([\s\S]*))?$/i.exec(line) ?? [];
  const ours = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (ours) return { kind: "ours", run: (context) => ours.run(context, rest.trim()) };
  // `/etc/hosts is …` is a sentence; so is everything an agent lists.
  if (name === "" || agentCommands.some((each) => each.name.replace(/^\//, "") === name)) return { kind: "message", text: line };
  const meant = similar(name, [...Object.keys(COMMANDS), ...agentCommands.map((each) => each.name.replace(/^\//, ""))]);
  const guess = meant === undefined ? "" : ` Did you mean /${meant}?`;
  return { kind: "unknown", advice: `There is no command /${name}.${guess} /help lists all; two slashes send it as it is.` };
}

/** For completion at the prompt. */
export const slashNames = (agentCommands: AttachContext["commands"]): string[] => [
  ...Object.keys(COMMANDS).map((name) => `/${name}`),
  ...agentCommands.map(({ name }) => (name.startsWith("/") || name.startsWith("$") ? name : `/${name}`)),
];

function helpLines({ commands, paint, columns }: AttachContext): string[] {
  const rows = Object.values(COMMANDS).map(({ usage, about }) => [usage, about] as const);
  const own = commands.map(({ name, description }) => [
    name.startsWith("$") ? name : `/${name.replace(/^\//, "")}`,
    description ?? "",
  ]);
  return [
    ...factLines(rows, columns, paint),
    ...(own.length > 0 ? ["", ...table(["OF THE AGENT", ""], own, paint, { columns }).split("\n")] : []),
    "",
    "A new line: Alt-Enter, Ctrl-J, or \\ at the end. @path completes with Tab. Ctrl-C stops the turn, twice leaves.",
  ];
}

async function mode({ session, show }: AttachContext, rest: string): Promise<void> {
  if (rest === "") {
    const { permission_mode, agent_mode } = await session.get();
    const own = agent_mode === null ? "" : `; the agent's own mode: ${exactLine(agent_mode)}`;
    return show([`Permission mode: ${permission_mode}${own}. Choose with /mode ${MODES.join("|")}.`]);
  }
  if (!isMode(rest)) return show([`There is no mode ${exactLine(rest)}. Choose ${MODES.join(", ")}.`]);
  const { permission_mode } = await session.update({ permission_mode: rest });
  show([`Permission mode: ${permission_mode}.`]);
}

async function model({ dragoman, session, show, paint, columns }: AttachContext, rest: string): Promise<void> {
  if (rest !== "") {
    const { model } = await session.update({ model: rest });
    return show([`Model: ${exactLine(model ?? rest)}.`]);
  }
  const { agent, directory, model: current } = await session.get();
  const models = await dragoman.models(agent, { directory });
  if (models.length === 0) return show([`Model: ${exactLine(current ?? "the agent's own choice")}. The agent lists no others.`]);
  const rows = models.map(({ id, name, is_default }) => [
    id,
    name ?? "",
    id === current ? "in use" : is_default ? "default" : "",
  ]);
  show(table(["MODEL", "NAME", ""], rows, paint, { columns }).split("\n"));
}

async function queue({ session, show, paint, columns }: AttachContext, rest: string): Promise<void> {
  const { messages } = await session.queue();
  const [verb, place] = rest.split(/\s+/);
  if (verb === "rm" || verb === "send") {
    const message = messages[Number(place)];
    if (!message || place === undefined) return show([`No message waits at place ${exactLine(place ?? "?")}.`]);
    if (verb === "rm") await session.removeQueued(message.message_id);
    else await session.sendQueued(message.message_id);
    return show([verb === "rm" ? "Removed." : "Sent into the running turn."]);
  }
  if (messages.length === 0) return show(["No messages wait."]);
  const rows = messages.map(({ text, queued_at }, at) => [String(at), ago(queued_at), text]);
  show(table(["PLACE", "AGE", "TEXT"], rows, paint, { columns }).split("\n"));
}

async function approve({ answer, show }: AttachContext, rest: string): Promise<void> {
  if (!(await answer(rest === "" ? "y" : rest))) show([NOTHING_ASKED]);
}

async function deny({ answer, show }: AttachContext, rest: string): Promise<void> {
  if (!(await answer(rest === "" ? "n" : rest))) show([NOTHING_ASKED]);
}

async function diff({ session, show, paint }: AttachContext): Promise<void> {
  show(changeLines(await session.changes(), paint));
}

async function status({ session, show }: AttachContext): Promise<void> {
  const { session_id, agent, status, model, permission_mode, directory, queued, title } = await session.get();
  show([
    `${session_id}${title ? `: ${exactLine(title)}` : ""}`,
    `${agent}${model ? ` (${exactLine(model)})` : ""}, ${status}, mode ${permission_mode}, ${queued} waiting, in ${exactLine(directory)}`,
  ]);
}

async function title({ session, show }: AttachContext, rest: string): Promise<void> {
  if (rest === "") return show(["Say which title: /title <text>"]);
  await session.update({ title: rest });
  show(["Renamed."]);
}
