import { expect, it } from "vitest";
import { classify } from "./wire.ts";

it.each([
  [
    { id: 1, error: { code: -1, message: "no" } },
    { kind: "error", id: 1, error: { code: -1, message: "no" } },
  ],
  [
    { id: 1, error: "no" },
    { kind: "error", id: 1, error: { message: "no" } },
  ],
  [
    { id: 1, error: false },
    { kind: "error", id: 1, error: { message: "false" } },
  ],
  [
    { id: 1, result: 2, error: null },
    { kind: "result", id: 1, result: 2 },
  ],
])("%j is an answer", (data, message) => expect(classify(data)).toEqual(message));
