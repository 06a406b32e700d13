// Long sessions, and a daemon that goes and comes back.
import { expect, it } from "vitest";
import { at, openDrawer, say, type World } from "./world.ts";

const EVENTS = 100_000;

export function robustnessCases(world: World): void {
  it("opens a session of 100 000 events from its end, and keeps only what is in sight", async () => {
    const session = await world.session("Long");
    await session.prompt(`flood ${EVENTS}`);
    await session.prompt("say the very end");
    expect((await session.get()).last_sequence).toBeGreaterThan(EVENTS);
    const page = await world.window("/");
    await page.locator("#session-list").getByRole("link", { name: /Long/ }).waitFor();
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      const kind = new RegExp(`/${session.id}/(snapshot|items|events)$`).exec(pathname)?.[1];
      // The drawer, when it is open, reads events of its own.
      // The list reads the last line of what is in sight.
      if (kind === "items" && searchParams.get("limit") === "6") return;
      if (kind === "events" && searchParams.get("order") === "desc") return;
      if (kind !== undefined && (kind !== "events" || searchParams.toString().includes("session.started"))) asked.push(kind);
    });
    await page.locator("#session-list").getByRole("link", { name: /Long/ }).click();
    await page.getByRole("article").getByText("the very end", { exact: true }).last().waitFor();
    // A page of items whose search came far back may be short: then the next one is asked for, too.
    expect(asked.slice(0, 2)).toEqual(["snapshot", "items"]);
    expect(asked.length).toBeLessThan(10);
    expect(await page.locator(".row").count()).toBeLessThan(60);
    await openDrawer(page);
    await page.locator("[data-sequence]").first().waitFor();
    await page.getByRole("button", { name: "Deltas" }).click();
    await page.locator(".event-list").evaluate((element) => element.scrollTo(0, 26 * 50_000));
    await page.locator('[data-sequence="50001"]').waitFor();
    expect(await page.locator(".event-line").count()).toBeLessThan(100);
    await page.locator(".scroller").evaluate((element) => element.scrollTo(0, 0));
    await expect.poll(() => page.getByRole("button", { name: "Latest" }).count()).toBe(1);
  });

  it("stays where the reader is, and follows the end only from there", async () => {
    const session = await world.session("Reading");
    await session.prompt("messages 60");
    const page = await world.window(at(session));
    await page.locator(".scroller").getByText("message 59", { exact: true }).waitFor();
    const scroller = page.locator(".scroller");
    await scroller.evaluate((element) => element.scrollTo(0, 0));
    await page.locator(".scroller").getByText("message 0", { exact: true }).waitFor();
    await session.prompt("say unseen news");
    await page.locator(".scroller").getByText("message 0", { exact: true }).waitFor();
    expect(await page.locator(".scroller").getByText("unseen news", { exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Latest" }).click();
    await page.locator(".scroller").getByText("unseen news", { exact: true }).waitFor();
    await session.prompt("messages 60");
    await session.prompt("say followed");
    await page.locator(".scroller").getByText("followed", { exact: true }).waitFor();
  });

  it("reconnects after the daemon restarted, says so, and misses nothing", async () => {
    const session = await world.session("Restart");
    const page = await world.window(at(session));
    await say(page, "say before");
    await page.getByRole("article", { name: "Agent" }).getByText("before").waitFor();
    const { port } = world.daemon;
    await world.daemon.close();
    await page.getByText("The daemon cannot be reached").waitFor();
    await say(page, "say nobody hears this");
    const fault = page.locator(".composer .notice.error");
    await fault.waitFor();
    await world.startDaemon(port);
    await world.api.session(session.id).prompt("say while you were away");
    await page.getByText("Connected again").waitFor();
    await fault.waitFor({ state: "detached" });
    await page.getByRole("article", { name: "Agent" }).getByText("while you were away").waitFor();
    await say(page, "say after");
    await page.getByRole("article", { name: "Agent" }).getByText("after", { exact: true }).waitFor();
    expect(await page.getByRole("article", { name: "Agent" }).count()).toBe(3);
  });
}
