import { describe, expect, it } from "vitest";
import type { PathCompletions } from "../schema/files.ts";
import { pathCompleter } from "./path-completer.ts";

const paths: PathCompletions["paths"] = [
  { path: "src/main.ts", type: "file" },
  { path: "src", type: "directory" },
  { path: "docs/a\u001b[2J.md", type: "file" },
];
const asked: string[] = [];
const complete = (line: string, answer: () => Promise<PathCompletions["paths"]> = async () => paths) =>
  new Promise<[string[], string]>((resolve, reject) =>
    pathCompleter((typed) => {
      asked.push(typed);
      return answer();
    })(line, (error, result) => (error ? reject(error) : resolve(result))),
  );

describe("@path at the prompt", () => {
  it("is completed with files and folders; names that could command the terminal are left out", async () => {
    expect(await complete("look at @sr")).toEqual([["@src/main.ts ", "@src/"], "@sr"]);
    expect(asked.at(-1)).toBe("sr");
  });

  it("lists what fits in another way, when nothing goes on from what was typed", async () => {
    expect(await complete("@main")).toEqual([["@src/main.ts ", "@src/"], "@main"]);
  });

  it("completes nothing else: words without an @, addresses, and what the daemon does not answer", async () => {
    expect(await complete("look at src")).toEqual([[], "look at src"]);
    expect(await complete("me@example")).toEqual([[], "me@example"]);
    expect(await complete("@x", () => Promise.reject(new Error("gone")))).toEqual([[], "@x"]);
  });
});
