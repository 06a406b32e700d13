// The page of somebody who has no session and no agent yet: what was found, what can be installed, and a box that works at once.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeDir, temporaryDir } from "../daemon-process.ts";
import { hasBrowser, World } from "./world.ts";

describe.skipIf(!hasBrowser)("the first run", () => {
  // An empty PATH: no agent of the machine that runs the tests is found.
  const home = temporaryDir("first-run");
  const world = new World({}, { HOME: home, PATH: join(home, "bin") });
  beforeAll(() => world.start());
  afterAll(async () => {
    await world.stop();
    removeDir(home);
  });

  it("says that no agent was found, offers to install the known ones, and answers the first prompt", async () => {
    const page = await world.window("/");
    const found = page.getByRole("region", { name: "Agents of this machine" });
    await found.getByRole("heading", { name: "No agent was found on this machine" }).waitFor();
    for (const name of ["Claude Code", "Codex", "OpenCode"]) {
      const row = found.getByRole("listitem", { name, exact: true });
      await row.getByText("Not installed").waitFor();
      await row.getByRole("button", { name: /^Install/ }).waitFor();
    }
    await found.getByRole("button", { name: "More agents" }).click();
    await found.getByRole("button", { name: "More agents" }).waitFor({ state: "detached" });
    await page.getByLabel("What should be done?").fill("help");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Agent" }).getByText("I am the mock agent").waitFor();
    expect(world.faults).toEqual([]);
  });
});
