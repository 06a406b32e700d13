/** The fleet in the inspector, in a real browser: three real node processes on a real Postgres, one is drained, one is killed. The transcript goes on and shows who took it over. */
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser } from "../../scripts/browser.mjs";
import { startPostgres, type TestPostgres, withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import type { Session } from "../../src/schema/session.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { hasBrowser, say } from "./world.ts";

const home = realpathSync(temporaryDir("fleet-page"));
const shared = join(home, "shared");
const nodes = new Map<string, DaemonProcess>();
let postgres: TestPostgres | undefined;
let browser: Browser | undefined;
let page: Page;

const first = (): DaemonProcess["client"] => (nodes.get("node-1") as DaemonProcess).client;
const card = (node: string): ReturnType<Page["locator"]> => page.getByRole("article", { name: node });
const go = (hash: string): Promise<void> =>
  page.evaluate((next) => {
    location.hash = next;
  }, `#${hash}`);

async function startNode(id: string): Promise<void> {
  const dataDir = join(home, id);
  mkdirSync(dataDir);
  const args = ["--node-id", id, "--place", `${shared}=shared`, "--labels", `name=${id}`, "--lease", "3"];
  const env = {
    DRAGOMAN_CLUSTER: postgres?.url,
    DRAGOMAN_CLUSTER_SECRET: "a secret of the cluster, for tests only",
    DRAGOMAN_TOKEN: "a-token-for-tests-0123456789abcdef",
  };
  nodes.set(id, await startDaemonProcess(dataDir, args, env));
}

async function create(title: string, node: string, directory = shared): Promise<string> {
  const session = await first().createSession({
    agent: "mock",
    title,
    directory,
    trust: "trusted",
    node,
    env: { MOCK_AGENT_MEMORY: shared },
  });
  await session.prompt(`say ${title} began`);
  return session.id;
}

describe.skipIf(!hasBrowser || withoutPostgres())("the fleet in the inspector", () => {
  beforeAll(async () => {
    mkdirSync(shared);
    postgres = await startPostgres();
    for (const id of ["node-1", "node-2", "node-3"]) await startNode(id);
    browser = await launchBrowser();
    page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(`${(await first().makeLink({ role: "admin" })).url}&at=/`);
    await page.getByRole("link", { name: "Fleet" }).click();
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([...nodes.values()].map((node) => node.kill("SIGKILL")));
    await postgres?.stop();
    removeDir(home);
  });

  it("shows the nodes with their state, load, places and labels, and follows their load", async () => {
    for (const id of ["node-1", "node-2", "node-3"]) {
      await card(id).getByText("up", { exact: true }).waitFor();
      await card(id).getByText("shared").waitFor();
      await card(id).getByText(`name=${id}`).waitFor();
    }
    await card("node-1").getByText("answers here").waitFor();
    await create("given away", "node-2");
    await card("node-2").getByText("1 sessions owned").waitFor();
  });

  it("drains a node when that is confirmed; the transcript says where the session went, and goes on", async () => {
    const drained = (await first().sessions({ node: "node-2" })).sessions[0] as Session;
    await card("node-2").getByRole("button", { name: "Drain…" }).click();
    await page.getByText("Nothing is cut.").waitFor();
    await page.getByRole("button", { name: "Drain it" }).click();
    await card("node-2").getByText("draining").waitFor();
    await page
      .getByRole("region", { name: "What happened" })
      .getByText(/moved to node-[13]/)
      .waitFor();
    await go(`/sessions/${drained.session_id}`);
    await page.locator(".moved", { hasText: /^Moved to node-[13].* at #\d+$/ }).waitFor();
    await say(page, "say after the drain");
    await page.getByText("after the drain", { exact: true }).waitFor();
  });

  it("shows who took a session over when its node was killed, and what waits for that node", async () => {
    const alone = join(home, "alone");
    mkdirSync(alone);
    const [taken, waits] = [await create("taken over", "node-3"), await create("left alone", "node-3", alone)];
    await go(`/sessions/${taken}`);
    await page.getByText("taken over began", { exact: true }).waitFor();
    await nodes.get("node-3")?.kill("SIGKILL");
    // node-2 is draining: node-1 alone may take it.
    const badge = page.locator(".moved", { hasText: /^Taken over by node-1 from node-3 at #\d+$/ });
    await badge.waitFor();
    const at = Number(/#(\d+)/.exec((await badge.textContent()) ?? "")?.[1]);
    const { events } = await first().session(taken).page({ limit: 1_000 });
    expect(events.find(({ type }) => type === "session.moved")?.sequence).toBe(at);
    await say(page, "say after the death");
    await page.getByText("after the death", { exact: true }).waitFor();
    await go(`/sessions/${waits}`);
    await page.getByText("Waits for node-3.").waitFor();
    await go("/fleet");
    await card("node-3").getByText("fenced").waitFor();
    await page
      .getByRole("region", { name: "What happened" })
      .getByText(/taken over by node-1 from node-3/)
      .waitFor();
  });

  it("lists the sessions of one node", async () => {
    await page.getByRole("button", { name: "Filter and group" }).click();
    await page.getByRole("menuitemradio", { name: "node-1", exact: true }).click();
    await page.getByRole("menu").waitFor({ state: "detached" });
    const list = page.locator(".session-item");
    await list.getByText("taken over").first().waitFor();
    expect(await list.getByText("left alone").count()).toBe(0);
    await page.getByRole("button", { name: "Show all" }).click();
    await list.getByText("left alone").first().waitFor();
  });

  it("takes a drain back, and fences only when the node's name was typed", async () => {
    await card("node-2").getByRole("button", { name: "Take sessions again" }).click();
    await page.getByRole("button", { name: "Let it take sessions" }).click();
    await card("node-2").getByText("up", { exact: true }).waitFor();
    await card("node-2").getByRole("button", { name: "Fence…" }).click();
    const fence = page.getByRole("button", { name: "Fence it now" });
    expect(await fence.isDisabled()).toBe(true);
    await page.getByLabel("Type the node's name to confirm").fill("node-2");
    await fence.click();
    const news = page.getByRole("region", { name: "What happened" });
    await news.getByText("node-2 was fenced").first().waitFor();
    await news.getByText("node-2 joined the fleet").first().waitFor();
  });

  it("offers nothing of that to who is no admin", async () => {
    const other = await (browser as Browser).newPage();
    await other.goto(`${(await first().makeLink({ role: "observe" })).url}&at=/fleet`);
    await other.getByText("dragoman open --role admin").waitFor();
    expect(await other.getByRole("button", { name: "Drain…" }).count()).toBe(0);
    await other.close();
  });
});
