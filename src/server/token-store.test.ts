import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addressRange, FailureBackOff } from "./failure-back-off.ts";
import type { TokenRow, TokenTable } from "./shared-tokens.ts";
import type { Token } from "./token.ts";
import { TokenStore, type TokenStoreOptions } from "./token-store.ts";

let dataDir: string;
let time = 1_000_000;
const open = (more: Partial<TokenStoreOptions> = {}) => TokenStore.open({ dataDir, now: () => time, ...more });
const file = (name: string) => join(dataDir, name);
const rootOf = (store: TokenStore, role: "admin" | "observe" = "admin"): Token => {
  const root = store.find(store.secret(role));
  if (!root) throw new Error("the token must be known");
  return root;
};

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-tokens-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe("root tokens", () => {
  it("are made once, of 256 bits, readable by their owner only", () => {
    const store = open();
    for (const name of ["token", "token.observe"]) {
      expect(statSync(file(name)).mode & 0o777).toBe(0o600);
      expect(Buffer.from(readFileSync(file(name), "utf8").trim(), "base64url")).toHaveLength(32);
    }
    expect(open().secret("admin")).toBe(store.secret("admin"));
    expect(store.find(store.secret("admin"))).toMatchObject({ role: "admin", kind: "root", scope: null });
    expect(store.find(store.secret("observe"))?.role).toBe("observe");
    for (const wrong of ["", "x", store.secret("admin").slice(1), `${store.secret("admin")} `])
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

  it("a file that is replaced or gone is refused at once, and what was made from it too", () => {
    const store = open();
    const old = store.secret("admin");
    let told = 0;
    store.onRootChange = () => {
      told++;
    };
    const minted = store.mint(rootOf(store), { role: "operate", lifetimeMs: 60_000 });
    writeFileSync(file("token"), "a-token-of-another-kind\n");
    expect(store.find(old)).toBeUndefined();
    expect(store.find(minted.secret)).toBeUndefined();
    expect(store.alive(minted.token.id)).toBe(false);
    expect(store.find("a-token-of-another-kind")?.role).toBe("admin");
    expect(told).toBe(1);
    rmSync(file("token"));
    expect(store.find("a-token-of-another-kind")).toBeUndefined();
    expect(store.find("")).toBeUndefined();
  });

  it("rotation makes the old one worthless", () => {
    const store = open();
    const old = store.secret("admin");
    const fresh = store.rotate("admin");
    expect(store.find(old)).toBeUndefined();
    expect(store.find(fresh)?.role).toBe("admin");
    expect(statSync(file("token")).mode & 0o777).toBe(0o600);
  });

  it("of the user's own replace the file's, if they are long enough", () => {
    const store = open({ token: "my-very-own-token-1234" });
    expect(store.find("my-very-own-token-1234")?.role).toBe("admin");
    expect(store.find(readFileSync(file("token"), "utf8").trim())).toBeUndefined();
    expect(() => open({ token: "short" })).toThrow(/at least 16/);
  });

  it("without files, nothing on the disk is a token, not even one that lay there before", () => {
    const left = open().secret("observe");
    const store = open({ token: "my-very-own-token-1234", files: false });
    expect(store.find("my-very-own-token-1234")?.role).toBe("admin");
    expect(store.find(left)).toBeUndefined();
    rmSync(file("token"));
    rmSync(file("token.observe"));
    open({ token: "my-very-own-token-1234", files: false });
    expect(() => statSync(file("token"))).toThrow(/ENOENT/);
  });
});

describe("tokens made from others", () => {
  it("survive a restart, expire, and lie on the disk as hashes only", () => {
    const store = open();
    const { secret } = store.mint(rootOf(store), { role: "approve", lifetimeMs: 1_000, label: "ci" });
    expect(open().find(secret)).toMatchObject({ role: "approve", kind: "minted", label: "ci" });
    expect(readFileSync(file("tokens.json"), "utf8")).not.toContain(secret);
    expect(statSync(file("tokens.json")).mode & 0o777).toBe(0o600);
    time += 1_001;
    expect(store.find(secret)).toBeUndefined();
    writeFileSync(file("tokens.json"), "broken");
    expect(open().find(store.secret("admin"))?.role).toBe("admin");
  });

  it("never exceed their minter in role, scope or lifetime", () => {
    const store = open();
    const mint = (by: Token, role: Token["role"], scope: Token["scope"] = null, lifetimeMs = 10_000) =>
      store.mint(by, { role, scope, lifetimeMs, directories: new Map([["sess_in", "/work/app/sub"]]) });
    const parent = mint(rootOf(store), "operate", { directories: ["/work/app"], sessions: ["sess_a"] }).token;
    expect(() => mint(parent, "admin")).toThrow(/role operate cannot make/);
    expect(mint(parent, "observe").token.scope).toEqual(parent.scope);
    expect(mint(parent, "approve", { directories: ["/work/app/sub"], sessions: ["sess_a", "sess_in"] }).token.role).toBe(
      "approve",
    );
    for (const scope of [
      { directories: ["/work"] },
      { directories: ["/work/apple"] },
      { sessions: ["sess_b"] },
      { directories: ["sub"] },
    ])
      expect(() => mint(parent, "observe", scope)).toThrow(/cannot reach more/);
    const child = mint(parent, "observe", null, 99_000);
    expect(child.token.expires_at).toBe(parent.expires_at);
    expect(store.revoke(parent.id)).toBe(true);
    expect(store.find(child.secret)).toBeUndefined();
  });

  it("are refused over the quota, and nobody's is pushed out", () => {
    const store = open();
    const admin = rootOf(store);
    const first = store.mint(admin, { role: "operate", lifetimeMs: 10_000 });
    const observers = Array.from({ length: 30 }, () => store.mint(admin, { role: "observe", lifetimeMs: 10_000 }).token);
    let made = 0;
    let refused = 0;
    for (const by of [rootOf(store, "observe"), ...observers])
      for (let i = 0; i < 40; i++) {
        try {
          store.link(by, { role: "observe" });
          made++;
        } catch (error) {
          expect(error).toMatchObject({ code: "too_many_tokens" });
          refused++;
        }
      }
    expect([made, refused]).toEqual([500, 740]);
    expect(store.find(first.secret)).toBeDefined();
    for (let i = 31; i < 100; i++) store.mint(admin, { role: "operate", lifetimeMs: 10_000 });
    expect(() => store.mint(admin, { role: "operate", lifetimeMs: 10_000 })).toThrow(/token revoke/);
    expect(store.find(first.secret)).toBeDefined();
    time += 10_001;
    expect(store.mint(admin, { role: "operate", lifetimeMs: 10_000 }).token.role).toBe("operate");
  });

  it("can prolong themselves when they were made so, and only then", () => {
    const store = open();
    const { secret, token } = store.mint(rootOf(store), { role: "operate", lifetimeMs: 1_000, renewable: true, surface: "mcp" });
    for (let i = 0; i < 5; i++) {
      time += 900;
      expect(store.renew(token.id)).toBe(time + 1_000);
    }
    expect(store.find(secret)?.surface).toBe("mcp");
    expect(open().find(secret)?.expires_at).toBe(time + 1_000);
    time += 1_001;
    expect(store.find(secret)).toBeUndefined();
    expect(() => store.renew(token.id)).toThrow(/cannot be renewed/);
    const fixed = store.mint(rootOf(store), { role: "operate", lifetimeMs: 1_000 });
    expect(() => store.renew(fixed.token.id)).toThrow(/cannot be renewed/);
  });

  it("a link is traded once, within a minute, for a page that makes no further tokens", async () => {
    const store = open();
    const link = store.link(rootOf(store), { role: "operate" });
    const ended: string[] = [];
    store.onLinkEnd = (id) => void ended.push(id);
    const page = await store.trade(link.secret, "http://127.0.0.1:4700");
    expect(page?.token).toMatchObject({ kind: "page", role: "operate", surface: "inspector", origin: "http://127.0.0.1:4700" });
    expect(await store.trade(link.secret, undefined)).toBeUndefined();
    expect(ended).toEqual([link.token.id]);
    if (!page) throw new Error("the link must be good");
    expect(await store.trade(page.secret, undefined)).toBeUndefined();
    expect(() => store.link(page.token, { role: "observe" })).toThrow(/not those of pages/);
    const late = store.link(rootOf(store), { role: "operate" });
    time += 60_001;
    expect(await store.trade(late.secret, undefined)).toBeUndefined();
    expect(open().find(page.secret)?.kind).toBe("page");
  });

  it("of one link many ask at once, and one of them gets it", async () => {
    const store = open();
    const { secret } = store.link(rootOf(store), { role: "operate" });
    const pages = await Promise.all(Array.from({ length: 5 }, () => store.trade(secret, undefined)));
    expect(pages.filter((page) => page !== undefined).length).toBe(1);
  });

  it("a link is good also when its use is read from the table of all nodes before the node knows that it was its own", async () => {
    const rows: TokenRow[] = [];
    let look = async (): Promise<void> => {};
    const table: TokenTable = {
      since: async (version) => ({ version: rows.length, rows: rows.slice(version) }),
      put: async (more) => void rows.push(...more),
      take: async (id) => {
        rows.push({ id, body: null, expires_at: 0 });
        await look();
        return true;
      },
    };
    const store = open({ shared: { node: "a", table } });
    try {
      await store.look();
      const link = store.link(rootOf(store), { role: "operate" });
      await store.saved();
      look = () => store.look();
      expect((await store.trade(link.secret, undefined))?.token).toMatchObject({ kind: "page", role: "operate" });
      expect(store.find(link.secret)).toBeUndefined();
    } finally {
      store.close();
    }
  });

  it("never begins with a hyphen, so that it can be given as an option's value", () => {
    const store = open();
    const secrets = Array.from({ length: 600 }, (_, index) => {
      const id = `sess_${index}`;
      return store.issueForAgent(id, { role: "observe", scope: { sessions: [id] } }).secret;
    });
    expect(secrets.filter((secret) => secret.startsWith("-"))).toEqual([]);
  });

  it("of an agent name their session, make nothing, and end with the daemon", () => {
    const store = open();
    const { secret, token } = store.issueForAgent("sess_a", { role: "observe", scope: { sessions: ["sess_a"] } });
    expect(store.find(secret)).toMatchObject({ kind: "agent", session_id: "sess_a", surface: "agent" });
    expect(() => store.mint(token, { role: "observe", lifetimeMs: 1_000 })).toThrow(/agents/);
    expect(open().find(secret)).toBeUndefined();
    expect(store.revoke(token.id)).toBe(true);
    expect(store.find(secret)).toBeUndefined();
  });
});

describe("the back-off", () => {
  it("lets wrong tokens wait longer with each guess, up to a minute, by address range and by beginning of the token", () => {
    let now = 0;
    const backOff = new FailureBackOff(() => now);
    for (let i = 0; i < 10; i++) expect(backOff.failed("1.2.3.4", `${i}-guess`)).toBe(0);
    expect(backOff.failed("1.2.3.99", "another")).toBe(2_000);
    expect(backOff.failed("1.2.3.4", "a third")).toBe(4_000);
    for (let i = 0; i < 20; i++) backOff.failed("1.2.3.4", `${i}-more`);
    expect(backOff.failed("1.2.3.4", "the last")).toBe(60_000);
    expect(backOff.failed("1.2.4.4", "else")).toBe(0);
    // The same beginning from ever other addresses is one search too.
    for (let i = 0; i < 12; i++) backOff.failed(`10.0.${i}.1`, `AAAA${i}`);
    expect(backOff.failed("10.1.1.1", "AAAAxyz")).toBeGreaterThan(0);
    now += 16 * 60_000;
    expect(backOff.failed("1.2.3.4", "afresh")).toBe(0);
  });

  it("does not count the same wrong token again", () => {
    const backOff = new FailureBackOff(() => 0);
    for (let i = 0; i < 100; i++) expect(backOff.failed("::1", "of a forgotten tab")).toBe(0);
  });

  it("sees addresses that one party can choose among as one", () => {
    const same = (...addresses: (string | undefined)[]) => expect(new Set(addresses.map(addressRange)).size).toBe(1);
    same("127.0.0.1", "127.0.0.2", "127.9.9.9", "::1", "::ffff:127.0.0.1", undefined);
    same("192.168.1.7", "192.168.1.250", "::ffff:192.168.1.9");
    same("2001:db8:1:2::1", "2001:0db8:0001:0002:ffff::9");
    expect(addressRange("192.168.2.7")).not.toBe(addressRange("192.168.1.7"));
    expect(addressRange("2001:db8:1:3::1")).not.toBe(addressRange("2001:db8:1:2::1"));
  });
});
