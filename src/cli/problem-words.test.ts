import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { DragomanError } from "../client/error.ts";
import { ProblemError, problemCodeNames } from "../schema/problem-codes.ts";
import { findCommand } from "./commands.ts";
import { commandsInstead, problemWords } from "./problem-words.ts";

const HTTP = /\b(GET|POST|PUT|PATCH|DELETE) \/|\/v1\/|Last-Event-ID|Authorization|`errors`|openapi\.json/;
const src = fileURLToPath(new URL("..", import.meta.url));

it.each(problemCodeNames)("says %s without a word of HTTP, and names only commands that there are", (code) => {
  const words = commandsInstead(new ProblemError(code).message);
  expect(words).not.toMatch(HTTP);
  for (const [, command] of words.matchAll(/`dragoman ([^`]+)`/g))
    expect([command, findCommand((command ?? "").split(" "))?.command.name]).not.toContain(undefined);
});

it("knows every route that the texts of other problems name", () => {
  const files = ["server", "session", "workspace", "daemon"].flatMap((room) =>
    readdirSync(join(src, room), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("test"))
      .map((name) => readFileSync(join(src, room, name), "utf8")),
  );
  const texts = files.flatMap((text) =>
    [...text.matchAll(/ProblemError\(\s*"[^"]+",\s*(?:`([^`]*)`|"([^"]*)")/g)].map((found) => found[1] ?? found[2] ?? ""),
  );
  expect(texts.length).toBeGreaterThan(20);
  expect(texts.map(commandsInstead).filter((text) => HTTP.test(text) && !text.startsWith("WebSockets"))).toEqual([]);
});

it("says which option or word is wrong", () => {
  const said = (path: string, message: string): string =>
    problemWords(
      new DragomanError("invalid_request", "querystring/limit must be >= 1", {
        problem: { type: "", title: "", status: 400, detail: "", code: "invalid_request", errors: [{ path, message }] },
      }),
    );
  expect(said("querystring/limit", "must be >= 1")).toBe("--limit must be at least 1.");
  expect(said("body/permission_mode", "must be equal to one of the allowed values")).toBe(
    "The permission mode must be equal to one of the allowed values.",
  );
  expect(said("body/bogus", "schema is false")).toBe("The bogus is not known.");
});
