// The documentation in a real browser: found, copied, tried; and readable for everybody.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { seriousFaults } from "./accessibility-cases.ts";
import { hasBrowser, World } from "./world.ts";

describe.skipIf(!hasBrowser)("the documentation", () => {
  const world = new World();
  beforeAll(() => world.start());
  afterAll(() => world.stop());
  afterEach(async () => {
    await world.closeOthers();
    expect(world.faults.splice(0)).toEqual([]);
  });
  const open = async (path: string, dark = false) => {
    const page = await world.otherWindow("/", { dark });
    // Signed in: the docs use the token that the inspector keeps.
    await page
      .getByRole("button", { name: /^New session/ })
      .first()
      .waitFor();
    await page.goto(`${world.daemon.url}${path}`);
    return page;
  };

  it("finds a section by its words, with the keyboard alone", async () => {
    const page = await open("/docs");
    await page.keyboard.press("/");
    await page.keyboard.type("trusting directory");
    await page.getByRole("option", { name: /Trusting a directory/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/quickstart\.html#trusting-a-directory$/);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("nothing is called like this");
    await page.getByText("Nothing found.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("listbox").waitFor({ state: "hidden" });
  });

  it("copies a block of code", async () => {
    const page = await open("/docs/quickstart.html");
    const block = page.locator(".code").first();
    await block.hover();
    await block.getByRole("button", { name: "Copy" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await block.locator("code").textContent());
  });

  it("tries a request with the inspector's own token, and shows what came", async () => {
    const session = await world.session("Tried from the docs");
    const page = await open("/docs/api");
    const operation = page.locator("article#getSession");
    await operation.getByRole("button", { name: "Try it" }).click();
    await operation.getByLabel("id (path)").fill(session.id);
    await operation.getByRole("button", { name: "Send GET" }).click();
    await operation.getByText(/^200 /).waitFor();
    await operation.getByText('"title": "Tried from the docs"').waitFor();
    const created = page.locator("article#createSession");
    await created.getByRole("button", { name: "Try it" }).click();
    await created
      .getByLabel("Body")
      .fill(JSON.stringify({ agent: "mock", title: "Made in the docs", directory: world.directory }));
    await created.getByRole("button", { name: "Send POST" }).click();
    await created.getByText(/^201 /).waitFor();
    expect((await world.api.sessions({ search: "Made in the docs" })).sessions).toHaveLength(1);
  });

  it.each([false, true])("has no serious fault (dark: %s)", async (dark) => {
    for (const path of ["/docs", "/docs/quickstart.html", "/docs/architecture.html", "/docs/api"]) {
      const page = await open(path, dark);
      await page.getByRole("combobox", { name: "Search the docs" }).waitFor();
      expect([path, await seriousFaults(page, dark)]).toEqual([path, []]);
      await page.setViewportSize({ width: 390, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    }
  });
});
