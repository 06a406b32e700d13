import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readShellLine } from "./shell-line.ts";

const PROGRAMS = ["ls", "cat", "rm", "git"];
const TOKENS = [
  ...PROGRAMS,
  ..."' \" $ ` ( ) && || ; | & \\ { } # < > ! * ? [ ] = ~ - , :".split(" "),
  ...`$X $\{X} $( $(( $' <( >( << <<< 2>&1 >| &> |& ;; [[ X=1 if then fi time a`.split(" "),
  " ",
  " ",
  " ",
  "\n",
  "\t",
];

let home = "";
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "dragoman-shell-"));
  mkdirSync(join(home, "bin"));
  for (const name of PROGRAMS) {
    const path = join(home, "bin", name);
    writeFileSync(
      path,
      `#!/bin/sh\nprintf '%s' "\${0##*/}" >> "$RECORD"\nfor word in "$@"; do printf ' <%s>' "$word" >> "$RECORD"; done\necho >> "$RECORD"\n`,
    );
    chmodSync(path, 0o755);
  }
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What bash really runs, one line a command. */
function executed(line: string, nth: number): string[] {
  const record = join(home, `record-${nth}`);
  const cwd = join(home, `cwd-${nth}`);
  mkdirSync(cwd);
  spawnSync("/bin/bash", ["--norc", "--noprofile", "-c", line], {
    cwd,
    stdio: "ignore",
    timeout: 20_000,
    env: { PATH: join(home, "bin"), RECORD: record, HOME: home },
  });
  const lines = existsSync(record)
    ? readFileSync(record, "utf8")
        .split("\n")
        .filter((one) => one !== "")
    : [];
  rmSync(cwd, { recursive: true, force: true });
  rmSync(record, { force: true });
  return lines;
}

describe("shell lines and the real bash", () => {
  it("bash runs nothing that was not read, and with the words that were read", () => {
    let nth = 0;
    let judged = 0;
    const line = fc.array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 9 }).map((tokens) => tokens.join(""));
    fc.assert(
      fc.property(line, (text) => {
        const read = readShellLine(text);
        if (read.kind === "opaque") return;
        judged += 1;
        nth += 1;
        const known = read.commands.map((command) => ({ name: command.words[0]?.literal, words: command.words.slice(1) }));
        for (const ran of executed(text, nth)) {
          const [name] = ran.split(" ");
          const fitting = known.filter((command) => command.name === name);
          expect(fitting.length, `${JSON.stringify(text)} ran ${ran}`).toBeGreaterThan(0);
          const asRead = fitting.some(
            ({ words }) =>
              words.some((word) => word.literal === null) ||
              ran === [name, ...words.map((word) => `<${word.literal}>`)].join(" "),
          );
          expect(asRead || /~|\n/.test(text), `${JSON.stringify(text)} ran ${ran}`).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
    expect(judged).toBeGreaterThan(50);
  });
});
