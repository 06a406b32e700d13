import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { directoriesLike } from "./directories.ts";

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "dragoman-directories-"));
  for (const name of ["parser", "Payments", "website", ".git", "parser/src"]) mkdirSync(join(base, name), { recursive: true });
  writeFileSync(join(base, "package.json"), "{}");
  symlinkSync(join(base, "website"), join(base, "parked"));
  symlinkSync(join(base, "package.json"), join(base, "pack"));
  symlinkSync(join(base, "nowhere"), join(base, "past"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const names = async (typed: string): Promise<string[]> =>
  (await directoriesLike(typed, base)).map((path) => path.slice(base.length + 1));

describe("directories that go on as typed", () => {
  it("are directories alone, links to some included, whatever the case", async () => {
    expect(await names(join(base, "pa"))).toEqual(["parked", "parser", "Payments"]);
    expect(await names(join(base, "parser"))).toEqual(["parser"]);
  });

  it("are those below when the path ends with a slash", async () => {
    expect(await names(join(base, "parser/"))).toEqual(["parser/src"]);
    expect(await names("")).toEqual(["parked", "parser", "Payments", "website"]);
  });

  it("may be named from the base on", async () => {
    expect(await names("web")).toEqual(["website"]);
    expect(await names("parser/s")).toEqual(["parser/src"]);
  });

  it("are hidden ones only when a dot was typed", async () => {
    expect(await names(`${base}/.`)).toEqual([".git"]);
    expect(await names(`${base}/..`)).toEqual([]);
    expect(await names(join(base, ".g"))).toEqual([".git"]);
  });

  it("are none where nothing is, or nothing may be read", async () => {
    expect(await names(join(base, "nowhere/x"))).toEqual([]);
    expect(await names(join(base, "package.json/"))).toEqual([]);
    chmodSync(join(base, "website"), 0o000);
    expect(await names(join(base, "website/"))).toEqual([]);
    chmodSync(join(base, "website"), 0o755);
  });

  it("are at most fifty", async () => {
    for (let index = 0; index < 60; index++) mkdirSync(join(base, `many-${index}`));
    expect(await names(join(base, "many"))).toHaveLength(50);
  });
});
