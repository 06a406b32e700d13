// A session of our own agent that gives work to child sessions: each page leads to the other ones, in a real browser.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerStream, sendStream, startEndpoint, type TestEndpoint } from "../../src/openresponses/test-endpoint.ts";
import { at, hasBrowser, World } from "./world.ts";

/** The page also asks which models there are, with an empty body. */
const isAnswered = (body: string): boolean => body.includes('"function_call_output"');

describe.skipIf(!hasBrowser)("parent and child sessions", () => {
  let endpoint: TestEndpoint;
  let world: World;
  beforeAll(async () => {
    const call = (prompt: string) => ({ call: "agent", args: { agent: "mock", prompt } });
    endpoint = await startEndpoint((response, { body }) =>
      sendStream(
        response,
        answerStream(isAnswered(body) ? [{ text: "All done." }] : [call("say first part"), call("say second part")]),
      ),
    );
    world = new World({}, { ...process.env, RESPONSES_ENDPOINT: endpoint.baseUrl, RESPONSES_MODEL: "m" });
    await world.start();
  });
  afterAll(async () => {
    await world.stop();
    await endpoint.close();
  });

  it("lead to each other", async () => {
    const { api, directory } = world;
    const parent = await api.createSession({ agent: "responses", directory, permission_mode: "bypass", title: "The whole work" });
    await parent.prompt("Go.");
    const page = await world.window(at(parent));
    await page.getByRole("button", { name: "2 child sessions" }).click();
    const links = page.getByRole("dialog", { name: "Child sessions" }).getByRole("link");
    expect(await links.count()).toBe(2);
    await links.filter({ hasText: "second part" }).click();
    await page.getByRole("article", { name: "Agent" }).getByText("second part").waitFor();
    await page.getByRole("link", { name: "Part of The whole work" }).click();
    await page.getByRole("button", { name: "2 child sessions" }).waitFor();
    expect(world.faults).toEqual([]);
  });
});
