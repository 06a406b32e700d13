import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "./config.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dragoman-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function read(config: object): ReturnType<typeof readConfig> {
  const file = join(folder, "config.json");
  writeFileSync(file, JSON.stringify(config));
  return readConfig(file);
}

/** The longest that a timer can wait. A longer one is over at once. */
const LONGEST_MS = 2 ** 31 - 1;

describe("a configuration", () => {
  it.each([
    ["times", "interrupt_ms", LONGEST_MS],
    ["times", "page_token_ms", 30 * 24 * 60 * 60_000],
    ["checkpoints", "wait_ms", LONGEST_MS],
  ])("is refused when %s.%s is longer than it can be waited for", (group, name, longest) => {
    expect(read({ [group]: { [name]: longest } })).toEqual({ [group]: { [name]: longest } });
    expect(() => read({ [group]: { [name]: longest + 1 } })).toThrow(new RegExp(`/${group}/${name} must be <= ${longest}`));
  });

  it.each(["http://other:99999", "http://one:two", "http://["])("is refused with the address %s of another daemon", (address) => {
    expect(() => read({ daemons: [address] })).toThrow(ConfigError);
    expect(() => read({ daemons: [address] })).toThrow(/\/daemons: .*is no address/);
  });
});
