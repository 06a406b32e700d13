// `dragoman service` against a program called systemctl that writes down what it is asked. Linux only, as systemd is.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeDir, temporaryDir } from "../daemon-process.ts";
import { runProgram } from "./run-program.ts";

let home: string;
let calls: string;
beforeAll(() => {
  home = temporaryDir("service");
  calls = join(home, "calls");
  for (const name of ["with", "without"]) mkdirSync(join(home, name));
  writeFileSync(
    join(home, "with", "systemctl"),
    `#!/bin/sh\necho "$@" >> "${calls}"\n[ "$2" != is-active ] || [ -e "${home}/runs" ]\n`,
  );
  writeFileSync(join(home, "without", "systemctl"), "#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n");
  for (const name of ["with", "without"]) chmodSync(join(home, name, "systemctl"), 0o755);
});
afterAll(() => removeDir(home));

const service = (systemd: "with" | "without", ...args: string[]) =>
  runProgram(["service", ...args], { HOME: home, PATH: `${join(home, systemd)}:/usr/bin:/bin` });
const unit = () => join(home, ".config", "systemd", "user", "dragoman.service");

describe.runIf(process.platform === "linux")("dragoman service", () => {
  it("shows what it would do, and does nothing", async () => {
    const { code, out, err } = await service("without", "install", "--dry-run", "--port", "4799");
    expect(code).toBe(0);
    expect(err).toContain(`would write ${unit()}`);
    expect(err).toContain("would systemctl --user enable dragoman.service");
    expect(out).toContain('"serve" "--no-open" "--port" "4799"');
    expect(existsSync(unit())).toBe(false);
  });

  it("says clearly that there is no systemd", async () => {
    const { code, err } = await service("without", "install");
    expect(code).toBe(1);
    expect(err).toContain("systemd does not answer for this user");
    expect(err).toContain("[service_unavailable]");
    expect(existsSync(unit())).toBe(false);
  });

  it("installs, tells the state, uninstalls", async () => {
    expect((await service("with", "install")).code).toBe(0);
    expect(readFileSync(unit(), "utf8")).toMatch(/^ExecStart=".*node" ".*\/dist\/cli\/main\.js" "serve" "--no-open"$/m);
    expect(await service("with", "status")).toMatchObject({ code: 1, out: "systemd: installed, not running\n" });
    writeFileSync(join(home, "runs"), "");
    expect(JSON.parse((await service("with", "status", "--json")).out)).toMatchObject({ installed: true, running: true });
    expect((await service("with", "uninstall")).code).toBe(0);
    expect(existsSync(unit())).toBe(false);
    const asked = readFileSync(calls, "utf8");
    for (const each of ["daemon-reload", "enable dragoman.service", "restart dragoman.service", "disable --now dragoman.service"])
      expect(asked).toContain(`--user ${each}\n`);
  });
});
