// What the agent says and does, as a reader sees it.
import { expect, it } from "vitest";
import { at, choose, say, type World } from "./world.ts";

export function transcriptCases(world: World): void {
  it("shows how a very long message begins and ends, with the whole of it a click away", async () => {
    const session = await world.session("Very long");
    const text = `say ${"word ".repeat(80_000)}`;
    await session.prompt(text);
    const page = await world.window(at(session));
    const mine = page.getByRole("article", { name: "You" });
    await mine.getByText("characters left out").waitFor();
    const path = await mine.getByRole("link", { name: /^Whole text/ }).getAttribute("href");
    const whole = await fetch(`${world.daemon.url}${path}`, { headers: { authorization: `Bearer ${world.daemon.token}` } });
    expect(await whole.text()).toBe(text);
  });

  it("makes a session from one box, and shows the message at once and the answer when it comes", async () => {
    const page = await world.window("/");
    const box = page.getByRole("region", { name: "New session" });
    await choose(page, box.getByRole("button", { name: /^Agent:/ }), "mock");
    await box.getByRole("button", { name: /^Directory:/ }).click();
    await page.getByRole("combobox", { name: "Path on the daemon's machine" }).fill(world.directory);
    await page
      .getByRole("option", { name: new RegExp(world.directory) })
      .first()
      .click();
    await choose(page, box.getByRole("button", { name: /^Model:/ }), "mock-1");
    await choose(page, box.getByRole("button", { name: /^Variant:/ }), "high");
    await box.getByRole("button", { name: "More options" }).click();
    await page.getByLabel("Title").fill("Made by hand");
    await page.getByRole("button", { name: "Done" }).click();
    // The daemon takes its time: the message stands there all the same.
    let arrived = (): void => {};
    const held = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    await page.route(/\/messages$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel("What should be done?").fill("say Hello **bold** `code` world");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Made by hand" }).waitFor();
    await page.getByRole("article", { name: "You" }).getByText("say Hello").waitFor();
    await page.locator(".working", { hasText: /\d+ s/ }).waitFor();
    arrived();
    expect(page.url()).not.toContain("token");
    const answer = page.getByRole("article", { name: "Agent" });
    await answer.locator("strong", { hasText: "bold" }).waitFor();
    expect(await answer.locator(".markdown").textContent()).toBe("Hello bold code world");
    await page.locator(".turn-end", { hasText: "Done" }).waitFor();
    await page.locator(".working").waitFor({ state: "detached" });
    expect(await page.getByRole("article", { name: "You" }).count()).toBe(1);
    await page.unroute(/\/messages$/);
    const row = page.getByRole("navigation").getByRole("link", { name: /Made by hand/ });
    expect(await row.getAttribute("aria-current")).toBe("page");
    const [created] = (await world.api.sessions({ search: "Made by hand" })).sessions;
    expect(created).toMatchObject({ agent: "mock", model: "mock-1", variant: "high" });
  });

  it("shows a message once, also when its events come before the daemon's answer", async () => {
    const session = await world.session("Answered late");
    const page = await world.window(at(session));
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/messages$/, async (route) => {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    await say(page, "say only once");
    await page.locator(".turn-end", { hasText: "Done" }).waitFor();
    await page.locator(".outgoing").waitFor({ state: "detached" });
    expect(await page.getByRole("article", { name: "You" }).getByText("say only once").count()).toBe(1);
    answer();
    await page.unrouteAll({ behavior: "wait" });
    expect(await page.getByRole("article", { name: "You" }).getByText("say only once").count()).toBe(1);
  });

  it("calls a session by its first message until somebody names it", async () => {
    const session = await world.api.createSession({ agent: "mock", directory: world.directory });
    const page = await world.window(at(session));
    await page.getByRole("heading", { name: "New session" }).waitFor();
    await say(page, "say the first words of all\nand more");
    await page.getByRole("heading", { name: "say the first words of all" }).waitFor();
    expect((await session.get()).title).toBe("say the first words of all");
    await say(page, "say second");
    await page.getByRole("article", { name: "Agent" }).getByText("second").waitFor();
    expect((await session.get()).title).toBe("say the first words of all");
    await session.update({ title: "Named" });
    await page.getByRole("heading", { name: "Named" }).waitFor();
  });

  it("shows deltas before the message is complete", async () => {
    const session = await world.session("Deltas");
    const page = await world.window(at(session));
    await say(page, "slow 600000 alpha omega");
    const answer = page.getByRole("article", { name: "Agent" });
    await answer.getByText("alpha").waitFor();
    expect(await answer.textContent()).not.toContain("omega");
    await page.locator('[data-status="running"]').waitFor();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.locator(".turn-end", { hasText: "Interrupted" }).waitFor();
  });

  it("shows tools with arguments, output, exit and duration, and diffs", async () => {
    const session = await world.session("Tools");
    for (const act of ["shell npm test", "fail", "edit"]) await session.prompt(act);
    const page = await world.window(at(session));
    const good = page.locator(".tool", { hasText: "npm test" });
    await good.getByRole("button", { name: /npm test/ }).click();
    await good.locator(".output", { hasText: "second line" }).waitFor();
    expect(await good.textContent()).toContain("12 ms");
    const bad = page.locator(".tool.bad");
    expect(await bad.textContent()).toContain("exit 3");
    await page.locator(".diff-code-insert", { hasText: "hello world" }).waitFor();
    expect(await page.locator(".diff-code-delete").textContent()).toBe("hello");
    expect(await page.locator(".tool", { hasText: "Edited" }).locator(".diff-counts").first().textContent()).toBe("+1 −1");
  });

  it("folds reasoning and shows plans", async () => {
    const session = await world.session("Thoughts");
    await session.prompt("think about everything");
    await session.prompt("plan");
    const page = await world.window(at(session));
    const fold = page.getByRole("button", { name: /Thought/ });
    expect(await fold.getAttribute("aria-expanded")).toBe("false");
    await fold.click();
    await page.locator(".reasoning .markdown", { hasText: "about everything" }).waitFor();
    await page.locator(".plan li.completed").nth(2).waitFor();
    expect(await page.locator(".plan").textContent()).toContain("3 of 3");
  });

  it("nests a sub-agent's work under its call, collapsible", async () => {
    const session = await world.session("Nested");
    await session.prompt("subagent");
    const page = await world.window(at(session));
    const toggle = page.getByRole("button", { name: /Show sub-agent/ });
    await toggle.waitFor();
    expect(await page.getByText("I am the sub-agent.").count()).toBe(0);
    await toggle.click();
    await page.locator(".indent-1", { hasText: "I am the sub-agent." }).waitFor();
    await page.locator(".indent-1 .tool", { hasText: "find ." }).waitFor();
    await page.getByRole("button", { name: /Hide sub-agent/ }).click();
    await page.getByText("I am the sub-agent.").waitFor({ state: "detached" });
  });

  it("shows every other kind of part and event", async () => {
    const session = await world.session("Everything");
    for (const act of ["parts", "steps", "remove", "facts", "refuse", "garbage"]) await session.prompt(act);
    const page = await world.window(at(session));
    await page.locator(".line", { hasText: "not understood" }).first().waitFor();
    await page.locator(".refusal", { hasText: "I cannot help" }).waitFor();
    await page.locator(".scroller").evaluate((element) => element.scrollTo(0, 0));
    const image = page.getByAltText("From the session");
    await image.waitFor();
    expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(2);
    await page.locator(".code-block", { hasText: "answer = 42" }).waitFor();
    expect(await page.getByText("Step ended").count()).toBe(0);
    await page.getByRole("button", { name: /Removed: rolled back/ }).click();
    await page.getByText("Forget this.").waitFor();
    await page.locator(".compacted", { hasText: "200 tokens" }).waitFor();
  });

  it("shows errors with their canonical code and advice", async () => {
    const session = await world.session("Faulty");
    const page = await world.window(at(session));
    await say(page, "error rate_limit");
    const error = page.getByRole("alert").filter({ hasText: "rate_limit" });
    await error.waitFor();
    expect(await error.textContent()).toContain("Wait for the limit to reset");
    await page.locator(".turn-end", { hasText: "Ended by an error" }).waitFor();
  });

  it("shows how an agent died, and resumes its session", async () => {
    const session = await world.session("Crashing");
    const page = await world.window(at(session));
    await say(page, "crash 3");
    const error = page.locator(".error-row");
    await error.getByText("mock: crashing as asked").waitFor();
    expect(await error.textContent()).toContain("exit 3");
    await page.locator('[data-status="dormant"]').waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.locator('[data-status="idle"]').waitFor();
    await say(page, "say back again");
    await page.getByRole("article", { name: "Agent" }).getByText("back again").waitFor();
  });

  it("renders hostile text as text", async () => {
    const session = await world.session("Hostile");
    const text =
      "Look: <script>window.owned=1</script> <img src=x onerror=window.owned=1> ![pixel](http://203.0.113.1/p.png) [bad](javascript:window.owned=1) [good](https://example.com/)";
    await session.prompt(`say ${text}`);
    const page = await world.window(at(session));
    const answer = page.getByRole("article", { name: "Agent" });
    await answer.getByText("image not loaded: pixel").waitFor();
    expect(await answer.textContent()).toContain("<script>window.owned=1</script> <img src=x onerror=window.owned=1>");
    const link = answer.getByRole("link");
    expect(await link.count()).toBe(1);
    expect(await link.getAttribute("rel")).toContain("noopener");
    expect(await answer.locator("img, script").count()).toBe(0);
    expect(await page.evaluate(() => "owned" in window)).toBe(false);
  });
}
