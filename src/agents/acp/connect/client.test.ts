import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LATER } from "../../../transports/index.ts";
import { AcpClient, type ClientParts } from "./client.ts";

let work: string;
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), "acp-client-")));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

it("[M1] accept_edits asks about a change that touches a file outside, though the request names one inside", () => {
  const parts: Partial<ClientParts> = { policy: () => "edits", reaches: () => true, directory: work, onPolicy: () => {} };
  const client = new AcpClient(parts as ClientParts);
  const inside = join(work, "a");
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
  const ask = (...content: object[]): unknown => {
    const toolCall = { toolCallId: "c", kind: "edit", locations: [{ path: inside }], content };
    return client.handle("session/request_permission", { sessionId: "s", options, toolCall }, 0, {} as never);
  };
  const move = (oldPath: string) => ({ type: "diff", changes: [{ operation: "move", oldPath, path: inside }] });
  const allowed = { outcome: { outcome: "selected", optionId: "y" } };
  expect(ask({ type: "diff", path: inside, oldText: "", newText: "x" })).toEqual(allowed);
  expect(ask(move(join(work, "b")))).toEqual(allowed);
  expect(ask({ type: "diff", path: "/etc/passwd", oldText: "", newText: "x" })).toBe(LATER);
  expect(ask(move("/etc/passwd"))).toBe(LATER);
});
