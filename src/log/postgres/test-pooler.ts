/** A real pgbouncer in transaction mode before a Postgres of a test: connections of the server are shared by all clients, and each transaction may get another one. Test helper. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort, NOBODY, startPostgres, type TestPostgres, withoutPostgres } from "./test-postgres.ts";

/** Fewer than the clients have, so that they are shared. */
const SERVER_CONNECTIONS = 4;

const program = (): string | undefined =>
  [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"]
    .map((folder) => join(folder, "pgbouncer"))
    .find((file) => existsSync(file));

/** For `describe.skipIf`: true where there is no pgbouncer, after saying so. */
export function withoutPooler(): boolean {
  if (withoutPostgres()) return true;
  if (program() !== undefined) return false;
  console.warn("skipped: there is no pgbouncer: apt-get install pgbouncer");
  return true;
}

/** A server whose address is that of the pooler. */
export async function startPooledPostgres(): Promise<TestPostgres> {
  const server = await startPostgres();
  const { hostname, port } = new URL(server.url);
  const home = mkdtempSync(join(tmpdir(), "dragoman-pgbouncer-"));
  const own = await freePort();
  const settings = {
    ...{ listen_addr: "127.0.0.1", listen_port: own, unix_socket_dir: "", auth_type: "any", pool_mode: "transaction" },
    ...{ default_pool_size: SERVER_CONNECTIONS, max_client_conn: 400, server_round_robin: 1 },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const database = `* = host=${hostname} port=${port} user=postgres`;
  writeFileSync(join(home, "pgbouncer.ini"), ["[databases]", database, "[pgbouncer]", ...lines, ""].join("\n"));
  // It refuses to run as root, as Postgres does.
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (identity.uid !== undefined) for (const path of [home, join(home, "pgbouncer.ini")]) chownSync(path, NOBODY, NOBODY);
  const child = spawn(program() ?? "", [join(home, "pgbouncer.ini")], {
    cwd: home,
    stdio: ["ignore", "ignore", "pipe"],
    ...identity,
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  await listening(child);
  return {
    ...server,
    url: `postgres://postgres@127.0.0.1:${own}/postgres`,
    async stop() {
      process.off("exit", kill);
      const gone = child.exitCode === null ? once(child, "exit") : undefined;
      child.kill("SIGINT");
      kill();
      await gone;
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function listening(child: ChildProcess): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (data) => {
      said = (said + data).slice(-20_000);
      if (/process up/.test(said)) resolve();
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`pgbouncer ended (${code}): ${said}`)));
  });
}
