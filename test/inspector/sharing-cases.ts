// Taking something out of a session: a copy, a file, a link for somebody else, a fork from an earlier place, a look at two side by side; and the page as an app.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { at, type World } from "./world.ts";

const act = async (page: Page, name: string): Promise<void> => {
  await page.getByRole("button", { name: "Session actions" }).click();
  await page.getByRole("menuitem", { name, exact: true }).click();
};
const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

export function sharingCases(world: World): void {
  it("copies a message and a link to it", async () => {
    const session = await world.session("Copied");
    await session.prompt("say some **words** to copy");
    const page = await world.window(at(session));
    const answer = page.getByRole("article", { name: "Agent" });
    await answer.hover();
    await answer.getByRole("button", { name: "Copy message" }).click();
    expect(await clipboard(page)).toBe("some **words** to copy");
    await answer.getByRole("button", { name: "Copy link" }).click();
    const link = await clipboard(page);
    expect(link).toMatch(new RegExp(`/ui#/sessions/${session.id}/\\d+$`));
    await page.goto(link);
    await page.getByText("As it stood at event").waitFor();
  });

  it("saves a session as Markdown and as HTML, with nothing in it that runs", async () => {
    const session = await world.session("Saved");
    await session.prompt("say Hello **bold** <script>alert(1)</script>");
    await session.prompt("edit");
    const page = await world.window(at(session));
    const saved = async (name: string): Promise<string> => {
      const file = page.waitForEvent("download");
      await act(page, name);
      return readFileSync(await (await file).path(), "utf8");
    };
    const markdown = await saved("Save as Markdown");
    expect(markdown).toMatch(/^# Saved\n/);
    expect(markdown).toContain("## Agent\n\nHello **bold**");
    expect(markdown).toContain("```diff\n");
    const html = await saved("Save as HTML");
    expect(html).toContain("<strong>bold</strong>");
    expect(html).not.toContain("<script");
    expect(html).toContain("default-src 'none'");
  });

  it("shares one session read-only by a link", async () => {
    const [shared, other] = [await world.session("Shared by link"), await world.session("Not shared")];
    await Promise.all([shared.prompt("say for your eyes"), other.prompt("say for mine")]);
    const page = await world.window(at(shared));
    await act(page, "Share read-only");
    const dialog = page.getByRole("dialog", { name: "Share read-only" });
    await dialog.getByRole("button", { name: "Make a link" }).click();
    const link = await dialog.getByLabel("Link", { exact: true }).inputValue();
    await page.keyboard.press("Escape");
    const guest = await world.otherWindow("/", { link });
    await guest.getByRole("article", { name: "Agent" }).getByText("for your eyes").waitFor();
    expect(await guest.getByLabel("Message", { exact: true }).count()).toBe(0);
    expect(await guest.locator("#session-list").getByText("Not shared").count()).toBe(0);
    await shared.prompt("say and this is new");
    await guest.getByRole("article", { name: "Agent" }).getByText("and this is new").waitFor();
  });

  it("says something differently where the agent can fork there, says so where it cannot, and tries a failed turn again", async () => {
    const session = await world.session("Differently");
    await session.prompt("say kept");
    await session.prompt("say regretted");
    const before = (await session.get()).last_sequence;
    const page = await world.window(at(session));
    const mine = page.getByRole("article", { name: "You" }).filter({ hasText: "say regretted" });
    await mine.hover();
    await mine.getByRole("button", { name: "Edit and resend" }).click();
    await page.getByLabel("Edited message").fill("say better");
    await page.getByRole("button", { name: "Send in a fork" }).click();
    const refused = page.getByRole("dialog", { name: "That did not work" });
    await refused.getByText("can only be forked at the end").waitFor();
    await page.keyboard.press("Escape");
    expect((await session.get()).last_sequence).toBe(before);
    const asked = page.getByRole("article", { name: "You" }).filter({ hasText: "say kept" });
    await asked.hover();
    await asked.getByRole("button", { name: "Edit and resend" }).click();
    await page.getByLabel("Edited message").fill("say better");
    await page.getByRole("button", { name: "Send in a fork" }).click();
    await page.getByRole("article", { name: "Agent" }).getByText("better").waitFor();
    expect(page.url()).not.toContain(session.id);
    expect((await session.get()).last_sequence).toBe(before);
    const failing = await world.session("Fails once");
    await failing.prompt("error api_error");
    const again = await world.window(at(failing));
    await again.getByRole("button", { name: "Try again" }).click();
    await again.locator(".turn-end").nth(1).waitFor();
    expect(await again.getByRole("article", { name: "You" }).allTextContents()).toEqual(["error api_error", "error api_error"]);
  });

  it("shows two sessions side by side", async () => {
    const [one, two] = [await world.session("Left one"), await world.session("Right one")];
    await Promise.all([one.prompt("say on the left"), two.prompt("say on the right")]);
    const page = await world.window(`/compare/${one.id}/${two.id}`);
    await page
      .getByRole("region", { name: "Left one" })
      .getByRole("article", { name: "Agent" })
      .getByText("on the left")
      .waitFor();
    const right = page.getByRole("region", { name: "Right one" });
    await right.getByRole("article", { name: "Agent" }).getByText("on the right").waitFor();
    await two.send("ask touch compared");
    await right.getByRole("button", { name: "Allow once" }).click();
    await right.getByRole("article", { name: "Agent" }).getByText("Thank you").waitFor();
  });

  it("shows who may only answer what waits, and nothing else", async () => {
    const session = await world.session("Answered elsewhere");
    await session.send("ask touch elsewhere");
    const page = await world.otherWindow("/", { role: "approve", narrow: true });
    await page.getByRole("heading", { name: "1 waiting for you" }).waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
    await page.getByRole("region", { name: "Answered elsewhere" }).getByRole("button", { name: "Allow once" }).click();
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await expect.poll(async () => (await session.get()).status).toBe("idle");
  });

  it("can be installed, and keeps nothing but its own files", async () => {
    const page = await world.otherWindow("/");
    await page.getByRole("heading", { name: "Every agent, one place" }).waitFor();
    const manifest = await page.evaluate(async () => {
      const href = document.querySelector<HTMLLinkElement>("link[rel=manifest]")?.href ?? "";
      return (await fetch(href)).json() as Promise<{ start_url: string; icons: { src: string; sizes: string }[] }>;
    });
    expect(manifest.start_url).toBe("/ui/");
    for (const { src } of manifest.icons) expect((await page.request.get(`${world.daemon.url}${src}`)).status()).toBe(200);
    await page.evaluate(async () => {
      while (!(await navigator.serviceWorker.getRegistration("/ui/"))?.active)
        await new Promise((resolve) => requestAnimationFrame(resolve));
    });
    await page.goto(`${world.daemon.url}/ui/`);
    await page.getByRole("heading", { name: "Every agent, one place" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Every agent, one place" }).waitFor();
    const kept = (): Promise<string[]> =>
      page.evaluate(async () => {
        const names = await caches.keys();
        const lists = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
        return lists.flat().map(({ url }) => new URL(url).pathname);
      });
    await expect.poll(async () => (await kept()).length, { timeout: 60_000 }).toBeGreaterThan(1);
    expect((await kept()).filter((path) => path !== "/ui/" && !path.startsWith("/ui/assets/"))).toEqual([]);
    // A browser whose store is full or broken opens the page all the same.
    const [worker] = page.context().serviceWorkers();
    if (!worker) throw new Error("there is no service worker");
    await worker.evaluate(() => {
      CacheStorage.prototype.open = () => Promise.reject(new Error("There is no space."));
    });
    await page.reload();
    await page.getByRole("heading", { name: "Every agent, one place" }).waitFor();
  });

  it("remembers settings, and signs out", async () => {
    const page = await world.otherWindow("/settings");
    await page.getByRole("button", { name: /^Theme:/ }).click();
    await page.getByRole("option", { name: "Dark" }).click();
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    await page.getByLabel("Default directory").fill(world.directory);
    await page.getByRole("link", { name: "dragoman", exact: true }).click();
    await page.getByRole("button", { name: new RegExp(`^Directory: ${world.directory.split("/").at(-1)}`) }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Not signed in" }).waitFor();
  });

  it("shows what was used by day, agent and directory", async () => {
    const session = await world.session("Used");
    await session.prompt("say hello");
    const page = await world.window("/usage");
    await page.getByRole("img", { name: /^Tokens: .* in 30 days/ }).waitFor();
    await page.getByRole("region", { name: "By agent" }).getByRole("cell", { name: "mock" }).waitFor();
    const legend = page.getByRole("list", { name: "Legend of Tokens" });
    expect((await legend.allTextContents()).join()).toContain("Mock agent");
    const chart = (await page.getByRole("img", { name: /^Tokens: / }).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.move(chart.x + chart.width - 30, chart.y + 60);
    await expect.poll(() => legend.getByRole("listitem").count()).toBe(2);
  });
}
