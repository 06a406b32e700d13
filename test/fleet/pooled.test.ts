/** Three nodes and a gateway whose database stands behind a real pgbouncer in transaction mode. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPooledPostgres, withoutPooler } from "../../src/log/postgres/test-pooler.ts";
import { checkStory, TestCluster, textOf } from "./test-cluster.ts";

describe.skipIf(withoutPooler())("a fleet behind a pooler in transaction mode", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.start(["a", "b", "c", "gateway"], await startPooledPostgres());
  });
  afterAll(() => cluster?.stop());

  it("sessions are driven through any node, moved, and taken over when their node dies", async () => {
    const ids = await Promise.all(["a", "b", "c", "a", "b", "c"].map((node) => cluster.create(node, "gateway")));
    const turn = async (id: string, no: number): Promise<void> => {
      const sent = await cluster.send("gateway", id, `say number ${no}`);
      expect(sent.status, await sent.clone().text()).toBe(202);
      await cluster.hasEvents("gateway", id, "turn.ended", no);
    };
    await Promise.all(ids.map((id) => turn(id, 1)));
    const [moved = ""] = ids;
    expect((await cluster.call("gateway", "POST", `/v1/sessions/${moved}/move`, { node: "b" })).status).toBe(202);
    await expect.poll(async () => (await cluster.view("gateway", moved)).node).toBe("b");
    await cluster.settled("gateway", ["a", "b", "c"]);
    await cluster.kill("b");
    await expect
      .poll(async () => {
        const views = await Promise.all(ids.map((id) => cluster.view("gateway", id)));
        return views.filter(({ node, reachable }) => node !== "b" && reachable).length;
      })
      .toBe(ids.length);
    await Promise.all(ids.map((id) => turn(id, 2)));
    for (const id of ids) {
      const events = await cluster.events("gateway", id);
      checkStory(events);
      expect(textOf(events)).toContain("number 2");
    }
    expect((await cluster.events("gateway", moved, "session.moved")).map(({ data }) => "reason" in data && data.reason)).toEqual([
      "move",
      "takeover",
    ]);
  });
});
