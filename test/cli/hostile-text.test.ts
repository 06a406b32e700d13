// What agents, directories, titles and errors hold, on a real terminal and in a pipe: read as text, never obeyed.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionHandle } from "../../src/client/session-handle.ts";
import { CLI, cleanEnv, cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

/** Sets the title, fills the clipboard, makes a link, moves the cursor, clears the screen; in both spellings of an escape. */
const ATTACK =
  "\u001b]0;TITLE\u0007\u001b]52;c;Q0xJUA==\u0007\u001b]8;;http://evil\u001b\\x\u001b]8;;\u001b\\\u001b[7;7H\u001b[2J\u009b3J\u009d0;C1\u009c\u0085\u0007\b\r";
const BIDI = "\u202egnp.\u2066";
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const OUR_COLOURS = /\u001b\[(?:1|2|3|4|22|23|24|31|32|33|36|39)m/g;
const CONTROLS = /(?![\n\t])\p{Cc}/u;

let dataDir: string;
let directory: string;
let daemon: DaemonProcess;
let session: SessionHandle;
beforeAll(async () => {
  dataDir = temporaryDir("hostile");
  directory = join(dataDir, `dir${ATTACK.replaceAll("/", "").replaceAll("\u0000", "")}${BIDI}`);
  mkdirSync(directory);
  daemon = await startDaemonProcess(dataDir);
  session = await daemon.client.createSession({ agent: "mock", directory, title: `title${ATTACK}${BIDI}` });
  await session.prompt(`say answer${ATTACK}`);
  await session.prompt(`shell command${ATTACK}${BIDI}`);
  await session.send(`ask touch a.txt # ${ATTACK}${BIDI}`);
  for await (const event of session.events()) if (event.type === "permission.requested") break;
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

/** All bytes a command writes to a terminal. */
async function onTerminal(args: string[]): Promise<string> {
  const pty = spawn(process.execPath, [CLI, ...args], {
    cols: 200,
    rows: 50,
    cwd: dataDir,
    env: { ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir, TERM: "xterm" },
  });
  let bytes = "";
  pty.onData((chunk) => {
    bytes += chunk;
  });
  await new Promise((resolve) => pty.onExit(resolve));
  return bytes.replaceAll("\r\n", "\n");
}

const commands = (): string[][] => [
  ["ls"],
  ["ls", "--json"],
  ["logs", session.id],
  ["logs", session.id, "--json", "--raw"],
  ["items", session.id],
  ["native", session.id],
  ["export", session.id],
  ["show", session.id],
  ["pending"],
  ["pending", "--json"],
  ["coverage", session.id],
  ["config", "check", `nothing${ATTACK}`],
  ["allow", session.id, `unknown${ATTACK}`],
  [`frobnicate${ATTACK}`],
  ["show", `nobody${ATTACK}`],
  ["create", "mock", "-C", `${directory}/missing`],
];

describe("hostile text", () => {
  it("[R3] reaches a terminal as text only, in every command", async () => {
    for (const args of commands()) {
      const bytes = await onTerminal(args);
      expect(bytes.length, args.join(" ")).toBeGreaterThan(0);
      const rest = bytes.replace(OUR_COLOURS, "");
      expect(CONTROLS.exec(rest)?.[0], `${args.join(" ")}: ${JSON.stringify(rest)}`).toBeUndefined();
      expect(/[\u202a-\u202e\u2066-\u2069]/.test(rest), args.join(" ")).toBe(false);
    }
  });

  it("[R3] leaves a pipe without control characters too", async () => {
    for (const args of commands().filter(([name]) => name !== "native" && name !== "export")) {
      const { out, err } = await cli(dataDir, args);
      expect(CONTROLS.exec(out + err)?.[0], `${args.join(" ")}: ${JSON.stringify(out + err)}`).toBeUndefined();
    }
  });

  it("[R3] shows in `run` what an agent asks for exactly, also where nobody can answer", async () => {
    const { code, out, err } = await cli(dataDir, ["run", "mock", `ask rm x${ATTACK}${BIDI}`]);
    expect(code).toBe(5);
    expect(err).toContain("rm x␛]0;TITLE␇");
    expect(err).toContain("⟦U+202E⟧gnp.⟦U+2066⟧");
    expect(CONTROLS.test(out + err)).toBe(false);
  });

  it("[R3] spells out in `pending` and `logs` what would reorder a line", async () => {
    const { out } = await cli(dataDir, ["pending", session.id]);
    expect(out).toContain("touch a.txt # ␛]0;TITLE␇");
    expect(out).toContain("⟦U+202E⟧gnp.⟦U+2066⟧");
    expect((await cli(dataDir, ["logs", session.id])).out).toContain("⟦U+202E⟧gnp.⟦U+2066⟧");
    expect((await cli(dataDir, ["ls"])).out).toContain("title␛]0;TITLE␇");
  });
});
