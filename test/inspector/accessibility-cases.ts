// axe finds no serious fault in any main view, in both themes.
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { at, openDrawer, type World } from "./world.ts";

/** In the second theme only colours differ. */
async function seriousFaults(page: Page, onlyColours: boolean): Promise<string[]> {
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

export function accessibilityCases(world: World): void {
  it.each([false, true])("has no serious fault (dark: %s)", async (dark) => {
    const session = await world.session("Accessible");
    for (const act of ["think hard", "edit", "plan", "fail", "steps", "error api_error"]) await session.prompt(act);
    await session.send("ask touch a");
    const page = await world.otherWindow(at(session), { dark });
    await page.locator(".request.permission").waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await openDrawer(page);
    await page.locator("[data-sequence]").first().waitFor();
    await page.locator("[data-sequence]").first().click();
    await page.locator(".event-detail .code-block").first().waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await page.keyboard.press("n");
    await page.getByRole("dialog").getByLabel("Mock agent").waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.getByRole("article", { name: "Mock agent" }).waitFor();
    expect(await seriousFaults(page, dark)).toEqual([]);
    await session.terminate();
  });
}
