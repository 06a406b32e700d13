// `checkpoint` and `changes`: what agents changed in a session's directory, and going back to what it was.
import type { SessionHandle } from "../../client/session-handle.ts";
import type { Changes, Checkpoint, RewindCheckpoint, Rewound } from "../../schema/checkpoint.ts";
import { changeLines, nameLine } from "../change-lines.ts";
import { type Command, done, EXIT, flag, type Invocation, need, text, UsageError } from "../command.ts";
import { exactLine } from "../output.ts";
import { ago, paintFor } from "../style.ts";

/** A checkpoint is named by its id, the end of it, or its place in the list; `last`: the newest. */
async function checkpointOf(session: SessionHandle, name: string): Promise<string> {
  const { checkpoints } = await session.checkpoints();
  const at = name === "last" ? checkpoints.at(-1) : /^[0-9]{1,5}$/.test(name) ? checkpoints[Number(name)] : undefined;
  if (at) return at.checkpoint_id;
  const found = new Set(checkpoints.map(({ checkpoint_id }) => checkpoint_id).filter((id) => id === name || id.endsWith(name)));
  if (found.size > 1) throw new UsageError(`several checkpoints end with ${name}: ${[...found].join(", ")}`);
  const [only] = found;
  return only ?? name;
}

const sessionOf = async ({ words, daemon }: Invocation): Promise<SessionHandle> =>
  (await daemon()).session(need(words, 0, "the session"));

function printChanges({ print, terminal, values, json }: Invocation, result: Changes): void {
  if (flag(values, "json")) return json(result);
  print(changeLines(result, paintFor(terminal.stdout, terminal.env), flag(values, "names")).join("\n"));
}

const shown = {
  path: { type: "string", about: "only this path and what is below it" },
  names: { type: "boolean", about: "only the paths" },
} as const;

const pathOf = (values: Invocation["values"]): { path?: string } => {
  const path = text(values, "path");
  return path === undefined ? {} : { path };
};

export const changes: Command = {
  name: "changes",
  usage: "changes <session>",
  about: "what changed in the directory during the session, whatever the agent used to change it",
  help: "  Example: dragoman changes <session> --turn <turn>",
  options: { ...shown, turn: { type: "string", about: "only during this turn" } },
  completes: ["sessions"],
  async run(call) {
    const turn = text(call.values, "turn");
    const session = await sessionOf(call);
    printChanges(call, await session.changes({ ...pathOf(call.values), ...(turn === undefined ? {} : { turn }) }));
    return EXIT.ok;
  },
};

export const checkpointList: Command = {
  name: "checkpoint ls",
  usage: "checkpoint ls <session>",
  about: "list the checkpoints of a session, the oldest first",
  completes: ["sessions"],
  async run(call) {
    const { values, json, print, table } = call;
    const { checkpoints, state, reason } = await (await sessionOf(call)).checkpoints();
    if (flag(values, "json")) for (const each of checkpoints) json(each);
    else if (state === "off") print("Checkpoints are switched off in the configuration.");
    else if (checkpoints.length === 0) print(reason === null ? "There are no checkpoints yet." : exactLine(reason));
    else table(["PLACE", "CHECKPOINT", "AGE", "FILES", "WHAT"], checkpoints.map(row));
    return EXIT.ok;
  },
};

const row = (
  { checkpoint_id, created_at, reached_at = created_at, files, label, tool_name }: Checkpoint,
  index: number,
): string[] => [
  String(index),
  checkpoint_id,
  ago(reached_at),
  String(files),
  exactLine(tool_name === null ? label : `${label}: ${tool_name}`),
];

export const checkpointTake: Command = {
  name: "checkpoint take",
  usage: "checkpoint take <session> [<label…>]",
  about: "store the session's directory as it is now",
  completes: ["sessions"],
  async run(call) {
    const label = call.words.slice(1).join(" ");
    return done(call, await (await sessionOf(call)).takeCheckpoint(label === "" ? {} : { label }));
  },
};

export const checkpointDiff: Command = {
  name: "checkpoint diff",
  usage: "checkpoint diff <session> <checkpoint> [<checkpoint>]",
  about: "what changed from one checkpoint to another, or to now",
  help: "  A checkpoint is named by its id, the end of it, its place in the list, or last.",
  options: shown,
  completes: ["sessions"],
  async run(call) {
    const session = await sessionOf(call);
    const from = await checkpointOf(session, need(call.words, 1, "the checkpoint"));
    const to = call.words[2] === undefined ? "now" : await checkpointOf(session, call.words[2]);
    printChanges(call, await session.diff(from, { to, ...pathOf(call.values) }));
    return EXIT.ok;
  },
};

const going = {
  "dry-run": { type: "boolean", about: "only say what would change" },
  force: { type: "boolean", about: "also take back what a person changed between turns" },
} as const;

const MODES = ["files", "conversation", "both"] as const;

function requestOf({ values }: Invocation): RewindCheckpoint {
  const mode = MODES.find((each) => each === (text(values, "mode") ?? "files"));
  if (mode === undefined) throw new UsageError(`--mode is one of ${MODES.join(", ")}`);
  const path = text(values, "path");
  return {
    mode,
    dry_run: flag(values, "dry-run"),
    force: flag(values, "force"),
    ...(path === undefined ? {} : { paths: [path] }),
  };
}

function printRewound({ values, json, print }: Invocation, { files, session_id, dry_run }: Rewound): void {
  if (flag(values, "json")) return json({ files, session_id, dry_run });
  if (files) {
    if (files.changes.length === 0) print("The files are as they were: nothing to change.");
    for (const change of files.changes) print(nameLine(change));
    for (const { path, reason } of files.kept) print(`kept ${exactLine(path)} (${reason.replaceAll("_", " ")})`);
    if (dry_run) print("Nothing was changed. Leave --dry-run out to go back.");
    else if (files.changes.length > 0) print("Undo it with `dragoman checkpoint undo`.");
  }
  if (session_id !== null) print(`Go on in session ${session_id}.`);
}

export const checkpointRewind: Command = {
  name: "checkpoint rewind",
  usage: "checkpoint rewind <session> <checkpoint>",
  about: "go back to a checkpoint; what is there now is stored first",
  help: `  What a person changed between turns stays, unless --force. Git's branches and commits are never touched.
  Example: dragoman checkpoint rewind <session> 0 --dry-run`,
  options: {
    ...going,
    path: { type: "string", about: "only this path and what is below it" },
    mode: { type: "string", about: "files (default), conversation (a new session that knows what was said until then), or both" },
  },
  completes: ["sessions"],
  async run(call) {
    const session = await sessionOf(call);
    const id = await checkpointOf(session, need(call.words, 1, "the checkpoint"));
    printRewound(call, await session.rewind(id, requestOf(call)));
    return EXIT.ok;
  },
};

export const checkpointUndo: Command = {
  name: "checkpoint undo",
  usage: "checkpoint undo <session>",
  about: "undo the last rewind",
  options: going,
  completes: ["sessions"],
  async run(call) {
    printRewound(call, await (await sessionOf(call)).undoRewind(requestOf(call)));
    return EXIT.ok;
  },
};
