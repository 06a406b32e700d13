// A lab: temporary folders, the scripted model server and a daemon of its own, for one agent. Nothing of the user's is read or written.
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LabPlace, LabSetUp, VerifyProfile } from "../agents/kit/verify/profile.ts";
import { Dragoman } from "../client/index.ts";
import { spawnDaemon } from "../client/spawn-daemon.ts";
import type { Config } from "../daemon/config.ts";
import { startDaemon } from "../daemon/daemon.ts";
import { lingering } from "./leftovers.ts";
import { type ModelServer, startModelServer } from "./model-server/index.ts";
import type { Scenario } from "./scenario/index.ts";

/** Variables of the caller that the lab keeps: where programs are, and which ones to use. */
const KEPT = [/^PATH$/, /^(LANG|LC_ALL|TZ)$/, /^SHELL$/, /^DRAGOMAN_[A-Z0-9_]+_COMMAND$/, /^NODE_EXTRA_CA_CERTS$/];
const EXIT_GRACE_MS = 5_000;

export type LabOptions = {
  profile: VerifyProfile;
  /** Given to the model server: all a conversation may name. */
  scenarios: readonly Scenario[];
  env?: NodeJS.ProcessEnv;
  config?: Config;
  /** The daemon is a process of its own, so that it can be killed. */
  ownProcess?: boolean;
};

type RunningDaemon = { url: string; token: string; close(): Promise<void>; kill?(): Promise<void> };

const open = new Set<Lab>();

/** For a run that is broken off: no process and no folder is left. */
export const closeOpenLabs = async (): Promise<void> => void (await Promise.allSettled([...open].map((lab) => lab.close())));

export class Lab {
  readonly profile: VerifyProfile;
  readonly place: LabPlace;
  readonly model: ModelServer;
  readonly #setUp: LabSetUp;
  readonly #env: NodeJS.ProcessEnv;
  readonly #config: Config;
  readonly #ownProcess: boolean;
  #daemon: RunningDaemon | null = null;
  #folders = 0;
  #closing: Promise<string[]> | null = null;

  private constructor(options: LabOptions, place: LabPlace, model: ModelServer, setUp: LabSetUp) {
    this.profile = options.profile;
    this.place = place;
    this.model = model;
    this.#setUp = setUp;
    this.#env = { ...labEnvironment(options.env ?? process.env, place, options.profile.environment), ...setUp.env };
    this.#config = options.config ?? {};
    this.#ownProcess = options.ownProcess === true;
  }

  static async open(options: LabOptions): Promise<Lab> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "dragoman-verify-")));
    const home = join(root, "home");
    for (const folder of ["home", "tmp", "work", "data"]) await mkdir(join(root, folder), { mode: 0o700 });
    const { profile } = options;
    const model = await startModelServer({
      scenarios: options.scenarios.map(wholePaths),
      remember: 20_000,
      variables: profile.models.other === undefined ? {} : { other_model: profile.models.other },
    });
    const place: LabPlace = { root, home, modelUrl: model.url };
    let lab: Lab | undefined;
    try {
      lab = new Lab(options, place, model, await profile.setUp(place));
      open.add(lab);
      await lab.#start();
      return lab;
    } catch (error) {
      if (lab) await lab.close();
      else await model.close();
      await rm(root, { recursive: true, force: true });
      throw error;
    }
  }

  async #start(): Promise<void> {
    this.#daemon = this.#ownProcess ? await this.#spawn() : await this.#startHere();
  }

  #startHere(): Promise<RunningDaemon> {
    return startDaemon({
      dataDir: join(this.place.root, "data"),
      host: "127.0.0.1",
      port: 0,
      env: this.#env,
      config: this.#config,
      directory: join(this.place.root, "work"),
    });
  }

  async #spawn(): Promise<RunningDaemon> {
    const { url, token, pid, stop } = await spawnDaemon({
      dataDir: join(this.place.root, "data"),
      directory: join(this.place.root, "work"),
      env: definedOnly(this.#env),
    });
    const kill = async (): Promise<void> => {
      process.kill(pid, "SIGKILL");
      await stop();
    };
    return { url, token, close: stop, kill };
  }

  client(): Dragoman {
    if (!this.#daemon) throw new Error("The lab's daemon is not running.");
    return new Dragoman({ url: this.#daemon.url, token: this.#daemon.token });
  }

  /** For a browser, which signs in by a link. */
  token(): string {
    if (!this.#daemon) throw new Error("The lab's daemon is not running.");
    return this.#daemon.token;
  }

  /** Ends the daemon and all its agents, and starts another one on the same data. */
  async restart(): Promise<void> {
    await this.#daemon?.close();
    this.#daemon = null;
    await this.#start();
  }

  /** Kills the daemon, as a crash of the machine's memory would, and starts another one on the same data. */
  async crash(): Promise<void> {
    if (!this.#daemon?.kill) throw new Error("The lab's daemon is not a process of its own.");
    await this.#daemon.kill();
    this.#daemon = null;
    await this.#start();
  }

  /** A fresh working folder, and a name beside it that a profile may use. */
  async folder(name: string): Promise<{ directory: string; own: string }> {
    const base = join(this.place.root, "work", `${++this.#folders}-${name}`);
    const directory = join(base, "repo");
    await mkdir(directory, { recursive: true });
    return { directory, own: join(base, "own") };
  }

  /** Sends a signal to every agent process of this lab, as a crash or an impatient user would. */
  async killAgents(signal: NodeJS.Signals): Promise<number> {
    const pids = await this.agentPids();
    for (const pid of pids) process.kill(pid, signal);
    return pids.length;
  }

  /** The processes of agents that the daemon has started. */
  async agentPids(): Promise<number[]> {
    const folder = join(this.place.root, "data", "processes");
    const pids: number[] = [];
    for (const name of await readdir(folder)) {
      if (!name.endsWith(".json")) continue;
      const record: unknown = JSON.parse(await readFile(join(folder, name), "utf8"));
      if (typeof record === "object" && record !== null && "pid" in record && typeof record.pid === "number")
        pids.push(record.pid);
    }
    return pids;
  }

  /** Ends everything and removes the folders; idempotent. Returns what lived on after the daemon's end. */
  close(): Promise<string[]> {
    this.#closing ??= this.#close().finally(() => open.delete(this));
    return this.#closing;
  }

  async #close(): Promise<string[]> {
    await this.#daemon?.close();
    this.#daemon = null;
    await this.#setUp.close?.();
    await this.model.close();
    const left = await lingering(this.place.root, "environment", EXIT_GRACE_MS);
    for (const { pid } of left) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It went by itself.
      }
    }
    await rm(this.place.root, { recursive: true, force: true, maxRetries: 5 });
    return left.map(({ pid, command }) => `process ${pid} lives on: ${command}`);
  }
}

function labEnvironment(env: NodeJS.ProcessEnv, { root, home }: LabPlace, more: readonly RegExp[] = []): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => [...KEPT, ...more].some((pattern) => pattern.test(name)));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    USER: "user",
    LOGNAME: "user",
    TMPDIR: join(root, "tmp"),
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local", "share"),
    XDG_STATE_HOME: join(home, ".local", "state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    TERM: "dumb",
    NO_COLOR: "1",
    GIT_CONFIG_NOSYSTEM: "1",
    NO_PROXY: "127.0.0.1,localhost",
  };
}

const definedOnly = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

/** A call that names the working folder is streamed in one piece, so that a recording can be rewritten without cutting a path in two. */
function wholePaths(scenario: Scenario): Scenario {
  const turns = scenario.turns.map((turn) => ({
    ...turn,
    steps: turn.steps.map((step) => ({
      ...step,
      blocks: step.blocks.map((block) =>
        block.type === "tool" && JSON.stringify(block).includes("{{cwd}}") ? { ...block, chunks: 1 } : block,
      ),
    })),
  }));
  return { ...scenario, turns };
}
