import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bash, temporary } from "../test-trees.ts";
import { git, withoutFilters } from "./command.ts";

let place: ReturnType<typeof temporary>;
beforeEach(() => {
  place = temporary("git");
  bash(place.path, "git init -q; echo text > file");
});
afterEach(() => place.remove());

describe("git that does not answer", () => {
  it("because it waits for the other end of a pipe is stopped", async () => {
    bash(place.path, "mkfifo .gitignore");
    const { status, late, stderr } = await git(place.path, ["status", "--porcelain"], { time_ms: 300 });
    expect({ status, late, stderr }).toEqual({ status: null, late: true, stderr: "it took too long" });
    bash(place.path, "rm .gitignore");
    expect((await git(place.path, ["status", "--porcelain"])).stdout.toString()).toBe("?? file\n");
  });

  it("about its filters is not asked about files: nobody knows which programs it would run", async () => {
    expect(await withoutFilters(place.path)).toEqual([]);
    bash(place.path, "git config filter.a.clean 'touch ran'");
    expect(await withoutFilters(place.path)).toContainEqual(["filter.a.clean", ""]);
    bash(place.path, "echo '[broken' >> .git/config");
    expect(await withoutFilters(place.path)).toBeNull();
  });
});
