// The daemon in the background: started by the first command that needs it, shared by all, stopped by `dragoman stop`.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cleanEnv, removeDir, temporaryDir } from "../daemon-process.ts";
import { runProgram } from "./run-program.ts";

let home: string;
let env: NodeJS.ProcessEnv;
const dragoman = (...args: string[]) => runProgram(args, env);

beforeEach(() => {
  home = temporaryDir("background");
  env = { ...cleanEnv(home), DRAGOMAN_DATA_DIR: join(home, "data"), DRAGOMAN_PORT: "0" };
});

afterEach(async () => {
  await dragoman("stop");
  removeDir(home);
});

const pidOf = (): number => (JSON.parse(readFileSync(join(home, "data/daemon.json"), "utf8")) as { pid: number }).pid;

describe("a daemon in the background", () => {
  it("is started by `run`, used by the next one, shown by `status`, and ended by `stop`", async () => {
    const first = await dragoman("run", "mock", "say hello");
    expect([first.code, first.out]).toEqual([0, "hello\n"]);
    expect(first.err).toContain("Started the daemon at http://127.0.0.1:");
    const pid = pidOf();
    const second = await dragoman("run", "mock", "say again");
    expect([second.code, second.out, second.err.includes("Started")]).toEqual([0, "again\n", false]);
    expect(pidOf()).toBe(pid);
    expect((await dragoman("status")).code).toBe(0);
    expect((await dragoman("stop")).out).toContain("The daemon was stopped");
    expect(() => process.kill(pid, 0)).toThrow();
    expect((await dragoman("stop")).out).toContain("No daemon is running");
    expect((await dragoman("status")).code).toBe(4);
  });

  it("is started by the first step of the quickstart, which lists the agents", async () => {
    const { code, out, err } = await dragoman("agents");
    expect([code, out]).toEqual([0, expect.stringContaining("Mock agent")]);
    expect(err).toContain("Started the daemon at");
  });

  it("is one, also when many commands start it at once", async () => {
    const all = await Promise.all(Array.from({ length: 4 }, (_, at) => dragoman("run", "mock", `say ${at}`)));
    expect(all.map(({ code, out }) => [code, out])).toEqual(all.map((_, at) => [0, `${at}\n`]));
    expect(all.filter(({ err }) => err.includes("Started the daemon"))).toHaveLength(1);
  });

  it("is what `dragoman` alone starts, with a link to the inspector", async () => {
    const { code, out } = await dragoman("--json");
    const { link, started } = JSON.parse(out) as { link: string; started: boolean };
    expect([code, started]).toEqual([0, true]);
    expect((await fetch(link, { redirect: "manual" })).status).toBeLessThan(400);
    expect((await dragoman()).out).toContain("was running already");
    expect(JSON.parse((await dragoman("start", "--json")).out)).toMatchObject({ started: false, pid: pidOf() });
  });

  it("is not started for another machine's url, with --no-start, or by commands that only look", async () => {
    for (const args of [["run", "mock", "hi", "--url", "http://127.0.0.1:1"], ["run", "mock", "hi", "--no-start"], ["ls"]])
      expect((await dragoman(...args)).code).toBe(4);
    expect(existsSync(join(home, "data/daemon.json"))).toBe(false);
  });

  it("keeps its data where it was told, also by a path from here, and where there is no home", async () => {
    const lost = { ...env, HOME: join(home, "gone"), DRAGOMAN_DATA_DIR: "data" };
    const here = (...args: string[]) => runProgram(args, lost, { cwd: home });
    writeFileSync(join(home, "own.json"), JSON.stringify({ trusted_directories: [home] }));
    expect((await here("start", "--data-dir", "data", "--config", "none.json")).err).toContain(
      `no configuration file ${join(home, "none.json")}`,
    );
    expect((await here("start", "--data-dir", "data", "--config", "own.json")).code).toBe(0);
    expect((await here("trust")).out).toContain(home);
    expect(existsSync(join(home, "data/daemon.json"))).toBe(true);
    expect((await here("status")).code).toBe(0);
    expect((await here("stop")).out).toContain("The daemon was stopped");
    expect((await here("ls", "--data-dir", "")).code).toBe(2);
  });

  it("that cannot start is explained", async () => {
    const { code, err } = await runProgram(["start"], { ...env, DRAGOMAN_PORT: "none" });
    expect(code).toBe(4);
    expect(err).toContain("The daemon did not start.");
    expect(err).toContain("--port needs a number");
  });
});

describe("sessions on the command line", () => {
  it("are named by their id, its beginning, or as the latest", async () => {
    const created = async () =>
      (JSON.parse((await dragoman("create", "mock", "--json")).out) as { session_id: string }).session_id;
    const [one, two] = [await created(), await created()];
    const shown = async (word: string) => JSON.parse((await dragoman("show", word, "--json")).out).session_id as string;
    expect(await shown(one.slice(0, -1))).toBe(one);
    expect((await dragoman("send", one, "say hi")).code).toBe(0);
    expect((await dragoman("wait", one)).code).toBe(0);
    expect([await shown("latest"), await shown("-")]).toEqual([one, one]);
    const several = await dragoman("show", "sess_");
    expect([several.code, several.err]).toEqual([2, expect.stringContaining("is the beginning of 2 sessions")]);
    expect((await dragoman("show", "sess_nobody")).err).toContain("session_not_found");
    expect((await dragoman("stop", one.slice(0, -1), two.slice(0, -1))).code).toBe(0);
  });

  it("options of every command may stand before it, and a wrong word is answered with the right one", async () => {
    await dragoman("create", "mock");
    expect(JSON.parse((await dragoman("--json", "ls")).out)).toMatchObject({ agent: "mock" });
    for (const [wrong, right] of [
      ["list", "ls"],
      ["serv", "serve"],
      ["kill", "stop"],
      ["sesions", "ls"],
    ] as const) {
      const { code, err } = await dragoman(wrong);
      expect([code, err]).toEqual([2, expect.stringContaining(`Did you mean \`dragoman ${right}\`?`)]);
    }
    expect((await dragoman("help", "nope")).code).toBe(2);
    expect((await dragoman("help", "token")).out).toContain("token mint");
  });
});
