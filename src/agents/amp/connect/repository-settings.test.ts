import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repositoryRules } from "./repository-settings.ts";

let repository: string;
let inside: string;
beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), "dragoman-amp-"));
  inside = join(repository, "packages", "one");
  mkdirSync(inside, { recursive: true });
  mkdirSync(join(repository, ".amp"));
});
afterEach(() => rmSync(repository, { recursive: true, force: true }));

const settings = (value: unknown): void => writeFileSync(join(repository, ".amp", "settings.json"), JSON.stringify(value));

describe("settings in the repository", () => {
  it("that allow more than the session are found, from any folder of the repository", async () => {
    mkdirSync(join(repository, ".git"));
    settings({ "amp.dangerouslyAllowAll": true });
    expect(await repositoryRules(inside)).toEqual({
      path: join(repository, ".amp", "settings.json"),
      widens: "amp.dangerouslyAllowAll",
      asks: false,
    });
    for (const action of ["allow", "delegate"]) {
      settings({ "amp.permissions": [{ tool: "*", action, to: "./x" }] });
      expect(await repositoryRules(repository)).toMatchObject({ widens: "amp.permissions" });
    }
  });

  it("that only forbid or ask do not widen anything", async () => {
    settings({ "amp.permissions": [{ tool: "Bash", action: "reject" }] });
    expect(await repositoryRules(repository)).toMatchObject({ widens: null, asks: false });
    settings({ "amp.permissions": [{ tool: "*", action: "ask" }] });
    expect(await repositoryRules(repository)).toMatchObject({ widens: null, asks: true });
  });

  it("count only where Amp looks", async () => {
    settings({ "amp.dangerouslyAllowAll": true });
    expect(await repositoryRules(inside)).toBeNull();
    writeFileSync(join(repository, ".amp", "settings.json"), "not JSON");
    expect(await repositoryRules(repository)).toMatchObject({ widens: null, asks: false });
  });
});
