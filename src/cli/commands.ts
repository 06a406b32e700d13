// The table of all commands, in the order help shows them.
import type { Command } from "./command.ts";
import { agents, agentsInstall } from "./commands/agents.ts";
import { completeFor, completionFor } from "./commands/completion.ts";
import { configShow } from "./commands/config.ts";
import { doctor } from "./commands/doctor.ts";
import { run } from "./commands/run.ts";
import { serve } from "./commands/serve.ts";
import { sessionAliases, sessionCommands } from "./commands/sessions.ts";
import { exportSession, importSession } from "./commands/transfer.ts";
import { replay, verify } from "./commands/verify.ts";

const completion = completionFor(() => commands);

export const commandGroups: { title: string; commands: Command[] }[] = [
  { title: "Daemon", commands: [serve, doctor, configShow] },
  { title: "Sessions", commands: [run, ...sessionCommands, exportSession, importSession] },
  { title: "Agents", commands: [agents, agentsInstall, verify, replay] },
  { title: "Shell", commands: [completion] },
];

export const commands: readonly Command[] = commandGroups.flatMap(({ commands }) => commands);

const hidden: readonly Command[] = [completeFor(() => commands)];

/** The command the first words name (two-word names first), and what follows them. */
export function findCommand(words: string[]): { command: Command; rest: string[] } | undefined {
  const [first = "", second = ""] = words;
  const alias = first === "sessions" ? sessionAliases[second] : undefined;
  if (alias) return { command: alias, rest: words.slice(2) };
  const all = [...commands, ...hidden];
  const long = all.find(({ name }) => name === `${first} ${second}`);
  if (long) return { command: long, rest: words.slice(2) };
  const short = all.find(({ name }) => name === first);
  return short && { command: short, rest: words.slice(1) };
}
