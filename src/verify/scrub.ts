// Rewrites a recording so that it names no machine: folders, ports, process ids and the host get the same names everywhere.
// Whole values are rewritten; a path that an agent cut in two is found by `machineTraces` and must be looked at by a person.
import { homedir, hostname, userInfo } from "node:os";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../package-root.ts";

export type ScrubFacts = {
  /** The lab's folder, its home and the session's folder. */
  root: string;
  home: string;
  directory: string;
  modelPort: number;
  /** This machine's name, when it is not to be asked for. */
  host?: string;
};

const MODEL_PORT = 8787;
const FIRST_OTHER_PORT = 4096;
const FIRST_PID = 4242;
const PID_KEYS = new Set(["pid", "ppid", "processId", "process_id"]);
const LOCAL_PORT = /(127\.0\.0\.1|localhost|\[::1\]):(\d{4,5})\b/g;

export class Scrubber {
  readonly #replacements: readonly [RegExp, string][];
  readonly #ports: Map<string, number>;
  readonly #pids = new Map<string, number>();
  readonly #host: string;

  constructor(facts: ScrubFacts) {
    this.#host = facts.host ?? hostname();
    this.#ports = new Map([[String(facts.modelPort), MODEL_PORT]]);
    this.#replacements = replacements(facts);
  }

  /** One line of the flight recorder. What we made of it is left out: that is for the translator of the day to say. */
  line(text: string): string {
    const { t_ms, dir, data } = JSON.parse(text) as Record<string, unknown>;
    return JSON.stringify({ t_ms, dir, data: this.#value(data, "") });
  }

  #value(value: unknown, key: string): unknown {
    if (PID_KEYS.has(key) && /^\d+$/.test(String(value))) return this.#pid(value);
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((one) => this.#value(one, ""));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [this.text(name), this.#value(one, name)]));
  }

  #pid(value: unknown): unknown {
    const known = this.#pids.get(String(value)) ?? FIRST_PID + this.#pids.size;
    this.#pids.set(String(value), known);
    return typeof value === "number" ? known : String(known);
  }

  text(value: string): string {
    // A short name is a common word: it is the host's only when it stands alone.
    if (value === this.#host) return "host";
    let text = value;
    for (const [pattern, name] of this.#replacements) text = text.replace(pattern, name);
    return text.replace(LOCAL_PORT, (_, host: string, port: string) => {
      const known = this.#ports.get(port) ?? FIRST_OTHER_PORT + this.#ports.size - 1;
      this.#ports.set(port, known);
      return `${host}:${known}`;
    });
  }
}

/** A recording of one session, rewritten. */
export function scrubTrace(ndjson: string, facts: ScrubFacts): string {
  const scrubber = new Scrubber(facts);
  const lines = ndjson.split("\n").filter((line) => line !== "");
  return lines.map((line) => `${scrubber.line(line)}\n`).join("");
}

/** What still names this machine in a rewritten recording; empty when nothing does. */
export function machineTraces(text: string, { root, host }: ScrubFacts): string[] {
  const names = [root.split("/").at(-1) ?? root, root.split("-").at(-1) ?? root, host ?? hostname(), packageFolder];
  return names.filter((name) => name.length > 3 && text.includes(name));
}

const packageFolder = fileURLToPath(packageRoot).replace(/\/$/, "");

/** Longest first: a folder inside another one must be seen before it. Agents also spell folders for URLs, and with dashes for slashes. */
function replacements({ root, home, directory, host }: ScrubFacts): [RegExp, string][] {
  const user = userInfo().username;
  const own = homedir();
  const plain: [string, string][] = [
    [directory, "/workspace"],
    [home, "/home/user"],
    [root, "/lab"],
    [packageFolder, "/opt/dragoman"],
    [process.execPath, "/usr/bin/node"],
    // Only what surely is a path of the home: Codex calls its first agent `/root`.
    ...(own === "/root"
      ? ([["/root/.", "/home/user/."]] satisfies [string, string][])
      : ([[own, "/home/user"]] satisfies [string, string][])),
  ];
  const spelled = plain.slice(0, 3).flatMap(([path, name]): [string, string][] => [
    [encodeURIComponent(path), encodeURIComponent(name)],
    [path.replaceAll(/[/.]/g, "-"), name.replaceAll("/", "-")],
    // opencode 1.18.33 names folders relative to the root.
    [path.slice(1), name.slice(1)],
  ]);
  const words = [host ?? hostname(), ...(user === "root" ? [] : [user])].filter((word) => word.length > 2);
  return [
    ...[...plain, ...spelled].map(([path, name]): [RegExp, string] => [new RegExp(literal(path), "g"), name]),
    ...words.map((word, index): [RegExp, string] => [new RegExp(`\\b${literal(word)}\\b`, "g"), index === 0 ? "host" : "user"]),
  ];
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
