// Who listens late: what waits for an answer is handed over to every listener once, whenever it came.
import { expect, it } from "vitest";
import type { UniversalEvent } from "../schema/event.ts";
import type { PermissionData } from "../schema/event-data.ts";
import type { SessionSnapshot } from "../schema/snapshot.ts";
import { SessionWatch } from "./session-watch.ts";

const permission = (permission_id: string): PermissionData => ({
  permission_id,
  action: "Run",
  status: "requested",
  metadata: { tool_name: "shell", input: {}, call_id: null, item_id: null, options: [] },
});

it("hands over what waits to a listener that comes when others listen already, and nothing that was answered", async () => {
  const answer = async (): Promise<void> => {};
  let read = (): void => {};
  const isRead = new Promise<void>((resolve) => {
    read = resolve;
  });
  const tell = (type: string, data: PermissionData): UniversalEvent => ({ type, data }) as UniversalEvent;
  const watch = new SessionWatch({
    ...{ replyPermission: answer, replyQuestion: answer, rejectQuestion: answer },
    snapshot: async () =>
      ({ sequence: 1, requests: [{ kind: "permission", data: permission("waits") }] }) as unknown as SessionSnapshot,
    async *events({ signal }) {
      yield tell("permission.requested", permission("asked"));
      yield tell("permission.requested", permission("answered"));
      yield tell("permission.resolved", permission("answered"));
      read();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  const first: string[] = [];
  const late: string[] = [];
  watch.on("permission", ({ permission_id }) => first.push(permission_id));
  watch.on("event", () => {});
  await isRead;
  watch.on("permission", ({ permission_id }) => late.push(permission_id));
  watch.on("permission", () => late.push("left"))();
  expect(late).toEqual([]);
  await Promise.resolve();
  expect(late).toEqual(["waits", "asked"]);
  expect(first).toEqual(["waits", "asked", "answered"]);
  watch.close();
});
