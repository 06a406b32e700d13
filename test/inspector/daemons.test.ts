/** Two daemons side by side in one inspector, in a real browser; and a hostile page that knows everything but may nothing. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser } from "../../scripts/browser.mjs";
import { Dragoman } from "../../src/client/index.ts";
import type { Config } from "../../src/daemon/config.ts";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { hasBrowser } from "./world.ts";

const directory = mkdtempSync(join(tmpdir(), "dragoman-daemons-"));
const received: IncomingMessage[] = [];
let [here, there]: Daemon[] = [];
let browser: Browser;
let page: Page;
let hostile: Server;
let stolen: string;

const listening = async (server: Server): Promise<number> => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  return (server.address() as AddressInfo).port;
};
/** Both must know the other's address before they start. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
const api = (daemon: Daemon | undefined): Dragoman => new Dragoman({ url: daemon?.url ?? "", token: daemon?.token ?? "" });
const linkOf = async (daemon: Daemon | undefined): Promise<string> => (await api(daemon).makeLink({ role: "operate" })).url;
const card = (): ReturnType<Page["locator"]> => page.getByRole("article", { name: new URL(there?.url ?? "").host });

beforeAll(async () => {
  if (!hasBrowser) return;
  const [own, other] = [await freePort(), await freePort()];
  const start = (name: string, port: number, config: Config): Promise<Daemon> =>
    startDaemon({ port, dataDir: join(directory, name), directory, config });
  here = await start("here", own, { daemons: [`http://127.0.0.1:${other}`] });
  there = await start("there", other, { allow_origins: [`http://127.0.0.1:${own}`] });
  await api(here).createSession({ agent: "mock", session_id: "near", title: "On this machine", directory });
  const far = await api(there).createSession({ agent: "mock", session_id: "far", title: "On the other machine", directory });
  await far.send("ask touch it");
  hostile = createServer((request, response) => {
    received.push(request);
    response
      .writeHead(200, { "content-type": "text/html", "access-control-allow-origin": "*" })
      .end("<!doctype html><title>hostile</title>");
  });
  await listening(hostile);
  browser = await launchBrowser();
  page = await (await browser.newContext()).newPage();
});

afterAll(async () => {
  await browser?.close();
  hostile?.closeAllConnections();
  hostile?.close();
  await Promise.all([here?.close(), there?.close()]);
  rmSync(directory, { recursive: true, force: true });
});

describe.skipIf(!hasBrowser)("several daemons in one inspector", () => {
  it("are signed in to by a link of each, and stand in one list with what waits", async () => {
    await page.goto(`${await linkOf(here)}&at=/daemons`);
    await card().getByText("not signed in").waitFor();
    const link = await linkOf(there);
    await page.getByLabel(/^Link of/).fill(link);
    await page.getByRole("button", { name: "Sign in" }).click();
    await card().getByText("connected").waitFor();
    const rows = page.getByRole("table", { name: "Sessions" }).getByRole("row");
    await rows
      .filter({ hasText: "On the other machine" })
      .filter({ hasText: new URL(there?.url ?? "").host })
      .waitFor();
    await rows.filter({ hasText: "On this machine" }).filter({ hasText: "this one" }).waitFor();
    const waiting = page.getByRole("table", { name: "Waiting for you" });
    await waiting.getByRole("link", { name: "On the other machine" }).waitFor();
    expect(await waiting.getByRole("link", { name: "On the other machine" }).getAttribute("href")).toBe(
      `${there?.url}/ui#/sessions/far`,
    );
  });

  it("are followed live, and stay signed in after a reload, without a cookie", async () => {
    await api(there).session("far").update({ title: "Renamed over there" });
    await page.getByRole("table", { name: "Sessions" }).getByText("Renamed over there").waitFor();
    await page.reload();
    await page.getByRole("table", { name: "Sessions" }).getByText("Renamed over there").waitFor();
    expect(await page.context().cookies()).toEqual([]);
    stolen = await page.evaluate(
      (url) => JSON.parse(localStorage.getItem(`dragoman.token ${url}`) ?? "{}").token,
      there?.url ?? "",
    );
    expect(stolen).toMatch(/^[\w-]{43}$/);
  });

  it("let their pages talk to the daemons that were named, and to nobody else", async () => {
    const elsewhere = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}/out`;
    const sent = await page.evaluate((url) => fetch(url).then(String, (error: Error) => error.name), elsewhere);
    expect(sent).toBe("TypeError");
    expect(received).toEqual([]);
  });

  it("give a hostile page nothing: not with a stolen token, not with a link", async () => {
    const link = await linkOf(there);
    const visited = await (await browser.newContext()).newPage();
    await visited.goto(`http://127.0.0.1:${(hostile.address() as AddressInfo).port}/`);
    const got = await visited.evaluate(
      async ({ url, token, link }) => {
        const attempt = (act: Promise<Response>): Promise<string> =>
          act.then(
            (answer) => answer.text(),
            (error: Error) => error.name,
          );
        const json = { "content-type": "application/json" };
        return {
          read: await attempt(fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } })),
          trade: await attempt(
            fetch(`${url}/v1/auth/page`, { method: "POST", headers: json, body: JSON.stringify({ token: link }) }),
          ),
          socket: await new Promise((resolve) => {
            const socket = new WebSocket(`${url.replace("http", "ws")}/v1/sessions/far/ws`, ["dragoman.v1", `token.${token}`]);
            socket.onopen = () => resolve("open");
            socket.onclose = () => resolve("closed");
          }),
        };
      },
      { url: there?.url ?? "", token: stolen, link: link.slice(link.indexOf("=") + 1) },
    );
    expect(got).toEqual({ read: "TypeError", trade: "TypeError", socket: "closed" });
    await visited.context().close();
    // The link was not used up by it.
    const mine = await (await browser.newContext()).newPage();
    await mine.goto(link);
    await mine.getByText("Renamed over there").first().waitFor();
    await mine.context().close();
  });

  it("are signed out of one by one: the token ends there", async () => {
    await card().getByRole("button", { name: "Sign out" }).click();
    await card().getByText("not signed in").waitFor();
    expect(await page.getByText("Renamed over there").count()).toBe(0);
    const kept = () => page.evaluate((url) => localStorage.getItem(`dragoman.token ${url}`), there?.url ?? "");
    expect(await kept()).toBeNull();
    const refused = async (): Promise<number> =>
      (await fetch(`${there?.url}/v1/sessions`, { headers: { authorization: `Bearer ${stolen}` } })).status;
    await expect.poll(refused).toBe(401);
  });

  it("are in no menu where no other daemon is named, and no more is a fleet", async () => {
    const other = await (await browser.newContext()).newPage();
    await other.goto(await linkOf(there));
    await other.getByRole("link", { name: "Settings" }).waitFor();
    expect(await other.getByRole("link", { name: "Daemons", exact: true }).count()).toBe(0);
    expect(await other.getByRole("link", { name: "Fleet", exact: true }).count()).toBe(0);
    await other.context().close();
  });
});
