// What a tool was asked for, read from its arguments.
import { expect, it } from "vitest";
import { namesCommand } from "../../inspector/src/transcript/tools/arguments.ts";

it("knows a command again without the shell that an agent puts around it", () => {
  expect(namesCommand("Run: touch a.txt", "touch a.txt")).toBe(true);
  expect(namesCommand("Run: touch a.txt", "/bin/bash -lc 'touch a.txt'")).toBe(true);
  expect(namesCommand("Build and publish", "/bin/bash -lc 'npm run release'")).toBe(false);
});
