import { describe, expect, it } from "vitest";
import type { NativeMessage } from "../../contract.ts";
import { forkPlace } from "./fork-place.ts";

async function* ledger(...rows: object[]): AsyncGenerator<NativeMessage> {
  for (const data of rows) yield { dir: "out", data };
}
const said = (uuid: string, parent: string | null = null) => ({ type: "assistant", uuid, parent_tool_use_id: parent });
const result = { type: "result" };

describe("the place of a fork in Claude Code's conversation", () => {
  it("is the last answer of the last whole turn; words of sub-agents and cut turns do not count", async () => {
    expect(await forkPlace(ledger())).toBeNull();
    expect(await forkPlace(ledger(said("a")))).toBeNull();
    expect(await forkPlace(ledger(said("a"), said("b"), said("x", "toolu_1"), result))).toBe("b");
    expect(await forkPlace(ledger(said("a"), result, said("b"), said("c")))).toBe("a");
  });
});
