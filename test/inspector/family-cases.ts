/** A session whose agent starts another one for a part of its work, and the way from one to the other and back. */
import { expect, it } from "vitest";
import { answerStream, sendStream, startEndpoint } from "../../src/openresponses/test-endpoint.ts";
import { at, type World } from "./world.ts";

type Input = { type?: string };

export function familyCases(world: World): void {
  it("leads from a session to the one its agent started, and back", async () => {
    const endpoint = await startEndpoint((response, { body }) => {
      const input = (JSON.parse(body) as { input: Input[] }).input;
      const back = input.some(({ type }) => type === "function_call_output");
      const call = { call: "agent", args: { agent: "mock", prompt: "say Greetings from afar" } };
      sendStream(response, answerStream([back ? { text: "All done." } : call]));
    });
    try {
      const parent = await world.api.createSession({
        agent: "responses",
        title: "The one that gives work on",
        directory: world.directory,
        permission_mode: "bypass",
        env: { RESPONSES_ENDPOINT: endpoint.baseUrl, RESPONSES_MODEL: "m" },
      });
      const page = await world.window(at(parent));
      await parent.prompt("Go.");
      const { sessions } = await world.api.sessions({ ended: "include" });
      const child = sessions.find(({ parent_session_id }) => parent_session_id === parent.id);
      await page.getByRole("link", { name: /^started / }).click();
      await page.getByRole("article", { name: "Agent" }).getByText("Greetings from afar").waitFor();
      expect(page.url()).toContain(`/sessions/${child?.session_id}`);
      await page.getByRole("link", { name: "part of The one that gives work on" }).click();
      await page.getByRole("article", { name: "Agent" }).getByText("All done.").waitFor();
    } finally {
      await endpoint.close();
    }
  });
}
