// What people see is where it belongs: nothing is cut off, nothing covers another thing, at any width.
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { at, openDrawer, say, type World } from "./world.ts";

const boxOf = async (element: Locator): Promise<{ left: number; right: number; top: number; height: number }> =>
  element.evaluate((node) => {
    const { left, right, top, height } = node.getBoundingClientRect();
    return { left, right, top, height };
  });

export function layoutCases(world: World): void {
  it("draws no characters as another one, in prose either", async () => {
    const page = await world.window("/");
    const [together, apart] = await page.evaluate(() =>
      ["--> ->", "-\u200c-\u200c> -\u200c>"].map((text) => {
        const line = document.body.appendChild(Object.assign(document.createElement("span"), { textContent: text }));
        const { width } = line.getBoundingClientRect();
        line.remove();
        return width;
      }),
    );
    expect(together).toBe(apart);
  });

  it("draws ended sessions like the others", async () => {
    const [ended, idle] = [await world.session("Ended row"), await world.session("Idle row")];
    await ended.prompt("say bye");
    await ended.terminate();
    const page = await world.otherWindow(at(ended));
    await page.locator('[data-status="ended"]', { hasText: "ended" }).waitFor();
    const row = (title: string) => page.locator("#session-list a", { hasText: title });
    expect((await boxOf(row("Ended row"))).height).toBe((await boxOf(row("Idle row"))).height);
    const [dot, title] = [await boxOf(row("Ended row").locator(".dot")), await boxOf(row("Ended row").locator(".session-title"))];
    expect(dot.right).toBeLessThanOrEqual(title.left);
    const tag = page.locator(".session-head .status-tag");
    expect(await tag.evaluate((node) => node.scrollWidth <= node.clientWidth + 1)).toBe(true);
    await page.getByRole("button", { name: "Fork it to continue" }).click();
    await page.getByRole("link", { name: "forked from Ended row" }).waitFor();
    await idle.terminate();
  });

  it("keeps the menu of commands inside the window", async () => {
    const session = await world.session("Many commands");
    await session.prompt("facts 60");
    const page = await world.window(at(session));
    const field = page.getByLabel("Message", { exact: true });
    await field.waitFor();
    await expect
      .poll(async () => {
        await field.fill("/");
        return page.getByRole("option").count();
      })
      .toBeGreaterThan(50);
    const menu = await boxOf(page.getByRole("listbox", { name: "Commands" }));
    expect(menu.top).toBeGreaterThanOrEqual(0);
    expect(menu.height).toBeLessThanOrEqual(360);
    const heights = await page.getByRole("option").evaluateAll((list) => list.map((each) => each.clientHeight));
    expect(Math.max(...heights)).toBeLessThan(40);
    await page.keyboard.press("ArrowUp");
    const last = page.getByRole("option").last();
    await expect.poll(() => last.evaluate((node) => node.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await field.fill("");
  });

  it("shows the counts of the coverage table at the drawer's first width", async () => {
    const session = await world.session("Coverage width");
    await session.prompt("facts");
    const page = await world.otherWindow(at(session));
    await openDrawer(page);
    await page.getByRole("tab", { name: "Coverage" }).click();
    const drawer = await boxOf(page.locator(".drawer"));
    const cell = await boxOf(page.locator(".facts td.number").first());
    expect(cell.right).toBeLessThanOrEqual(drawer.right);
  });

  it("on a tablet: a list to choose from lies above the drawer, and what sends stays in the row of the chips", async () => {
    const session = await world.session("Tablet");
    await session.prompt("facts");
    const page = await world.otherWindow(at(session));
    await openDrawer(page);
    const [chips, send] = [page.locator(".composer .settings"), page.getByRole("button", { name: "Send", exact: true })];
    await send.waitFor();
    await expect.poll(async () => (await boxOf(send)).left >= (await boxOf(chips)).right - 3).toBe(true);
    await page.setViewportSize({ width: 1024, height: 800 });
    // Two columns: the list makes room, and the drawer covers nothing.
    await page.getByRole("navigation", { name: "Sessions" }).waitFor({ state: "hidden" });
    const [session_, drawer] = [await boxOf(page.locator(".session-page")), await boxOf(page.locator(".drawer"))];
    expect(session_.right).toBeLessThanOrEqual(drawer.left + 1);
    await page.getByRole("button", { name: /^Event type:/ }).click();
    await page.locator('[role=option][data-value="item.completed"]').click();
    await page.getByRole("button", { name: "Event type: item.completed" }).waitFor();
  });

  it("begins on a phone with the box to write in, and the list a touch away", async () => {
    const session = await world.session("On a phone");
    await session.send("ask touch a");
    const page = await world.otherWindow("/", { narrow: true });
    const list = page.getByRole("navigation", { name: "Sessions" });
    await page.getByLabel("What should be done?").waitFor();
    expect(await list.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    await page.getByRole("button", { name: "Sessions" }).click();
    await list.getByText("On a phone").waitFor();
    await session.terminate();
  });

  it("fits a phone", async () => {
    const session = await world.session("Narrow");
    await session.send("options");
    const page = await world.otherWindow(at(session), { narrow: true });
    const card = page.locator(".request.permission");
    await card.waitFor();
    const edge = (await boxOf(card)).right;
    for (const button of await card.getByRole("button").all()) expect((await boxOf(button)).right).toBeLessThanOrEqual(edge);
    for (const select of await page.locator(".composer select").all())
      expect((await boxOf(select)).right).toBeLessThanOrEqual(390);
    await openDrawer(page);
    for (const tab of await page.getByRole("tab").all()) {
      await tab.click();
      const { left, right } = await boxOf(tab);
      expect([left >= 0, right <= 390]).toEqual([true, true]);
    }
    await session.terminate();
  });

  it("keeps the event that is replayed or chosen in sight", async () => {
    const session = await world.session("In sight");
    await session.prompt("messages 60");
    const page = await world.window(at(session));
    await openDrawer(page);
    await page.locator("[data-sequence]").first().waitFor();
    await page.getByLabel("Replay to sequence").fill("5");
    await page.locator('[data-sequence="5"]').waitFor();
    await page.getByRole("button", { name: "Back to now" }).click();
    const last = page.locator(".event-line").last();
    await page.locator(".event-list").evaluate((node) => node.scrollTo(0, node.scrollHeight));
    await last.click();
    const sequence = await page.locator(".event-line.chosen").getAttribute("data-sequence");
    await page.getByRole("region", { name: `Event ${sequence}` }).waitFor();
    const inside = () =>
      page.locator(`.event-line[data-sequence="${sequence}"]`).evaluate((node) => {
        const list = node.closest(".event-list")?.getBoundingClientRect();
        return list !== undefined && node.getBoundingClientRect().bottom <= list.bottom + 1;
      });
    await expect.poll(inside).toBe(true);
    await page.getByRole("button", { name: "Close the event" }).click();
  });

  it("shows reasoning without the marks of Markdown, and private reasoning only when it is opened", async () => {
    const session = await world.session("Reasoning");
    const page = await world.window(at(session));
    await say(page, "think **Deciding** what `to` do");
    const preview = page.locator(".reasoning .fold-preview").first();
    await expect.poll(() => preview.textContent()).toContain("Deciding what to do");
  });

  it("asks for no report that does not exist", async () => {
    const page = await world.otherWindow("/agents");
    const missing: string[] = [];
    page.on("response", (response) => response.status() >= 400 && missing.push(response.url()));
    await page.reload();
    await page.getByRole("article", { name: "Mock agent" }).waitFor();
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("button", { name: "Refresh" }).waitFor();
    expect(missing).toEqual([]);
  });
}
