/**
 * The fleet in the inspector: three real nodes on a real Postgres and a real browser, while one node is drained from the page and another is killed. With DRAGOMAN_FLEET_PICTURES the pages are photographed into that
 * folder: `fleet.png` is the picture of the docs.
 */
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser } from "../../scripts/browser.mjs";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { hasBrowser } from "../inspector/world.ts";
import { checkStory, TestCluster } from "./test-cluster.ts";

const PICTURES = process.env.DRAGOMAN_FLEET_PICTURES;
const TITLES = ["Fix the failing parser tests", "Ship release 2.4", "Colours for the new theme"];

describe.skipIf(!hasBrowser || withoutPostgres())("the fleet in the inspector", () => {
  let cluster: TestCluster;
  let browser: Browser;
  let page: Page;
  const ids: string[] = [];

  beforeAll(async () => {
    cluster = await TestCluster.start(["node-1", "node-2", "node-3"]);
    for (const [index, title] of TITLES.entries()) {
      const id = await cluster.create(`node-${index + 1}`, "node-3", { title });
      await cluster
        .client("node-3")
        .session(id)
        .prompt(`say I am on node ${index + 1}`);
      ids.push(id);
    }
    browser = await launchBrowser();
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1.25 });
    page = await context.newPage();
    await page.goto(`${(await cluster.client("node-3").makeLink({ role: "admin" })).url}&at=/fleet`);
  });
  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  const card = (name: string): Locator => page.getByRole("article", { name, exact: true });
  const picture = async (name: string): Promise<void> => {
    if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  };
  const filterBy = async (choice: string): Promise<void> => {
    await page.getByRole("button", { name: "Filter and group" }).click();
    await page.getByRole("menuitemradio", { name: choice, exact: true }).click();
    await page.keyboard.press("Escape");
  };
  const titles = async (): Promise<string[]> => {
    const shown = await Promise.all(TITLES.map((title) => page.getByRole("link", { name: title }).first().isVisible()));
    return TITLES.filter((_, index) => shown[index]);
  };

  it("shows every node with its state, its load and its labels", async () => {
    for (const name of ["node-1", "node-2", "node-3"]) {
      await card(name).locator("[data-state=up]").waitFor();
      await card(name).getByText("1 session owned").waitFor();
      await card(name).getByText(`name=${name}`).waitFor();
      expect(await card(name).getByRole("meter").getAttribute("value")).toMatch(/^[01]$/);
    }
    await card("node-3").getByText("answers here").waitFor();
  });

  it("limits the list of sessions to a node, and to the nodes with a label", async () => {
    await expect.poll(titles).toEqual(TITLES);
    await filterBy("node-2");
    await expect.poll(titles).toEqual([TITLES[1]]);
    await filterBy("name=node-1");
    await expect.poll(titles).toEqual([TITLES[0]]);
    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(titles).toEqual(TITLES);
  });

  it("drains a node, which gives its sessions away, and tells which went where", async () => {
    await card("node-2").getByRole("button", { name: "Drain…" }).click();
    await page.getByRole("button", { name: "Drain it" }).click();
    await card("node-2").locator("[data-state=draining]").waitFor();
    await card("node-2").getByText("0 sessions owned").waitFor();
    const news = page.getByRole("region", { name: "What happened" });
    await news.getByText("node-2 is draining").waitFor();
    await news
      .getByText(/moved to node-[13] from node-2 at #\d+/)
      .first()
      .waitFor();
    await picture("fleet");
    await card("node-2").getByRole("button", { name: "Take sessions again" }).click();
    await page.getByRole("button", { name: "Let it take sessions" }).click();
    await card("node-2").locator("[data-state=up]").waitFor();
  });

  it("goes on with the transcript of a session whose node is killed, and says who took it over", async () => {
    const [id = ""] = ids;
    await page
      .getByRole("link", { name: TITLES[0] ?? "" })
      .first()
      .click();
    await page.getByText("I am on node 1", { exact: true }).last().waitFor();
    await cluster.send("node-3", id, `slow 200 ${"one two three four five six seven eight ".repeat(40)}`);
    await page
      .getByText(/one two three four five/)
      .last()
      .waitFor();
    await cluster.kill("node-1");
    await page.getByText(/^Taken over by node-[23] from node-1 at #\d+$/).waitFor();
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("remember");
    await page.keyboard.press("Enter");
    await page
      .getByText(/I am on node 1/)
      .nth(2)
      .waitFor();
    await picture("taken-over");
    checkStory(await cluster.events("node-3", id));
    await page.goto(`${new URL(page.url()).origin}/ui#/fleet`);
    await card("node-1").locator("[data-state=fenced]").waitFor();
    await picture("fleet-after-kill");
  });
});
