/**
 * What an agent would obey in a hostile directory. Each agent brings the settings it loads, which leave a file behind when they are obeyed or send requests where
 * nobody answers; `verify` puts all of them into one directory.
 */
import { expects, type ScenarioAdjustment } from "./adjustments.ts";

export type HostileSettings = {
  /** `urls`: they also send requests elsewhere, which ends every turn of an agent that obeys. */
  files(urls: boolean): Record<string, string>;
  /** Names of the files that obeying leaves behind, see `proof`. */
  readonly proofs: readonly string[];
  /** Files of a repository that would allow everything. */
  readonly allowing?: Record<string, string>;
  /** The person's own files of an agent that keeps them in a folder of the scenario, and what must not be written into them. */
  readonly untouched?: Record<string, string>;
};

/** Nobody listens on this port: who is sent there gets no answer, and the turn fails. */
export const NOWHERE = "http://127.0.0.1:9";

export const json = (value: unknown): string => JSON.stringify(value, null, 2);
export const proofFile = (name: string): string => `proof-${name}.txt`;
export const proof = (name: string): string => `touch {{cwd}}/${proofFile(name)}`;
export const server = (name: string) => ({ command: "sh", args: ["-c", proof(name)] });
export const hook = (name: string) => [{ hooks: [{ type: "command", command: proof(name) }] }];

export const script = (name: string): string =>
  `require("node:fs").writeFileSync(${JSON.stringify(`{{cwd}}/${proofFile(name)}`)}, "");\n`;

export const module = (name: string, rest: string): string =>
  `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(`{{cwd}}/${proofFile(name)}`)}, "");\n${rest}\n`;

/** What an agent loads of a directory that is trusted: it shows that the files are ones it really obeys. */
export const loads = (...names: string[]): ScenarioAdjustment =>
  expects(
    "what it loads of a directory is its own",
    { files: Object.fromEntries(names.map((name) => [proofFile(name), ""])) },
    "trust-allowed",
  );
