import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { defaultDataDir } from "./discovery-file.ts";

afterEach(() => vi.unstubAllEnvs());

it("the data directory is one and the same wherever a command is called", () => {
  const usual = join(homedir(), ".local/share/dragoman");
  expect(defaultDataDir({})).toBe(usual);
  for (const unset of ["", "share", "./x"]) expect(defaultDataDir({ XDG_DATA_HOME: unset, DRAGOMAN_DATA_DIR: "" })).toBe(usual);
  expect(defaultDataDir({ XDG_DATA_HOME: "/somewhere" })).toBe("/somewhere/dragoman");
  vi.stubEnv("HOME", "");
  expect(defaultDataDir({})).toBe(join(userInfo().homedir, ".local/share/dragoman"));
  expect(isAbsolute(defaultDataDir({}))).toBe(true);
});
