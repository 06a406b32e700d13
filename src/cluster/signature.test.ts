import { expect, it } from "vitest";
import { hashOf, NodeSecret, SeenRequests, WINDOW_MS } from "./signature.ts";

const secret = new NodeSecret("a".repeat(32));
const message = { from: "a", to: "b", caller: JSON.stringify({ role: "observe" }), bodyHash: hashOf("{}") };
const now = 1_000_000;
const path = "/internal/v1/forward/v1/sessions/s1/messages";
const signed = () => ({ method: "POST", path, headers: secret.sign("POST", path, message, now) });

it("a request of a node is read by the node it is for", () => {
  expect(secret.read(signed(), "b", now + 1_000, new SeenRequests())).toEqual(message);
});

it("a caller that may reach a hundred directories fits into what a node takes of headers", () => {
  const directories = Array.from({ length: 100 }, (_, index) => `/repos/${"a long name ".repeat(30)}/${index}`);
  const caller = JSON.stringify({ role: "operate", scope: { directories } });
  const headers = secret.sign("POST", path, { ...message, caller }, now);
  expect(Object.entries(headers).join("").length).toBeLessThan(16 * 1024);
  expect(secret.read({ method: "POST", path, headers }, "b", now, new SeenRequests())?.caller).toBe(caller);
});

it.each([
  ["another secret", signed(), "b", now, new NodeSecret("b".repeat(32))],
  ["another node", signed(), "c", now, secret],
  ["a minute later", signed(), "b", now + WINDOW_MS + 1, secret],
  ["a clock that is far behind", signed(), "b", now - WINDOW_MS - 1, secret],
  ["another method", { ...signed(), method: "DELETE" }, "b", now, secret],
  ["another path", { ...signed(), path: `${path}/stream` }, "b", now, secret],
  ["no signature", { ...signed(), headers: {} }, "b", now, secret],
])("is refused: %s", (_, request, me, at, by) => {
  expect(by.read(request, me, at, new SeenRequests())).toBeNull();
});

it.each(["x-dragoman-caller", "x-dragoman-body", "x-dragoman-time", "x-dragoman-from", "x-dragoman-once"])(
  "%s cannot be changed",
  (name) => {
    const caller = Buffer.from(JSON.stringify({ role: "admin" })).toString("base64url");
    const request = signed();
    expect(
      secret.read(
        { ...request, headers: { ...request.headers, [name]: name.endsWith("time") ? "1000001" : caller } },
        "b",
        now,
        new SeenRequests(),
      ),
    ).toBeNull();
  },
);

it("a secret that can be guessed is refused", () => {
  expect(() => new NodeSecret("short")).toThrow("at least 32");
});

it("[O13] is taken once, for as long as its time would let it in", () => {
  const seen = new SeenRequests();
  const request = signed();
  expect(secret.read(request, "b", now, seen)).toEqual(message);
  for (const at of [now, now + 1_000, now + WINDOW_MS]) expect(secret.read(request, "b", at, seen)).toBeNull();
  // A clock that is ahead: what it signs is good for nearly two windows.
  const ahead = { ...request, headers: secret.sign("POST", path, message, now + WINDOW_MS) };
  expect(secret.read(ahead, "b", now, seen)).toEqual(message);
  for (let at = now; at <= now + 2 * WINDOW_MS; at += WINDOW_MS / 4) {
    expect(secret.read({ ...request, headers: secret.sign("POST", path, message, at) }, "b", at, seen)).toEqual(message);
    expect(secret.read(ahead, "b", at, seen)).toBeNull();
  }
});

it("the same question asked twice is two requests", () => {
  const seen = new SeenRequests();
  expect(secret.read(signed(), "b", now, seen)).toEqual(message);
  expect(secret.read(signed(), "b", now, seen)).toEqual(message);
});
