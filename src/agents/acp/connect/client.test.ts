import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LATER } from "../../../transports/index.ts";
import { AcpTranslator } from "../translate/translator.ts";
import { AcpClient, type ClientParts, type Policy } from "./client.ts";

let work: string;
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "acp-client-")));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** A client in a session that lets edits pass, and what it makes of a request for permission. */
function accepting(policy: Policy) {
  const translator = new AcpTranslator();
  const said = (data: object) => translator.translate({ dir: "out", data: { jsonrpc: "2.0", ...data } });
  const change: ClientParts["change"] = (id) => translator.change(id);
  const parts: Partial<ClientParts> = { policy: () => policy, reaches: () => true, directory: work, change, onPolicy: () => {} };
  const client = new AcpClient(parts as ClientParts);
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
  let id = 0;
  return {
    update: (update: object) => said({ method: "session/update", params: { sessionId: "s", update } }),
    ask: (toolCall: object): unknown => {
      const [method, params] = ["session/request_permission", { sessionId: "s", options, toolCall }];
      id += 1;
      said({ id, method, params });
      return client.handle(method, params, id, {} as never);
    },
  };
}

const allowed = { outcome: { outcome: "selected", optionId: "y" } };

it("[M1] accept_edits asks about a change that touches a file outside, though the request names one inside", () => {
  const client = accepting("edits");
  const inside = join(work, "a");
  const ask = (...content: object[]): unknown =>
    client.ask({ toolCallId: "c", kind: "edit", locations: [{ path: inside }], content });
  const move = (oldPath: string) => ({ type: "diff", changes: [{ operation: "move", oldPath, path: inside }] });
  expect(ask({ type: "diff", path: inside, oldText: "", newText: "x" })).toEqual(allowed);
  expect(ask(move(join(work, "b")))).toEqual(allowed);
  expect(ask({ type: "diff", path: "/etc/passwd", oldText: "", newText: "x" })).toBe(LATER);
  expect(ask(move("/etc/passwd"))).toBe(LATER);
});

it("[M1] a request that names a call alone is about what was said of that call before", () => {
  const client = accepting("edits");
  const call = (toolCallId: string, path: string) =>
    client.update({ sessionUpdate: "tool_call", toolCallId, title: "Edit", kind: "edit", locations: [{ path }] });
  call("inside", join(work, "a"));
  call("outside", "/etc/passwd");
  expect(client.ask({ toolCallId: "inside" })).toEqual(allowed);
  expect(client.ask({ toolCallId: "outside" })).toBe(LATER);
  expect(client.ask({ toolCallId: "nobody" })).toBe(LATER);
});

it.each([
  ["exit_plan_mode", "other", LATER],
  ["enter_plan_mode", "switch_mode", allowed],
])("[U19] %s of kind %s is known by its name", (name, kind, expected) => {
  expect(accepting("all").ask({ toolCallId: "c", title: "Plan", name, kind })).toEqual(expected);
});

it("[U19] a way out of plan mode is nobody's but a person's, also when the request does not repeat what it is", () => {
  const client = accepting("all");
  client.update({ sessionUpdate: "tool_call", toolCallId: "plan", title: "Ready?", kind: "switch_mode" });
  client.update({ sessionUpdate: "tool_call", toolCallId: "run", title: "ls", kind: "execute" });
  expect(client.ask({ toolCallId: "plan" })).toBe(LATER);
  expect(client.ask({ toolCallId: "run" })).toEqual(allowed);
});
