// Which answers are sent, and when.
import { describe, expect, it } from "vitest";
import { PermissionAnswers } from "./permission-answers.ts";

/** Two requests of one session and one of its sub-agent are open. */
function three() {
  const answers = new PermissionAnswers();
  const sent: string[] = [];
  for (const [id, session] of [
    ["one", "s"],
    ["two", "s"],
    ["sub", "child"],
  ] as const)
    answers.asked(id, session);
  const give = (id: string, session: string, rejects: boolean) =>
    answers.give(id, session, { rejects, send: async () => void sent.push(id) });
  return { answers, sent, give };
}

describe("answers to requests for permission", () => {
  it("a rejection waits for the other requests of its session, and not for those of a sub-agent", async () => {
    const { sent, give } = three();
    await give("one", "s", true);
    await give("sub", "child", true);
    expect(sent).toEqual(["sub"]);
    await give("two", "s", false);
    await expect.poll(() => sent).toEqual(["sub", "two", "one"]);
  });

  it("two rejections are both sent, in order, when nothing else is open", async () => {
    const { sent, give } = three();
    await give("two", "s", true);
    await give("one", "s", true);
    await expect.poll(() => sent).toEqual(["one", "two"]);
  });

  it("what another client answered is waited for no longer", async () => {
    const { answers, sent, give } = three();
    await give("one", "s", true);
    answers.settled("s", "two");
    await expect.poll(() => sent).toEqual(["one"]);
  });

  it("a session that is idle waits for nothing: a rejection that was kept is forgotten", async () => {
    const { answers, sent, give } = three();
    await give("one", "s", true);
    answers.settled("s", null);
    answers.asked("later", "s");
    await give("later", "s", false);
    expect(sent).toEqual(["later"]);
  });
});
