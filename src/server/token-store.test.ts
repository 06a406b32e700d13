import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FailureBackOff } from "./failure-back-off.ts";
import { TokenStore } from "./token-store.ts";

let dataDir: string;
let time = 1_000_000;
const open = (token?: string) => TokenStore.open({ dataDir, now: () => time, ...(token === undefined ? {} : { token }) });
const file = (name: string) => join(dataDir, name);

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-tokens-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe("tokens", () => {
  it("are made once, of 256 bits, readable by their owner only", () => {
    const store = open();
    for (const name of ["token", "token.observe"]) {
      expect(statSync(file(name)).mode & 0o777).toBe(0o600);
      expect(Buffer.from(readFileSync(file(name), "utf8").trim(), "base64url")).toHaveLength(32);
    }
    expect(open().secret("operate")).toBe(store.secret("operate"));
    expect(store.find(store.secret("operate"))?.role).toBe("operate");
    expect(store.find(store.secret("observe"))?.role).toBe("observe");
    for (const wrong of ["", "x", store.secret("operate").slice(1), `${store.secret("operate")} `])
      expect(store.find(wrong)).toBeUndefined();
  });

  it("files that others may read are closed to them; an empty one is made anew", () => {
    open();
    chmodSync(file("token"), 0o644);
    writeFileSync(file("token.observe"), "");
    const store = open();
    expect(statSync(file("token")).mode & 0o777).toBe(0o600);
    expect(store.secret("observe").length).toBeGreaterThan(40);
  });

  it("a file that is replaced or gone is refused at once, and what was minted from it too", () => {
    const store = open();
    const old = store.secret("operate");
    const root = store.find(old);
    if (!root) throw new Error("the token must be known");
    const minted = store.mint(root, "operate", 60_000);
    writeFileSync(file("token"), "a-token-of-another-kind\n");
    expect(store.find(old)).toBeUndefined();
    expect(store.find(minted.secret)).toBeUndefined();
    expect(store.alive(minted.token.id)).toBe(false);
    expect(store.find("a-token-of-another-kind")?.role).toBe("operate");
    rmSync(file("token"));
    expect(store.find("a-token-of-another-kind")).toBeUndefined();
    expect(store.find("")).toBeUndefined();
  });

  it("rotation makes the old one worthless", () => {
    const store = open();
    const old = store.secret("operate");
    const fresh = store.rotate("operate");
    expect(store.find(old)).toBeUndefined();
    expect(store.find(fresh)?.role).toBe("operate");
    expect(statSync(file("token")).mode & 0o777).toBe(0o600);
  });

  it("of the user's own replace the file's, if they are long enough", () => {
    const store = open("my-very-own-token-1234");
    expect(store.find("my-very-own-token-1234")?.role).toBe("operate");
    expect(store.find(readFileSync(file("token"), "utf8").trim())).toBeUndefined();
    expect(() => open("short")).toThrow(/at least 16/);
  });

  it("minted ones survive a restart, expire, and lie on the disk as hashes only", () => {
    const store = open();
    const root = store.find(store.secret("observe"));
    if (!root) throw new Error("the token must be known");
    const { secret } = store.mint(root, "observe", 1_000);
    expect(() => store.mint(root, "operate", 1_000)).toThrow(/observe/);
    expect(open().find(secret)?.role).toBe("observe");
    expect(readFileSync(file("tokens.json"), "utf8")).not.toContain(secret);
    expect(statSync(file("tokens.json")).mode & 0o777).toBe(0o600);
    time += 1_001;
    expect(store.find(secret)).toBeUndefined();
    writeFileSync(file("tokens.json"), "broken");
    expect(open().find(store.secret("operate"))?.role).toBe("operate");
  });
});

describe("the back-off", () => {
  it("blocks an address longer with each guess, up to a minute, and no other address", () => {
    let now = 0;
    const backOff = new FailureBackOff(() => now);
    const guess = (n: number) => backOff.failed("1.2.3.4", `guess ${n}`);
    for (let i = 0; i < 9; i++) guess(i);
    expect(backOff.wait("1.2.3.4")).toBe(0);
    guess(9);
    expect(backOff.wait("1.2.3.4")).toBe(1_000);
    now = 1_000;
    expect(backOff.wait("1.2.3.4")).toBe(0);
    guess(10);
    expect(backOff.wait("1.2.3.4")).toBe(2_000);
    for (let i = 11; i < 40; i++) guess(i);
    expect(backOff.wait("1.2.3.4")).toBe(60_000);
    expect(backOff.wait("1.2.3.5")).toBe(0);
    now += 16 * 60_000;
    guess(41);
    expect(backOff.wait("1.2.3.4")).toBe(0);
  });
});
