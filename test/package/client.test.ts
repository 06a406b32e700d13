// dragoman-client as users get it: packed, installed alone into an empty folder, used against a real daemon, compiled strictly, bundled for a browser.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const LARGEST_BUNDLE = 9_000;

let dir: string;
let app: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dir = temporaryDir("client-package");
  app = join(dir, "app");
  mkdirSync(app);
  mkdirSync(join(dir, "data"));
  const env = { PATH: process.env.PATH, HOME: dir, npm_config_update_notifier: "false" };
  await run("npm", ["pack", "--pack-destination", dir], { cwd: join(root, "packages/client"), env });
  writeFileSync(join(app, "package.json"), '{"private":true,"type":"module"}');
  const tarball = readdirSync(dir).find((name) => name.endsWith(".tgz")) ?? "";
  // It depends on nothing, so nothing is asked of a registry.
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(dir, tarball)], { cwd: app, env });
  daemon = await startDaemonProcess(join(dir, "data"));
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dir);
});

/** Runs a module of the app, and gives what it prints. */
async function ran(code: string): Promise<string> {
  writeFileSync(join(app, "main.js"), code);
  const env = { PATH: process.env.PATH, HOME: dir, DRAGOMAN_DATA_DIR: join(dir, "data") };
  return (await run(process.execPath, ["main.js"], { cwd: app, env })).stdout.trim();
}

describe("the package dragoman-client", () => {
  it("is installed alone", () => {
    expect(readdirSync(join(app, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["dragoman-client"]);
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    const installed = JSON.parse(readFileSync(join(app, "node_modules/dragoman-client/package.json"), "utf8")) as object;
    expect(installed).toMatchObject({ version });
    expect(installed).not.toHaveProperty("dependencies");
  });

  it("finds the daemon, prompts an agent, follows events and opens a socket", async () => {
    const out = await ran(`
      import { connect } from "dragoman-client";
      const daemon = await connect();
      const session = await daemon.createSession({ agent: "mock", directory: "." });
      const { text } = await session.prompt("say hello");
      await session.terminate();
      const types = [];
      for await (const { type } of session.events()) types.push(type);
      const other = await daemon.createSession({ agent: "mock" });
      // Node 20 has no WebSocket of its own.
      const socket = await other.socket().then(() => "open", (error) => error.code);
      console.log(JSON.stringify({ text, last: types.at(-1), socket }));
      process.exit();
    `);
    expect(JSON.parse(out)).toEqual({
      text: "hello",
      last: "session.ended",
      socket: "WebSocket" in globalThis ? "open" : "unsupported",
    });
  });

  it("says what start() needs", async () => {
    const out = await ran(`
      import { start } from "dragoman-client";
      await start().catch((error) => console.log(error.message));
    `);
    expect(out).toContain("npm install dragoman");
  });

  it("compiles strictly, without another package, and knows every problem code", async () => {
    writeFileSync(
      join(app, "app.ts"),
      `
      import { connect, DragomanError, type Item, type ProblemCode, type UniversalEvent } from "dragoman-client";
      const daemon = await connect({ url: "http://127.0.0.1:1", token: "x" });
      const text = (event: UniversalEvent): string => (event.type === "item.delta" ? event.data.delta : event.type);
      const first = (item: Item): string => (item.content[0]?.type === "text" ? item.content[0].text : "");
      const code: ProblemCode = "session_not_found";
      // @ts-expect-error there is no such code
      const wrong: ProblemCode = "nobody_knows";
      // @ts-expect-error there is no such event
      const never = (event: UniversalEvent): boolean => event.type === "session.never";
      const advice = (error: DragomanError): string => {
        switch (error.code) {
          case "no_daemon": return "start";
          case "directory_untrusted": return "trust";
          default: return error.message;
        }
      };
      export { advice, code, daemon, first, never, text, wrong };
      `,
    );
    const options = { target: "es2023", module: "nodenext", strict: true, exactOptionalPropertyTypes: true, noEmit: true };
    const compilerOptions = {
      ...options,
      lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
      types: [],
      skipLibCheck: false,
    };
    writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["app.ts"] }));
    const { stdout } = await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", app]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe("");
  });

  it(`has types that are those of dragoman/client`, async () => {
    const files = [
      "session",
      "event",
      "event-data",
      "item",
      "content",
      "checkpoint",
      "files",
      "skill",
      "snapshot",
      "task",
      "audit",
      "prune",
    ];
    const names = files.flatMap((file) => {
      const text = readFileSync(join(root, `packages/client/dist/schema/${file}.d.ts`), "utf8");
      return [...text.matchAll(/^export type (\w+) =/gm)].map(([, name]) => name);
    });
    expect(names.length).toBeGreaterThan(100);
    const same = names.map((name) => `export const ${name} = (a: A.${name}, b: B.${name}): [B.${name}, A.${name}] => [a, b];`);
    const [a, b] = [join(root, "dist/client/index.js"), join(root, "packages/client/dist/client/index.js")];
    writeFileSync(
      join(app, "same.ts"),
      [`import type * as A from "${a}";`, `import type * as B from "${b}";`, ...same].join("\n"),
    );
    const compilerOptions = { target: "es2023", module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: [] };
    const lib = ["es2023", "dom", "dom.iterable", "dom.asynciterable"];
    writeFileSync(
      join(app, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...compilerOptions, lib }, files: ["same.ts"] }),
    );
    const { stdout } = await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", app]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe("");
  });

  it(`is loaded by a page with less than ${LARGEST_BUNDLE / 1000} kB`, async () => {
    writeFileSync(join(app, "page.js"), `export { connect } from "dragoman-client";`);
    const bundle = await rolldown({ input: join(app, "page.js"), platform: "browser", logLevel: "silent" });
    const { output } = await bundle.generate({ format: "esm", minify: true });
    await bundle.close();
    const files = new Map(output.map((file) => [file.fileName, file.type === "chunk" ? file : undefined]));
    /** What is loaded at once: the page and what it imports, not what waits for its use. */
    const loaded = new Set(output.slice(0, 1).map(({ fileName }) => fileName));
    for (const name of loaded) for (const needed of files.get(name)?.imports ?? []) loaded.add(needed);
    const bytes = [...loaded].reduce((sum, name) => sum + gzipSync(files.get(name)?.code ?? "", { level: 9 }).length, 0);
    expect(bytes).toBeGreaterThan(4_000);
    expect(bytes).toBeLessThan(LARGEST_BUNDLE);
  });
});
