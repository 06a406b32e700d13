/** Files of a session's directory over HTTP, with the SDK: ranges, etags, whole writes, and every way out of the directory that is closed. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Dragoman } from "../client/dragoman.ts";
import type { SessionFiles } from "../client/session-files.ts";
import type { Role } from "../schema/actor.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
let client: Dragoman;
let directory: string;
let id: string;
let files: SessionFiles;
let count = 0;
beforeAll(async () => {
  server = await startTestServer();
  client = new Dragoman({ url: server.url, token: server.token });
});
afterAll(() => server.close());
beforeEach(async () => {
  directory = join(server.dataDir, `work-${count++}`);
  mkdirSync(join(directory, "src"), { recursive: true });
  writeFileSync(join(directory, "src", "a.ts"), "const needle = 1;\n");
  writeFileSync(join(server.dataDir, "outside.txt"), "not yours");
  symlinkSync(join(server.dataDir, "outside.txt"), join(directory, "way-out"));
  ({ session_id: id } = await server.createSession({ directory }));
  files = client.session(id).files;
});

const as = (role: Role): Dragoman => {
  const admin = server.tokens.find(server.token);
  if (!admin) throw new Error("the root token must be known");
  return client.with({ token: server.tokens.mint(admin, { role, scope: null, lifetimeMs: 600_000 }).secret });
};
/** Processes with this word in their arguments. */
const processesWith = (word: string): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false;
    }
  });
const makeFile = (name: string): string => {
  writeFileSync(join(directory, name), "");
  return join(directory, name);
};
const textOf = async (response: Promise<Response>): Promise<string> => (await response).text();

describe("files of a session", () => {
  it("are listed, read by range, and read again only when they changed", async () => {
    expect((await files.list()).entries.map(({ name, type }) => [name, type])).toEqual([
      ["src", "directory"],
      ["way-out", "link"],
    ]);
    expect((await files.list("", { limit: 1 })).next).toBe("src");
    expect(await textOf(files.read("src/a.ts"))).toBe("const needle = 1;\n");
    expect(await textOf(files.read("src/a.ts", { start: 6, end: 11 }))).toBe("needle");
    const response = await files.read("src/a.ts");
    await response.body?.cancel();
    const etag = response.headers.get("etag") ?? "";
    expect(await files.stat("src/a.ts")).toMatchObject({ etag, size: 18, type: "file" });
    const again = await server.call("GET", `/v1/sessions/${id}/fs/read?path=src/a.ts`, undefined, { "if-none-match": etag });
    expect(again.status).toBe(304);
    writeFileSync(join(directory, "empty"), "");
    expect(await textOf(files.read("empty"))).toBe("");
  });

  it("are read as HTTP says: ranges, If-Range, If-None-Match", async () => {
    writeFileSync(join(directory, "ten"), "0123456789");
    const { etag } = await files.stat("ten");
    const read = async (headers: Record<string, string>) => {
      const { status, text, headers: got } = await server.call("GET", `/v1/sessions/${id}/fs/read?path=ten`, undefined, headers);
      return [status, status === 416 ? null : text, got["content-range"]];
    };
    const whole = [200, "0123456789", undefined];
    const outside = [416, null, "bytes */10"];
    expect(await read({ range: "bytes=0-0" })).toEqual([206, "0", "bytes 0-0/10"]);
    expect(await read({ range: "bytes=8-" })).toEqual([206, "89", "bytes 8-9/10"]);
    expect(await read({ range: "bytes=-3" })).toEqual([206, "789", "bytes 7-9/10"]);
    expect(await read({ range: `bytes=-${"9".repeat(30)}` })).toEqual([206, "0123456789", "bytes 0-9/10"]);
    for (const range of ["bytes=10-", "bytes=-0", `bytes=${"9".repeat(30)}-`]) expect(await read({ range })).toEqual(outside);
    for (const range of ["bytes=5-2", "bytes=0-1,3-4", "items=0-1", "bytes=-", "bytes=a-b"])
      expect(await read({ range })).toEqual(whole);
    expect(await read({ range: "bytes=0-1", "if-range": etag })).toEqual([206, "01", "bytes 0-1/10"]);
    expect(await read({ range: "bytes=0-1", "if-range": '"other"' })).toEqual(whole);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"])
      expect(await read({ "if-none-match": known, range: "bytes=99-" })).toEqual([304, "", undefined]);
    expect(await read({ "if-none-match": '"other"' })).toEqual(whole);
  });

  it("are cut off, not left waiting, when they become shorter while they are read", async () => {
    truncateSync(makeFile("shrinking"), 200 * 1024 ** 2);
    const response = await files.read("shrinking");
    truncateSync(join(directory, "shrinking"), 1_000);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it("are written only under the conditions that the headers name", async () => {
    const write = async (path: string, headers: Record<string, string>) =>
      (await server.call("POST", `/v1/sessions/${id}/fs/write`, { path, text: "new" }, headers)).status;
    const { etag } = await files.stat("src/a.ts");
    expect(await write("src/a.ts", { "if-match": '"other"' })).toBe(412);
    expect(await write("src/a.ts", { "if-none-match": "*" })).toBe(409);
    expect(await write("absent", { "if-match": "*" })).toBe(412);
    expect(await write("src/a.ts", { "if-none-match": etag })).toBe(400);
    expect(readFileSync(join(directory, "src/a.ts"), "utf8")).toBe("const needle = 1;\n");
    expect(await write("src/a.ts", { "if-match": etag })).toBe(200);
    expect(await write("absent", { "if-none-match": "*" })).toBe(200);
  });

  it("are none of another directory that took the place of the session's", async () => {
    const elsewhere = join(server.dataDir, `elsewhere-${count}`);
    renameSync(directory, elsewhere);
    symlinkSync(elsewhere, directory);
    const calls = [
      () => files.list(),
      () => files.read("src/a.ts"),
      () => files.write("x", "y"),
      () => files.complete("a"),
      () => client.session(id).startTask({ command: "pwd" }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "directory_not_found" });
    expect(readdirSync(elsewhere)).toEqual(["src", "way-out"]);
  });

  it.runIf(existsSync("/proc/self/cmdline"))("are searched no longer than somebody waits for the answer", async () => {
    writeFileSync(join(directory, "long.txt"), `${"a".repeat(5_000_000)}\n`);
    const searching = (): string[] => processesWith(`(.*)(.*)(.*)(.*)(.*)${id}`);
    const caller = new AbortController();
    const query = new URLSearchParams({ q: `(.*)(.*)(.*)(.*)(.*)${id}`, regex: "true" });
    const answer = fetch(`${server.url}/v1/sessions/${id}/fs/search?${query}`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: caller.signal,
    });
    answer.catch(() => {});
    await expect.poll(searching).not.toEqual([]);
    // Also when the daemon is killed meanwhile, it ends.
    expect(readFileSync(`/proc/${searching()[0]}/limits`, "utf8")).toMatch(/^Max cpu time +50 /m);
    caller.abort();
    // Less than the longest time of a search.
    await expect.poll(searching).toEqual([]);
  });

  it("are written whole, and only over what the writer knows", async () => {
    const first = await files.write("new/deep/b.txt", { text: "one", parents: true, create_only: true });
    expect(readFileSync(join(directory, "new/deep/b.txt"), "utf8")).toBe("one");
    await expect(files.write("new/deep/b.txt", { text: "x", create_only: true })).rejects.toMatchObject({ code: "file_exists" });
    const second = await files.write("new/deep/b.txt", { base64: Buffer.from("two").toString("base64"), if_match: first.etag });
    await expect(files.write("new/deep/b.txt", { text: "x", if_match: first.etag })).rejects.toMatchObject({
      code: "file_changed",
    });
    expect(second.etag).not.toBe(first.etag);
    await expect(files.write("cut.bin", { base64: "abc" })).rejects.toMatchObject({ code: "invalid_request" });
    expect(await textOf(files.read("new/deep/b.txt"))).toBe("two");
    await files.move("new/deep/b.txt", "c.txt");
    await expect(files.move("c.txt", "src/a.ts")).rejects.toMatchObject({ code: "file_exists" });
    await expect(files.delete("new")).rejects.toMatchObject({ code: "directory_not_empty" });
    await files.delete("new", { recursive: true });
    await files.mkdir("made");
    await files.delete("way-out");
    expect(existsSync(join(server.dataDir, "outside.txt"))).toBe(true);
    expect((await files.list()).entries.map(({ name }) => name)).toEqual(["c.txt", "made", "src"]);
  });

  it("are searched, completed and watched; git tells of them", async () => {
    execFileSync("git", ["init", "-q", "-b", "main", directory]);
    expect((await files.search("needle")).matches).toMatchObject([{ path: "src/a.ts", line: 1 }]);
    expect(await files.complete("a.ts")).toEqual([{ path: "src/a.ts", type: "file" }]);
    expect(await files.gitStatus()).toMatchObject({
      branch: "main",
      entries: expect.arrayContaining([expect.objectContaining({ kind: "untracked" })]),
    });
    execFileSync("git", ["-C", directory, "add", "src/a.ts"]);
    expect((await files.gitDiff({ staged: true })).diff).toContain("+const needle = 1;");
    for await (const { paths } of files.watch()) {
      if (paths.length === 0) writeFileSync(join(directory, "src", "watched.txt"), "x");
      else {
        expect(paths).toContain("src/watched.txt");
        break;
      }
    }
  });

  it("lead nowhere else: not by .., by absolute paths, by links", async () => {
    for (const path of ["../outside.txt", "src/../../outside.txt", "/etc/passwd", "way-out"]) {
      await expect(files.read(path)).rejects.toMatchObject({ code: "path_outside" });
      await expect(files.write(path, "x")).rejects.toMatchObject({ code: "path_outside" });
    }
    await expect(files.move("src/a.ts", "../stolen")).rejects.toMatchObject({ code: "path_outside" });
    await expect(files.delete("../outside.txt")).rejects.toMatchObject({ code: "path_outside" });
    await expect(files.gitDiff({ path: "../outside.txt" })).rejects.toMatchObject({ code: "path_outside" });
    // A repository that is larger than the session's directory would let git look there.
    execFileSync("git", ["init", "-q", server.dataDir]);
    for (const glob of ["../*", "src/../../outside.txt", "../**"])
      await expect(files.search("yours", { glob })).rejects.toMatchObject({ code: "path_outside" });
    rmSync(join(server.dataDir, ".git"), { recursive: true });
    expect(readFileSync(join(server.dataDir, "outside.txt"), "utf8")).toBe("not yours");
  });

  it("are refused with a code that says why", async () => {
    await expect(files.read("src")).rejects.toMatchObject({ code: "is_a_directory" });
    await expect(files.write("src", "x")).rejects.toMatchObject({ code: "is_a_directory" });
    await expect(files.list("src/a.ts")).rejects.toMatchObject({ code: "not_a_directory" });
    await expect(files.read("nothing")).rejects.toMatchObject({ code: "file_not_found" });
    await expect(files.read("src/a.ts", { start: 100 })).rejects.toMatchObject({ code: "range_not_satisfiable" });
    await expect(files.write("x", {})).rejects.toMatchObject({ code: "invalid_request" });
    await expect(files.search("(", { regex: true })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(files.search("x", { glob: "a\0" })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(files.read("a\0b")).rejects.toMatchObject({ code: "invalid_request" });
    await expect(client.session("nobody").files.list()).rejects.toMatchObject({ code: "session_not_found" });
    rmSync(directory, { recursive: true });
    for (const call of [() => files.list(), () => files.read("x"), () => files.write("x", "y"), () => files.complete("x")])
      await expect(call()).rejects.toMatchObject({ code: "directory_not_found" });
  });

  it("show their names to all who see the session, and their contents to role operate; agents change none", async () => {
    const observer = as("observe").session(id).files;
    expect((await observer.list()).entries).toHaveLength(2);
    expect(await observer.complete("src")).not.toEqual([]);
    const forbidden = [
      () => observer.read("src/a.ts"),
      () => observer.search("needle"),
      () => observer.gitDiff(),
      () => observer.write("x", "y"),
    ];
    for (const call of forbidden) await expect(call()).rejects.toMatchObject({ code: "forbidden" });
    const { secret } = server.tokens.issueForAgent(id, { role: "operate", scope: { sessions: [id] } });
    const agent = client.with({ token: secret }).session(id).files;
    await expect(agent.write("x", "y")).rejects.toMatchObject({ code: "agent_forbidden" });
    await expect(agent.delete("src/a.ts")).rejects.toMatchObject({ code: "agent_forbidden" });
  });
});
