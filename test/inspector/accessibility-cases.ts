// axe finds no serious fault in any main view, in both themes.
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { at, openDrawer, say, type World } from "./world.ts";

/** In the second theme only colours differ. */
export async function seriousFaults(page: Page, onlyColours: boolean): Promise<string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async (colours) => {
    const { axe: engine } = window as unknown as { axe: typeof axe };
    const some = colours ? { runOnly: ["color-contrast"] } : {};
    return (await engine.run(document, { resultTypes: ["violations"], ...some })).violations;
  }, onlyColours);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
}

/** The views of the drawer, and what is in each once it is there. */
const TABS = {
  Changes: ".checkpoints",
  Files: ".file-tree",
  Artifacts: ".tab-panel",
  Terminal: ".tab-panel",
  Native: ".native-row",
  Coverage: ".totals",
  State: ".tab-panel table",
  Charts: ".chart canvas",
  Requests: ".tab-panel",
  Timeline: "[data-sequence]",
};

export function accessibilityCases(world: World): void {
  it("can be used on a narrow screen: the list lies over the page, and nothing is wider than the window", async () => {
    const session = await world.session("Narrow");
    for (const act of ["shell npm test", "edit", `say ${"a-very-long-word".repeat(20)}`]) await session.prompt(act);
    const page = await world.otherWindow(at(session), { narrow: true });
    await page.locator(".turn-end").last().waitFor();
    const list = page.getByRole("navigation", { name: "Sessions" });
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
    expect(await list.isVisible()).toBe(false);
    expect(await fits()).toBe(true);
    await page.getByRole("button", { name: "Sessions" }).click();
    await list.waitFor();
    await page.mouse.click(380, 400);
    await list.waitFor({ state: "hidden" });
    await say(page, "say from a small screen");
    await page.getByRole("article", { name: "Agent" }).getByText("from a small screen").waitFor();
    await page.getByRole("button", { name: /the debugging drawer/ }).click();
    await page.locator("[data-sequence]").first().waitFor();
    expect(await page.locator(".drawer").boundingBox()).toMatchObject({ x: 0, width: 390 });
    expect(await fits()).toBe(true);
    await page.getByRole("button", { name: "Close the drawer" }).click();
    await page.getByRole("button", { name: "Sessions" }).click();
    await list.getByRole("link", { name: "Agents" }).click();
    await page.getByRole("article", { name: "Mock agent" }).waitFor();
    await list.waitFor({ state: "hidden" });
    expect(await fits()).toBe(true);
  });

  it.each([false, true])("has no serious fault (dark: %s)", async (dark) => {
    const session = await world.session("Accessible");
    for (const act of ["think hard", "edit", "plan", "fail", "steps", "error api_error"]) await session.prompt(act);
    await session.send("ask touch a");
    const page = await world.otherWindow(at(session), { dark });
    await page.locator(".request.permission").waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await openDrawer(page);
    for (const [name, shown] of Object.entries(TABS)) {
      await page.getByRole("tab", { name }).click();
      await page.locator(shown).first().waitFor();
      expect([name, await seriousFaults(page, dark)]).toEqual([name, []]);
    }
    await page.locator("[data-sequence]").first().waitFor();
    await page.locator("[data-sequence]").first().click();
    await page.locator(".event-detail .code-block").first().waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await page.keyboard.press("Alt+n");
    await page.getByRole("button", { name: /^Agent:/ }).click();
    await page.getByRole("option", { name: "Mock agent" }).waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Alt+g");
    await page.getByRole("article", { name: "Mock agent" }).waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /Search sessions/ }).waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "dragoman", exact: true }).click();
    await page.locator(".live-card .request").first().waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    for (const name of ["Usage", "Settings", "Skills"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name, level: 1 }).waitFor();
      expect(await seriousFaults(page, dark)).toEqual([]);
    }
    await session.terminate();
  });
}
