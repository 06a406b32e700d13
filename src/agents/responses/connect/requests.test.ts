/** What the loop asks a person, when the turn is interrupted at the worst moment. */
import { expect, it } from "vitest";
import type { Statement } from "../translate/wire.ts";
import { Requests, SessionPolicy } from "./requests.ts";

it("nobody is asked for a permission or an answer after an interrupt, and whoever asks goes on", async () => {
  const said: Statement[] = [];
  const abort = new AbortController();
  const speaker = { say: (statement: Statement) => void said.push(statement), told: () => {} };
  // The interrupt comes while the change is read that is to be shown.
  const diff = async (): Promise<null> => {
    abort.abort();
    return null;
  };
  const requests = new Requests(speaker, new SessionPolicy("/work", []), diff);
  const request = {
    ...{ call: "1", call_id: "c", tool: "edit", args: {}, input_digest: "d", reason: "edits are asked about" },
    subject: { kind: "edit", paths: ["/work/a"] } as const,
  };
  expect(await requests.ask(request, abort.signal)).toEqual({ decision: "deny", input_digest: "d" });
  expect(await requests.questions.ask([{ question: "Which?", options: [] }], abort.signal, null)).toBe(null);
  expect(said).toEqual([]);
});
