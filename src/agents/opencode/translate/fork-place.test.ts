import { describe, expect, it } from "vitest";
import type { NativeMessage } from "../../contract.ts";
import { forkPlace } from "./fork-place.ts";

async function* ledger(...rows: NativeMessage[]): AsyncGenerator<NativeMessage> {
  yield* rows;
}
const event = (type: string, properties: object): NativeMessage => ({ dir: "sse", data: { type, properties } });
const asked: NativeMessage = {
  dir: "http",
  data: { id: 1, phase: "request", method: "POST", path: "/session/ses_1/prompt_async", body: {} },
};
const message = (id: string, sessionID = "ses_1") => event("message.updated", { info: { id, sessionID } });
const idle = (sessionID = "ses_1") => event("session.idle", { sessionID });

describe("the place of a fork in a session of OpenCode", () => {
  it("is the last message of the last whole turn of the session's own", async () => {
    expect(await forkPlace(ledger(asked, message("msg_1")))).toBeNull();
    expect(
      await forkPlace(ledger(asked, message("msg_1"), message("msg_2"), message("msg_9", "ses_2"), idle("ses_2"), idle())),
    ).toBe("msg_2");
    expect(await forkPlace(ledger(asked, message("msg_1"), idle(), asked, message("msg_3")))).toBe("msg_1");
    const answer = (finish: string) =>
      event("message.updated", { info: { id: "msg_4", sessionID: "ses_1", role: "assistant", time: { completed: 2 }, finish } });
    expect(await forkPlace(ledger(asked, message("msg_1"), answer("stop"), asked, message("msg_5")))).toBe("msg_4");
    expect(await forkPlace(ledger(asked, message("msg_1"), answer("tool-calls")))).toBeNull();
  });
});
