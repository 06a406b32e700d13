// The table of all commands, in the order help shows them.
import type { Command } from "./command.ts";
import { audit, open, tokenList, tokenMint, tokenRevoke, tokenShow } from "./commands/access.ts";
import { agents, agentsInstall, agentsReport, models, modes } from "./commands/agents.ts";
import { allow, answer, deny } from "./commands/answer.ts";
import { artifactGet, artifactList, artifactShow } from "./commands/artifacts.ts";
import { attach } from "./commands/attach.ts";
import { create, file, fork, rename, set } from "./commands/change.ts";
import {
  changes,
  checkpointDiff,
  checkpointList,
  checkpointRewind,
  checkpointTake,
  checkpointUndo,
} from "./commands/checkpoints.ts";
import { completeFor, completionFor } from "./commands/completion.ts";
import { configCheck, configPath, configSet, configShow, configUnset } from "./commands/config.ts";
import { doctor } from "./commands/doctor.ts";
import { interrupt, resume, rm, stop } from "./commands/end.ts";
import {
  filesDiff,
  filesList,
  filesMkdir,
  filesMove,
  filesRead,
  filesRemove,
  filesSearch,
  filesStatus,
  filesWatch,
  filesWrite,
} from "./commands/files.ts";
import { ls, pending, show } from "./commands/list.ts";
import { coverage, items, native, snapshot } from "./commands/look.ts";
import { mcp } from "./commands/mcp.ts";
import { migrate } from "./commands/migrate.ts";
import { modelServer } from "./commands/model-server.ts";
import { clusterAfterRestore, clusterCheck, clusterInit, move, nodesDrain, nodesFence, nodesList } from "./commands/nodes.ts";
import { prune } from "./commands/prune.ts";
import { queue, queueEdit, queueMove, queueRemove, queueSend } from "./commands/queue.ts";
import { run } from "./commands/run.ts";
import { search } from "./commands/search.ts";
import { gateway, serve } from "./commands/serve.ts";
import { serviceInstall, serviceStatus, serviceUninstall } from "./commands/service.ts";
import { skillsList, skillsShow } from "./commands/skills.ts";
import { start } from "./commands/start.ts";
import { metrics, openapi, status } from "./commands/status.ts";
import { events, logs, send, sessionEvents, wait } from "./commands/talk.ts";
import { taskAttach, taskList, taskLogs, taskRemove, taskRun, taskShow, taskStop } from "./commands/task.ts";
import { exportSession, importSession } from "./commands/transfer.ts";
import { trust } from "./commands/trust.ts";
import { replay, verify } from "./commands/verify.ts";

const completion = completionFor(() => commands);

export const commandGroups: { title: string; commands: Command[] }[] = [
  { title: "Daemon", commands: [start, serve, status, open, doctor, migrate, metrics, openapi, mcp] },
  { title: "Talking to agents", commands: [run, create, attach, send, wait, allow, deny, answer, interrupt] },
  { title: "Queued messages", commands: [queue, queueEdit, queueMove, queueRemove, queueSend] },
  { title: "Sessions", commands: [ls, show, pending, logs, events, set, rename, file, fork, resume, stop, rm, prune] },
  { title: "Tasks and terminals", commands: [taskRun, taskList, taskShow, taskLogs, taskAttach, taskStop, taskRemove] },
  {
    title: "Files and checkpoints",
    commands: [
      filesList,
      filesRead,
      filesWrite,
      filesMkdir,
      filesMove,
      filesRemove,
      filesSearch,
      filesWatch,
      filesStatus,
      filesDiff,
      changes,
      checkpointList,
      checkpointTake,
      checkpointDiff,
      checkpointRewind,
      checkpointUndo,
    ],
  },
  {
    title: "Search and raw data",
    commands: [search, items, snapshot, coverage, native, artifactList, artifactShow, artifactGet, exportSession, importSession],
  },
  {
    title: "Agents",
    commands: [agents, agentsInstall, agentsReport, models, modes, skillsList, skillsShow, verify, replay, modelServer],
  },
  {
    title: "Configuration and access",
    commands: [
      trust,
      configShow,
      configPath,
      configCheck,
      configSet,
      configUnset,
      tokenShow,
      tokenList,
      tokenMint,
      tokenRevoke,
      audit,
    ],
  },
  {
    title: "A fleet",
    commands: [gateway, nodesList, nodesDrain, nodesFence, move, clusterInit, clusterCheck, clusterAfterRestore],
  },
  { title: "Service and shell", commands: [serviceInstall, serviceStatus, serviceUninstall, completion] },
];

export const commands: readonly Command[] = commandGroups.flatMap(({ commands }) => commands);

const hidden: readonly Command[] = [completeFor(() => commands)];

/** `dragoman sessions …`: the same under the API's own words. */
const sessionAliases: Record<string, Command> = {
  ls,
  show,
  send,
  events: sessionEvents,
  interrupt,
  terminate: stop,
  rm,
};

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

/** The second words of a first one: `install`, `status`, `uninstall` of `service`. */
export const secondWords = (first: string): string[] =>
  commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
