// `dragoman replay`: translates recorded traces offline. Events go to stdout as NDJSON, the ledger to stderr.
import type { Translator } from "../agents/contract.ts";
import { translators } from "../agents/registry.ts";
import type { Violation } from "../schema/grammar.ts";
import { printableJson } from "../schema/visible-text.ts";
import type { CommandIo, CommandOutput } from "./command-io.ts";
import { Replayer, type ReplayLedger, Survey, TraceTranslator } from "./replay.ts";
import { readTrace } from "./trace-file.ts";

export type ReplayCommandOptions = {
  /** An agent's id, or `acp` for any agent that speaks it. */
  agent: string;
  files: readonly string[];
  /** The ledger as JSON too, one line a file. */
  json?: boolean;
  /** Each event with the native message it came from. */
  raw?: boolean;
};

export type FileReplay = ReplayLedger & {
  file: string;
  rows: number;
  sessions: { session_id: string; native_session: string; violations: Violation[] }[];
  /** Lines of the file that are no rows. */
  faults: { line: number; fault: string }[];
};

/** 0: all understood. 1: something is unparsed or broken, or a file cannot be read. 2: the question makes no sense. */
export async function replayCommand(options: ReplayCommandOptions, io: CommandIo): Promise<number> {
  const create = translators.get(options.agent);
  if (!create) {
    const known = [...translators.keys()].join(", ");
    io.stderr.write(`There is no agent ${JSON.stringify(options.agent)}. Known: ${known}.\n`);
    return 2;
  }
  if (options.files.length === 0) {
    io.stderr.write("Name at least one trace: dragoman replay <agent> FILE…\n");
    return 2;
  }
  let clean = true;
  for (const [index, file] of options.files.entries()) {
    const prefix = options.files.length === 1 ? "sess" : `sess_${index + 1}`;
    try {
      const replay = await replayFile(create, file, { ...options, prefix }, io.stdout);
      io.stderr.write(options.json ? `${printableJson(replay)}\n` : ledgerText(replay));
      clean &&= isClean(replay);
    } catch (error) {
      io.stderr.write(`${file}: ${readFault(error)}\n`);
      clean = false;
    }
  }
  return clean ? 0 : 1;
}

/** Reads the file twice, so that its size does not matter: once to learn which sessions there are, once to replay them. */
export async function replayFile(
  create: () => Translator,
  file: string,
  options: { agent: string; prefix: string; raw?: boolean },
  out: CommandOutput,
): Promise<FileReplay> {
  const survey = new Survey();
  const faults: FileReplay["faults"] = [];
  let rows = 0;
  const first = new TraceTranslator(create);
  for await (const line of readTrace(file)) {
    if ("fault" in line) faults.push(line);
    else {
      rows++;
      survey.add(first.translate(line.row));
    }
  }
  if (rows === 0) throw new Error('holds no row of a trace. A row is {"t_ms":0,"dir":"out","data":…}, one a line');
  const replayer = new Replayer(survey, {
    location: options.agent,
    prefix: options.prefix,
    onEvent: (event) => out.write(`${printableJson(options.raw ? event : { ...event, raw: null })}\n`),
  });
  const second = new TraceTranslator(create);
  for await (const line of readTrace(file)) if (!("fault" in line)) replayer.add(second.translate(line.row));
  return { file, rows, faults, ...replayer.result() };
}

const isClean = ({ totals, sessions, faults, unexplained }: FileReplay): boolean =>
  totals.unparsed === 0 &&
  unexplained.length === 0 &&
  faults.length === 0 &&
  sessions.every((session) => session.violations.length === 0);

function ledgerText({ file, rows, sessions, totals, ledger, unparsed, unexplained, faults }: FileReplay): string {
  const { mapped, noted, heartbeat } = totals;
  const broken = sessions.reduce((sum, session) => sum + session.violations.length, 0);
  const lines = [
    `${file}: ${rows} native messages, ${sessions.length} sessions · ${mapped} mapped, ${noted} noted, ${heartbeat} heartbeats, ${totals.unparsed} unparsed · ${broken} rules broken`,
    ...[...ledger]
      .sort((a, b) => a.type.localeCompare(b.type))
      .map(({ type, disposition, count }) => `  ${String(count).padStart(6)}  ${disposition.padEnd(9)}  ${type}`),
    ...faults.map(({ line, fault }) => `  line ${line} is no row of a trace: ${fault}. A row is {"t_ms":0,"dir":"out","data":…}`),
    ...unparsed.map(({ row, type, error }) => `  row ${row} was not understood (${type}): ${error.split("\n")[0]}`),
    ...unexplained.map(({ row, type }) => `  [U16] row ${row} (${type}) makes no event, and no reason is named`),
    ...sessions.flatMap(({ session_id, violations }) =>
      violations.map(({ rule, sequence, message }) => `  [${rule}] ${session_id} event ${sequence}: ${message}`),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function readFault(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "is a folder; name the traces in it";
  if (code === "EACCES") return "may not be read";
  return error instanceof Error ? error.message : String(error);
}
