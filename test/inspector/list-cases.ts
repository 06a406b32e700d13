// Finding sessions again: pinned, tagged, archived, by what was said in them, and by the box that opens anything.
import { expect, it } from "vitest";
import { at, showOnly, type World } from "./world.ts";

export function listCases(world: World): void {
  it("says of each session what it asks or said last, not what was taken back", async () => {
    const lines = { question: "Which colour?", refuse: "I cannot help with that.", remove: "You: remove" };
    const page = await world.window("/");
    const sessions = await Promise.all(Object.keys(lines).map((act) => world.session(`Last line of ${act}`)));
    for (const [at, act] of Object.keys(lines).entries()) await sessions[at]?.send(act);
    const shown = (window: typeof page) =>
      Promise.all(
        Object.keys(lines).map((act) =>
          window
            .locator(".session-row", { hasText: `Last line of ${act}` })
            .locator(".session-line")
            .textContent(),
        ),
      );
    await expect.poll(() => shown(page)).toEqual(Object.values(lines));
    // As it came, and as it is read later.
    const other = await world.otherWindow("/");
    await expect.poll(() => shown(other)).toEqual(Object.values(lines));
    await sessions[0]?.interrupt();
  });

  it("pins, tags and archives a session, and takes it back", async () => {
    const session = await world.session("Filed session");
    const page = await world.window(at(session));
    await showOnly(page, "All");
    const act = async (name: string): Promise<void> => {
      await page.getByRole("button", { name: "Session actions" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await act("Pin");
    const pinned = page.locator('[data-group="Pinned"]');
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
    await showOnly(page, "Archived");
    await list.getByText("Filed session").waitFor();
    await act("Take out of the archive");
    await list.getByText("Filed session").waitFor({ state: "detached" });
    await showOnly(page, "All");
    await list.getByText("Filed session").waitFor();
  });

  it("leaves the focus in an open menu when the session behind it is there", async () => {
    const page = await world.window("/");
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/v1\/sessions\/slow-to-open(\?|\/snapshot|$)/, async (route) => {
      await released;
      await route.continue();
    });
    const { directory } = world;
    const session = await world.api.createSession({
      agent: "mock",
      session_id: "slow-to-open",
      title: "Slow to open",
      directory,
    });
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#${at(session)}`,
    );
    await page.getByRole("button", { name: "Filter and group" }).click();
    await page.getByRole("menuitemradio", { name: "All", exact: true }).waitFor();
    release();
    await page.getByLabel("Message", { exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.closest("[role=menu]") !== null)).toBe(true);
    await page.getByRole("menuitemradio", { name: "All", exact: true }).click();
    await page.unrouteAll();
  });

  it("shows in the list that a turn failed and why, until the next one", async () => {
    const session = await world.session("Failing session");
    const page = await world.window("/");
    await showOnly(page, "All");
    await session.prompt("error rate_limit");
    const row = page.locator(".session-item", { hasText: "Failing session" });
    await row.locator(".dot.failed").waitFor();
    const why = (await session.get()).last_error?.message ?? "no error";
    await row.getByText(why).waitFor();
    await page.reload();
    await row.getByText(why).waitFor();
    await session.prompt("say well again");
    await row.getByText("well again").waitFor();
    await row.locator(".dot.failed").waitFor({ state: "detached" });
  });

  it("shows the newest sessions while older ones are still read", async () => {
    await world.session("Newest session");
    const page = await world.otherWindow("/");
    let go = (): void => {};
    const later = new Promise<void>((resolve) => {
      go = resolve;
    });
    await page.route(
      (url) => url.pathname === "/v1/sessions",
      async (route) => {
        if (new URL(route.request().url()).searchParams.has("before")) {
          await later;
          return route.fulfill({ json: { sessions: [], next: null, unreadable: [] } });
        }
        const response = await route.fetch();
        return route.fulfill({ response, json: { ...(await response.json()), next: "the-next-page" } });
      },
    );
    await page.reload();
    await page.locator("#session-list").getByText("Newest session").waitFor();
    go();
    await page.unrouteAll({ behavior: "wait" });
    await page.close();
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
    const box = page.getByRole("combobox", { name: /Search sessions/ });
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

  it("offers what can be done with the open session, and a command before what was said", async () => {
    const session = await world.session("Palette commands");
    await session.prompt("say settings settings");
    const page = await world.window(at(session));
    await page.getByRole("heading", { name: "Palette commands" }).waitFor();
    const box = page.getByRole("combobox", { name: /Search sessions/ });
    await page.keyboard.press("Control+k");
    await box.fill("archive");
    await page.getByRole("option", { name: "Archive", selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Archived").waitFor();
    await page.locator(".session-facts").getByText("archived").waitFor();
    expect((await session.get()).archived).toBe(true);
    await page.keyboard.press("Control+k");
    await box.fill("settings");
    await page
      .getByRole("option", { name: /settings settings/ })
      .first()
      .waitFor();
    await page.getByRole("option", { name: "Settings", selected: true }).waitFor();
    await page.keyboard.press("Escape");
    await box.waitFor({ state: "detached" });
  });

  it("groups the list by directory", async () => {
    const session = await world.session("Grouped session");
    const page = await world.window(at(session));
    await showOnly(page, "All");
    await page.locator('[data-group="Today"]').getByText("Grouped session").waitFor();
    await showOnly(page, "Directory");
    const name = (await session.get()).directory.split("/").at(-1) ?? "";
    await page.locator(`[data-group="${name}"]`).getByText("Grouped session").waitFor();
    await showOnly(page, "Day");
  });

  it("answers what waits beside its row, and from the list of all that waits", async () => {
    const [one, two] = [await world.session("Beside the row"), await world.session("In the popover")];
    await Promise.all([one.send("ask touch row"), two.send("ask touch popover")]);
    const page = await world.window("/");
    await page.getByRole("button", { name: /^Answer Beside the row/ }).click();
    const beside = page.getByRole("dialog", { name: "Beside the row waits for you" });
    await beside.locator(".command", { hasText: "touch row" }).waitFor();
    await beside.getByRole("button", { name: "Allow once" }).click();
    await beside.waitFor({ state: "detached" });
    await expect.poll(async () => (await one.get()).status).toBe("idle");
    await page.getByRole("button", { name: "1 waiting for you", exact: true }).click();
    const all = page.getByRole("dialog", { name: "Waiting for you" });
    await all.getByRole("button", { name: "Reject" }).click();
    await expect.poll(async () => (await two.get()).status).toBe("idle");
    await page.locator("#session-list").getByText("You said no").first().waitFor();
  });

  it("shows all that runs with its last line as it comes, and answers it there", async () => {
    const [talking, asking] = [await world.session("Talks"), await world.session("Asks")];
    await talking.send("slow 600000 first words");
    await asking.send("ask touch overview");
    const page = await world.window("/");
    const overview = page.getByRole("region", { name: "Running now" });
    await overview.getByRole("article", { name: "Talks" }).getByText("first", { exact: true }).waitFor();
    const card = overview.getByRole("article", { name: "Asks" });
    await card.getByRole("button", { name: "Allow once" }).click();
    await card.waitFor({ state: "detached" });
    await talking.interrupt();
    await overview.getByRole("article", { name: "Talks" }).waitFor({ state: "detached" });
  });

  it("deals with several sessions at once", async () => {
    const made = [await world.session("Bulk one"), await world.session("Bulk two"), await world.session("Bulk three")];
    const page = await world.window("/");
    await page.getByLabel("Search sessions").fill("bulk");
    await page.getByRole("button", { name: "Filter and group" }).click();
    await page.getByRole("menuitem", { name: "Select several" }).click();
    await page.getByRole("checkbox", { name: "Select Bulk one" }).check();
    await page.getByRole("checkbox", { name: "Select Bulk three" }).click({ modifiers: ["Shift"] });
    const bar = page.getByRole("toolbar", { name: "Selected sessions" });
    await bar.getByText("3 chosen").waitFor();
    await bar.getByRole("button", { name: "Archive" }).click();
    await bar.waitFor({ state: "detached" });
    for (const session of made) expect((await session.get()).archived).toBe(true);
    await page.getByText("None matches.").waitFor();
    await page.getByLabel("Search sessions").fill("");
  });
}
