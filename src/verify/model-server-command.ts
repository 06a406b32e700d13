/** `dragoman model-server`: the scripted model for clients that people write themselves. It serves until it is asked to stop. */
import { readFileSync } from "node:fs";
import type { CommandIo } from "./command-io.ts";
import { LIKENESSES, type ModelServer, startModelServer } from "./model-server/index.ts";
import { commonScenarios, type Scenario, scenarioErrors } from "./scenario/index.ts";

export type ModelServerCommandOptions = {
  host: string;
  port: number;
  /** A JSON file with one scenario or a list of them. */
  file?: string;
  /** Played by prompts without a marker. */
  default?: string;
  /** Prompts without a marker are answered at random, by this seed. */
  chaos?: string;
  /** Deviate as this server does. */
  like?: string;
  json: boolean;
  signal: AbortSignal;
};

/** Says what is wrong with the file, in a sentence. */
export class ScenarioFileError extends Error {}

export async function modelServerCommand(options: ModelServerCommandOptions, io: CommandIo): Promise<number> {
  const own = options.file === undefined ? [] : scenariosOf(options.file);
  const names = new Set(own.map(({ name }) => name));
  const scenarios = [...own, ...commonScenarios.filter(({ name }) => !names.has(name))];
  const fallback = options.default ?? own[0]?.name ?? "text";
  if (!scenarios.some(({ name }) => name === fallback))
    throw new ScenarioFileError(
      `There is no scenario ${JSON.stringify(fallback)}: name one of ${scenarios.map(({ name }) => name).join(", ")}.`,
    );
  if (options.like !== undefined && !Object.hasOwn(LIKENESSES, options.like))
    throw new ScenarioFileError(
      `Nothing is known of a server ${JSON.stringify(options.like)}: name one of ${Object.keys(LIKENESSES).join(", ")}.`,
    );
  const server = await startModelServer({
    scenarios,
    host: options.host,
    port: options.port,
    default: fallback,
    doneMark: true,
    callsTools: options.default === undefined && options.file === undefined,
    ...(options.chaos === undefined ? {} : { chaos: options.chaos }),
    ...(options.like === undefined ? {} : { like: options.like }),
    ...(options.json
      ? {}
      : { log: ({ method, path, scenario }) => void io.stderr.write(`${method} ${path}${scenario ? ` ${scenario}` : ""}\n`) }),
  });
  io.stdout.write(
    options.json ? `${JSON.stringify({ url: server.url, port: server.port })}\n` : welcome(server, fallback, options),
  );
  await new Promise<void>((resolve) => {
    if (options.signal.aborted) resolve();
    else options.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.close();
  return 0;
}

const welcome = ({ url }: ModelServer, fallback: string, { chaos }: ModelServerCommandOptions): string =>
  [
    `A scripted model at ${url}/v1: Responses (also over a WebSocket), Chat Completions, Messages and Gemini.`,
    chaos === undefined
      ? `A prompt with [[scenario:NAME]] plays that scenario, any other one plays ${fallback}.`
      : `A prompt with [[scenario:NAME]] plays that scenario, any other one is answered at random, by the seed ${chaos}.`,
    "Ctrl-C stops it.",
    "",
  ].join("\n");

function scenariosOf(file: string): Scenario[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ScenarioFileError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((one, at) => {
    const [fault] = scenarioErrors(one);
    if (fault !== undefined) throw new ScenarioFileError(`${file}, scenario ${at + 1}: ${fault}`);
    return one as Scenario;
  });
}
