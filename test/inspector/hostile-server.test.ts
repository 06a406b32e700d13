/** A person opens the inspector and then a hostile server on another port of this machine, in a real browser. It must get no credential and reach nothing. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser } from "../../scripts/browser.mjs";
import { Dragoman } from "../../src/client/index.ts";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { hasBrowser } from "./world.ts";

/** A page on a busy machine is late by seconds; half of this is left to renew it. */
const LIFETIME_MS = 12_000;

const directory = mkdtempSync(join(tmpdir(), "dragoman-hostile-"));
const received: IncomingMessage[] = [];
let daemon: Daemon;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let hostile: Server;
let port: number;
let token: string;

/** The page of the hostile server; what its script tried and got stands in `window.got`. */
const attack = (target: string): string => `<!doctype html><title>hostile</title><script>
window.got = { cookie: document.cookie, storage: JSON.stringify(localStorage) };
const attempt = async (name, act) => { try { window.got[name] = String(await act()).slice(0, 300); } catch (error) { window.got[name] = "failed: " + error.name; } };
const opened = (frame) => new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 1500); });
window.done = (async () => {
  await attempt("fetch", async () => (await fetch("${target}/v1/sessions", { credentials: "include" })).text());
  await attempt("opaque", async () => { const r = await fetch("${target}/v1/sessions", { mode: "no-cors", credentials: "include" }); return r.status + await r.text(); });
  await attempt("post", async () => { const r = await fetch("${target}/v1/sessions", { method: "POST", mode: "no-cors", credentials: "include", headers: { "content-type": "text/plain" }, body: JSON.stringify({ agent: "mock" }) }); return r.status; });
  await attempt("socket", () => new Promise((resolve) => { const ws = new WebSocket("${target.replace("http", "ws")}/v1/sessions/watched/ws"); ws.onopen = () => resolve("open"); ws.onmessage = (e) => resolve("message " + e.data); ws.onclose = () => resolve("closed"); }));
  await attempt("frame", async () => { const frame = document.createElement("iframe"); frame.src = "${target}/ui"; document.body.append(frame); await opened(frame); return JSON.stringify(frame.contentWindow.localStorage); });
  await attempt("popup", async () => { const child = window.open("${target}/ui"); await new Promise((resolve) => setTimeout(resolve, 500)); return child.closed + " " + child.localStorage?.length + " " + child.location.href; });
  await attempt("image", () => new Promise((resolve) => { const image = new Image(); image.onload = () => resolve("loaded"); image.onerror = () => resolve("refused"); image.src = "${target}/ui/icon.svg"; }));
})();
</script><body><a id="back" href="${target}/ui">to the inspector</a></body>`;

beforeAll(async () => {
  if (!hasBrowser) return;
  daemon = await startDaemon({
    port: 0,
    dataDir: join(directory, "data"),
    directory,
    config: { times: { page_token_ms: LIFETIME_MS } },
  });
  hostile = createServer((request, response) => {
    received.push(request);
    const [, path = ""] = (request.url ?? "").split("/");
    if (path.startsWith("redirect")) return response.writeHead(302, { location: `${daemon.url}/ui` }).end();
    const target = path === "localhost" ? daemon.url.replace("127.0.0.1", "localhost") : daemon.url;
    response.writeHead(200, { "content-type": "text/html", "access-control-allow-origin": "*" }).end(attack(target));
  }).listen(0, "0.0.0.0");
  await new Promise((resolve) => hostile.once("listening", resolve));
  port = (hostile.address() as AddressInfo).port;
  browser = await launchBrowser();
  context = await browser.newContext();
  page = await context.newPage();
  await page.goto(daemon.makeLink().url);
  await page.getByRole("heading", { name: "Every agent, one place" }).waitFor();
  const api = new Dragoman({ url: daemon.url, token: daemon.token });
  await api.createSession({ agent: "mock", session_id: "watched", title: "Watched", directory });
  token = (await held(page)).token;
});

afterAll(async () => {
  await browser?.close();
  hostile?.closeAllConnections();
  hostile?.close();
  await daemon?.close();
  rmSync(directory, { recursive: true, force: true });
});

const held = (tab: Page): Promise<{ token: string; expires_at: string }> =>
  tab.evaluate(() => JSON.parse(localStorage.getItem("dragoman.token") ?? "{}"));

/** Everything the hostile server was ever sent. */
const sentToHostile = (): string => JSON.stringify(received.map(({ method, url, headers }) => ({ method, url, headers })));

describe.skipIf(!hasBrowser)("the inspector's credential", () => {
  it("is no cookie, and stands in no address; the link's own token is gone from the address and the disk", async () => {
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(await context.cookies()).toEqual([]);
    expect(page.url()).toBe(`${daemon.url}/ui#/`);
    expect(
      await page.evaluate(() =>
        performance
          .getEntries()
          .map(({ name }) => name)
          .join(" "),
      ),
    ).not.toContain(token);
    expect(readdirSync(daemon.dataDir).filter((name) => name.startsWith("open-"))).toEqual([]);
  });

  it.each(["127.0.0.1", "localhost"])("is not sent to another port of %s, and its page reaches nothing", async (host) => {
    const visited = await context.newPage();
    for (const target of ["127.0.0.1", "localhost"]) {
      await visited.goto(`http://${host}:${port}/${target}`);
      await visited.evaluate("window.done");
      const got = (await visited.evaluate("window.got")) as Record<string, string>;
      expect(got).toMatchObject({ cookie: "", storage: "{}", fetch: "failed: TypeError" });
      expect(got.opaque).not.toContain("watched");
      expect(got.socket).toBe("closed");
      expect(got.frame).toMatch(/^failed: (SecurityError|TypeError)/);
      expect(got.popup).toMatch(/^failed|^true undefined/);
      expect(got.image).toBe("refused");
      expect(JSON.stringify(got)).not.toContain(token);
    }
    await visited.close();
    for (const tab of context.pages()) if (tab !== page) await tab.close();
    expect(sentToHostile()).not.toContain(token);
    expect(sentToHostile()).not.toContain(daemon.token);
    expect(received.filter(({ headers }) => headers.cookie !== undefined || headers.authorization !== undefined)).toEqual([]);
    const { sessions } = await new Dragoman({ url: daemon.url, token: daemon.token }).sessions();
    expect(sessions.map(({ session_id }) => session_id)).toEqual(["watched"]);
  });

  it("is not sent by a link that the person follows out of the inspector, nor by a redirect back", async () => {
    const tab = await context.newPage();
    await tab.goto(`${daemon.url}/ui`);
    await tab.getByText("Watched").first().waitFor();
    const before = received.length;
    await tab.evaluate((address) => {
      const link = document.createElement("a");
      link.href = address;
      link.click();
    }, `http://127.0.0.1:${port}/127.0.0.1`);
    await tab.waitForURL(`http://127.0.0.1:${port}/**`);
    expect(received[before]?.headers).not.toHaveProperty("referer");
    await tab.goto(`http://localhost:${port}/redirect`);
    await tab.getByText("Watched").first().waitFor();
    expect(tab.url()).toMatch(new RegExp(`^${daemon.url}/ui`));
    expect(sentToHostile()).not.toContain(token);
    await tab.close();
  });

  it("goes on in a second tab, after a reload, and past its lifetime by renewal, with the stream it opened", async () => {
    const second = await context.newPage();
    const streams: string[] = [];
    await second.goto(`${daemon.url}/ui`);
    await second.getByText("Watched").first().waitFor();
    await second.reload();
    await second.getByText("Watched").first().waitFor();
    second.on("request", (request) => void (request.url().includes("/events/sse") && streams.push(request.url())));
    const first = Date.parse((await held(second)).expires_at);
    await expect.poll(async () => Date.parse((await held(second)).expires_at)).toBeGreaterThan(first + 2 * LIFETIME_MS);
    await new Dragoman({ url: daemon.url, token: daemon.token }).session("watched").update({ title: "Watched still" });
    await second.getByText("Watched still").first().waitFor();
    await page.getByText("Watched still").first().waitFor();
    expect((await held(second)).token).toBe(token);
    expect(streams).toEqual([]);
    await second.close();
  });

  it("is refused after it was ended, in every tab; a used link says how to get another", async () => {
    const link = daemon.makeLink();
    const other = await browser.newContext();
    const tab = await other.newPage();
    await tab.goto(link.url);
    await tab.getByText("Watched still").first().waitFor();
    const again = await (await browser.newContext()).newPage();
    await again.goto(link.url);
    await again.getByRole("heading", { name: "Not signed in" }).waitFor();
    await again.getByText("The link was used, or is older than a minute").waitFor();
    await again.getByText("dragoman open").first().waitFor();
    const api = new Dragoman({ url: daemon.url, token: daemon.token });
    for (const { kind, token_id } of await api.tokens()) if (kind === "page") await api.revokeToken(token_id);
    await tab.getByRole("heading", { name: "Not signed in" }).waitFor();
    await page.getByRole("heading", { name: "Not signed in" }).waitFor();
    expect(await held(page)).toEqual({});
  });
});
