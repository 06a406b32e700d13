// Finding sessions again: pinned, tagged, archived, by what was said in them, and by the box that opens anything.
import { expect, it } from "vitest";
import { at, type World } from "./world.ts";

export function listCases(world: World): void {
  it("pins, tags and archives a session, and takes it back", async () => {
    const session = await world.session("Filed session");
    const page = await world.window(at(session));
    await page.getByRole("button", { name: "All", exact: true }).click();
    const act = async (name: string): Promise<void> => {
      await page.getByRole("button", { name: "Session actions" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await act("Pin");
    const pinned = page.getByRole("region", { name: "Pinned" });
    await pinned.getByText("Filed session").waitFor();
    await act("Tags");
    await page.getByLabel("Tags, separated by commas").fill("review, customer-a, review");
    await page.getByRole("button", { name: "Save" }).click();
    await pinned.getByText("customer-a").waitFor();
    expect((await session.get()).tags).toEqual(["review", "customer-a"]);
    await page.getByLabel("Search sessions").fill("customer-a");
    await pinned.getByText("Filed session").waitFor();
    await page.getByLabel("Search sessions").fill("");
    await act("Unpin");
    await act("Archive");
    const list = page.locator("#session-list");
    await list.getByText("Filed session").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Archived" }).click();
    await list.getByText("Filed session").waitFor();
    await act("Take out of the archive");
    await list.getByText("Filed session").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "All", exact: true }).click();
    await list.getByText("Filed session").waitFor();
  });

  it("finds what was said in any session and shows the place", async () => {
    const session = await world.session("Night talk");
    await session.prompt("say the heliotrope blooms at night");
    await session.prompt("say something else entirely");
    const page = await world.window("/");
    const hits = page.getByRole("region", { name: "Found in conversations" });
    await page.getByLabel("Search sessions").fill("heliotrope blooms");
    const hit = hits.getByRole("link", { name: /the heliotrope blooms at night/ }).first();
    await hit.waitFor();
    expect(await hit.locator("mark").allTextContents()).toEqual(["heliotrope", "blooms"]);
    await hit.click();
    await page.getByText("As it stood at event").waitFor();
    await page.getByRole("article").getByText("heliotrope blooms").first().waitFor();
    expect(await page.getByRole("article").getByText("something else entirely").count()).toBe(0);
    await page.getByRole("button", { name: "Back to now" }).click();
    await page.getByRole("article", { name: "Agent" }).getByText("something else entirely").waitFor();
    await page.getByLabel("Search sessions").fill("");
  });

  it("opens anything from one box, by keyboard", async () => {
    const session = await world.session("Palette target");
    await session.prompt("say quite unmistakable words");
    const page = await world.window("/");
    const box = page.getByRole("combobox", { name: /Go to a session/ });
    await page.keyboard.press("Control+k");
    await box.fill("palette tar");
    await page.getByRole("option", { name: /Palette target/, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Palette target" }).waitFor();
    await page.keyboard.press("Control+k");
    await box.fill("unmistakable");
    const said = page.getByRole("option", { name: /quite unmistakable words/ }).first();
    await said.waitFor();
    while ((await said.getAttribute("aria-selected")) !== "true") await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByText("As it stood at event").waitFor();
    await page.keyboard.press("Control+k");
    await box.fill("agents");
    await page.getByRole("option", { name: "Agents", selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Agents" }).waitFor();
    await page.keyboard.press("Control+k");
    await box.waitFor();
    await page.keyboard.press("Escape");
    await box.waitFor({ state: "detached" });
  });

  it("groups the list by directory", async () => {
    const session = await world.session("Grouped session");
    const page = await world.window(at(session));
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("region", { name: "Today" }).getByText("Grouped session").waitFor();
    await page.getByLabel("Group by").selectOption("directory");
    const name = (await session.get()).directory.split("/").at(-1) ?? "";
    await page.getByRole("region", { name }).getByText("Grouped session").waitFor();
    await page.getByLabel("Group by").selectOption("day");
  });
}
