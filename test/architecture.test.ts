/**
 * The rules of docs/architecture.md, kept by a test: which room may import which, no cycles between files, and translators that cannot reach the outside
 * world. A room is a folder of `src/`. To allow a new edge, change the table here and the one in the document: they are compared.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { builtInAgents } from "../src/agents/registry.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * Room → rooms it may import; types count as much as values. Reading it: a room is listed after the rooms it may import, so everything points upwards and a
 * cycle between rooms cannot be written. `agents` is the contract with what all agents share, `agents/kit` what their folders are built from, `agents/*` the folder of each one; `log` is the contract,
 * `log/sqlite`, `log/postgres` and `log/memory` are its engines.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  json: [],
  schema: [],
  transports: ["json"],
  discovery: [],
  openresponses: ["json"],
  runtime: ["openresponses"],
  redaction: ["schema"],
  trust: ["schema"],
  dialects: ["schema"],
  log: ["schema"],
  "log/memory": ["log", "schema"],
  "log/packing": ["log", "schema"],
  "log/sqlite": ["log", "log/packing", "schema"],
  "log/postgres": ["log", "log/packing", "schema"],
  cluster: ["log", "log/postgres", "schema"],
  agents: ["schema", "trust"],
  "agents/kit": ["agents", "schema", "transports", "trust"],
  "agents/*": ["agents", "agents/kit", "json", "schema", "transports", "trust"],
  search: ["log", "schema"],
  workspace: ["agents", "log", "schema", "transports"],
  session: ["agents", "json", "log", "redaction", "schema"],
  server: ["json", "log", "redaction", "schema", "search", "session", "transports", "trust", "workspace"],
  client: ["dialects", "discovery", "schema"],
  mcp: ["client", "schema"],
  daemon: [
    "agents",
    "cluster",
    "dialects",
    "discovery",
    "log",
    "log/postgres",
    "log/sqlite",
    "redaction",
    "schema",
    "search",
    "server",
    "session",
    "transports",
    "trust",
    "workspace",
  ],
  verify: ["agents", "agents/kit", "client", "daemon", "schema", "session", "transports"],
  cli: ["client", "daemon", "discovery", "mcp", "schema", "verify"],
  inspector: ["client", "schema"],
};

/** Edges that break the table and stay for now. Keep it short: each one needs a reason, and one that is no longer there fails the test. */
const EXCEPTIONS: Record<string, string> = {
  "agents/registry.ts -> agents/*": "The one list of built-in agents.",
  "agents/verified.ts -> agents/*": "The one list of what agents bring for their verification.",
  "agents/verified.ts -> agents/kit": "Only the types of that list.",
  "agents/acp -> agents/*":
    "ACP bridges start Claude Code, Codex and OpenCode: what those load from a directory is written once.",
  "agents/claude-sdk -> agents/claude": "The SDK runs the same CLI and yields its messages: one translator serves both.",
  "agents/responses -> runtime": "Our own agent is the only one whose program is ours.",
  "agents/responses -> openresponses": "It speaks this protocol to its endpoint.",
  "server/problems.ts -> agents/contract.ts": "Only the class AgentError, whose codes are problem codes.",
  "cli/commands/doctor.ts -> log/sqlite/refusal.ts": "A log that the daemon refuses to open must be explained without a daemon.",
  "cli/commands/doctor.ts -> agents/responses": "An endpoint must be examined without a daemon.",
  "cli/commands/replay-run.ts -> agents/responses": "A recorded run is played again without a daemon.",
  "cli/commands/serve.ts -> server/descriptors.ts": "Warns before the start when the system allows too few open files.",
  "cli/commands/mcp.ts -> transports/index.ts": "Finds out which agent a caller of the MCP server belongs to.",
};

/** Test code may import what it likes. The build leaves the same files out. */
const isTest = (file: string): boolean =>
  /\.test(-d)?\.tsx?$|\.suite\.ts$|(^|\/)test-[^/]*\.tsx?$|-child\.ts$|\/run-module\.ts$/.test(file);

type Import = { to: string; type: boolean };

const sourceOf = (file: string): string =>
  readFileSync(join(ROOT, file), "utf8")
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "");

/** Static and dynamic imports, and exports from other files. Relative ones as a path from the root; packages and `node:` modules as they are. */
function importsOf(file: string): Import[] {
  const pattern =
    /^\s*(?:import|export)\s+(type\s)?[^;"']*?\bfrom\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']|^\s*import\s+["']([^"']+)["']/gm;
  return Array.from(sourceOf(file).matchAll(pattern), ([, type, from, dynamic, bare]) => {
    const name = from ?? dynamic ?? bare ?? "";
    return { to: name.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(file), name)) : name, type: type !== undefined };
  });
}

const filesBelow = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((name) => `${folder}/${name}`)
    .filter((file) => /\.tsx?$/.test(file) && !isTest(file))
    .sort();

const graph = new Map([...filesBelow("src"), ...filesBelow("inspector/src")].map((file) => [file, importsOf(file)] as const));

/** Undefined for what is in no room: packages, styles, and `src/index.ts`, the door for those who embed the daemon. */
function roomOf(file: string): string | undefined {
  const [top, first, second, third] = file.split("/");
  if (top === "inspector") return "inspector";
  if (top !== "src" || second === undefined) return undefined;
  if (first === "agents" && second === "kit") return "agents/kit";
  if (first === "agents" && third !== undefined) return "agents/*";
  if (first === "log" && third !== undefined) return `log/${second}`;
  return first;
}

const agentFolder = (file: string): string => file.split("/")[2] ?? "";
const withoutSource = (path: string): string => path.replace(/^src\//, "");

function isException(from: string, to: string): string | undefined {
  return Object.keys(EXCEPTIONS).find((name) => {
    const [left = "", right = ""] = name.split(" -> ");
    const matches = (path: string, pattern: string): boolean =>
      pattern === "agents/*"
        ? roomOf(path) === "agents/*"
        : withoutSource(path) === pattern || withoutSource(path).startsWith(`${pattern}/`);
    return matches(from, left) && matches(to, right);
  });
}

describe("rooms", () => {
  const wrong: string[] = [];
  const used = new Set<string>();
  for (const [file, imports] of graph)
    for (const { to } of imports) {
      const [from, target] = [roomOf(file), roomOf(to)];
      if (from === undefined || target === undefined) continue;
      const sameAgent = from !== "agents/*" || agentFolder(file) === agentFolder(to);
      if (from === target && sameAgent) continue;
      if (from !== target && MAY_IMPORT[from]?.includes(target)) continue;
      const exception = isException(file, to);
      if (exception) used.add(exception);
      else wrong.push(`${file} -> ${to}`);
    }

  it("import only the rooms that the table allows", () => {
    expect(graph.size).toBeGreaterThan(400);
    expect(wrong).toEqual([]);
  });

  it("have only exceptions that are still needed", () => {
    expect(Object.keys(EXCEPTIONS).filter((name) => !used.has(name))).toEqual([]);
  });

  it("are all in the table, each after the rooms it imports", () => {
    const rooms = new Set([...graph.keys()].map(roomOf).filter((room) => room !== undefined));
    expect(Object.keys(MAY_IMPORT).sort()).toEqual([...rooms].sort());
    const order = Object.keys(MAY_IMPORT);
    for (const [room, targets] of Object.entries(MAY_IMPORT))
      for (const target of targets)
        expect(order.indexOf(target), `${room} must stand behind ${target}`).toBeLessThan(order.indexOf(room));
  });

  it("are described in docs/architecture.md with the same table", () => {
    expect(documented()).toEqual(
      Object.fromEntries(Object.entries(MAY_IMPORT).map(([room, targets]) => [room, [...targets].sort()])),
    );
  });

  it("have their exceptions named in docs/architecture.md", () => {
    const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
    for (const name of Object.keys(EXCEPTIONS)) {
      const [from = "", to = ""] = name.split(" -> ");
      expect(text).toContain(`\`${from}\` → \`${to}\``);
    }
  });
});

/** The rows of the table of rooms: the first cell names the room, the last one the rooms it may import. */
function documented(): Record<string, string[]> {
  const lines = readFileSync(join(ROOT, "docs/architecture.md"), "utf8").split("\n");
  const start = lines.findIndex((line) => /^\| room \|/.test(line));
  const rows = lines.slice(start + 2, lines.indexOf("", start));
  return Object.fromEntries(
    rows.map((row) => {
      const cells = row.split("|").slice(1, -1);
      const words = (cell = ""): string[] => Array.from(cell.matchAll(/`([^`]+)`/g), ([, word]) => word ?? "");
      const [room = ""] = words(cells[0]);
      return [
        room
          .replace(/^src\//, "")
          .replace(/\/$/, "")
          .replace("<id>", "*"),
        words(cells.at(-1)).sort(),
      ];
    }),
  );
}

describe("files", () => {
  it("do not import each other in a circle, by value or by type", () => {
    expect(cycles()).toEqual([]);
  });
});

/** Groups of files that reach one another (Tarjan). */
function cycles(): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.size - 1);
    stack.push(file);
    for (const { to } of graph.get(file) ?? []) {
      if (!graph.has(to)) continue;
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(file, Math.min(low.get(file) ?? 0, low.get(to) ?? 0));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)?.some(({ to }) => to === file)) found.push(group.sort());
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return found;
}

describe("translators", () => {
  const folder = /^src\/agents\/[^/]+\/translate\//;
  const reached = new Set([...graph.keys()].filter((file) => folder.test(file)));
  for (const file of reached) for (const { to, type } of graph.get(file) ?? []) if (!type && graph.has(to)) reached.add(to);

  /** What makes the same input give another result, or reaches outside. `new Date(x)` with a value only converts. */
  const IMPURE =
    /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.\w|\bMath\.random\b|\brandomUUID\b|\bset(Timeout|Interval|Immediate)\b|\bfetch\(|\bprocess\.\w/g;

  it("exist for every agent that brings its own", () => {
    const names = [...reached].filter((file) => file.endsWith("/translate/translator.ts")).map(agentFolder);
    expect(names).toEqual(expect.arrayContaining(["acp", "amp", "claude", "codex", "mock", "opencode"]));
    expect(reached.size).toBeGreaterThan(80);
  });

  it("import nothing of the other folders of an agent, directly or through other files", () => {
    expect([...reached].filter((file) => roomOf(file) === "agents/*" && !folder.test(file))).toEqual([]);
  });

  it("import nothing of node: and read no clock, directly or through other files", () => {
    const faults = [...reached].flatMap((file) => [
      ...(graph.get(file) ?? [])
        .filter(({ to, type }) => !type && to.startsWith("node:"))
        .map(({ to }) => `${file} imports ${to}`),
      ...Array.from(sourceOf(file).matchAll(IMPURE), ([word]) => `${file} uses ${word}`),
    ]);
    expect(faults).toEqual([]);
  });
});

describe("words", () => {
  /** Unions that have one home in schema/: to type one again is to let the two drift. */
  const UNIONS: Record<string, readonly string[]> = {
    PlainReply: ["once", "always", "reject"],
    Disposition: ["mapped", "noted", "heartbeat", "unparsed"],
    NativeDirection: ["in", "out", "err", "exit", "http", "sse"],
    PermissionMode: ["default", "plan", "accept_edits", "bypass"],
    RoleName: ["observe", "approve", "operate", "admin"],
    ItemRole: ["user", "assistant", "system", "tool"],
    ItemStatus: ["in_progress", "completed", "failed"],
  };

  it("of a union are typed in schema/ alone", () => {
    const again = [...graph.keys()]
      .filter((file) => !file.startsWith("src/schema/"))
      .flatMap((file) =>
        Array.from(sourceOf(file).matchAll(/"\w+"(?:\s*\|\s*"\w+"){2,}/g), ([text]) => {
          const words = text.match(/\w+/g) ?? [];
          const home = Object.entries(UNIONS).find(([, all]) => words.every((word) => all.includes(word)));
          return home ? [`${file}: ${text} is of ${home[0]}`] : [];
        }).flat(),
      );
    expect(again).toEqual([]);
  });
});

describe("agents", () => {
  /** Files outside the agents' folders that are about one agent, and why. */
  const ABOUT_ONE: Record<string, string> = {
    "scripts/foreign-endpoint.mjs": "It plays a tool loop of our own agent on an endpoint that somebody else wrote.",
    "src/cli/commands/doctor.ts": "`doctor responses` examines the endpoint of our own agent.",
    "inspector/src/start/agents-found.tsx":
      "The mock agent is no agent of a person: it is not counted among those that were found.",
    "inspector/src/start/new-session-form.ts": "The mock agent is chosen last.",
    "inspector/src/ui/agent-icon.tsx": "Pictures of agents are files of the inspector.",
    "scripts/codex-schema.mjs": "Makes the data that an agent's folder holds.",
    "scripts/opencode-events.mjs": "Makes the data that an agent's folder holds.",
    "scripts/docs/agent-pages.mjs": "The page that several agents share has the name of their protocol.",
  };
  /** Wire protocols of the scripted model server, two of which have the name of an agent. */
  const isProtocol = (file: string): boolean => file.startsWith("src/verify/model-server/");

  it("are named nowhere but in their own folders", () => {
    const ids = [...builtInAgents.map(({ id }) => id), "acp"];
    const quoted = new RegExp(`(["'])(?:${ids.join("|")})\\1`, "g");
    const scripts = readdirSync(join(ROOT, "scripts"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".mjs"))
      .map((name) => `scripts/${name}`);
    const rooms = ["verify", "session", "server", "daemon", "cli", "mcp"].map((room) => `src/${room}/`);
    const files = [...graph.keys()].filter((file) => [...rooms, "inspector/src/"].some((room) => file.startsWith(room)));
    const found = [...files, ...scripts]
      .filter((file) => !isProtocol(file))
      .flatMap((file) => Array.from(sourceOf(file).matchAll(quoted), ([name]) => `${file}: ${name}`));
    expect(found.filter((each) => !(each.replace(/: .*/, "") in ABOUT_ONE))).toEqual([]);
    const named = new Set(found.map((each) => each.replace(/: .*/, "")));
    expect(Object.keys(ABOUT_ONE).filter((file) => !named.has(file))).toEqual([]);
  });

  it("keep nothing in a module: two daemons in one process share no state", () => {
    const state = /^(?:export )?(?:let \w+|const \w+(?::[^=\n]+)? = new (?:Map|Set|WeakMap)(?:<[^\n]*>)?\(\))/gm;
    const allowed = new Set([
      // The mock agent's own program: a process of its own.
      "src/agents/mock/program.ts",
      // Compiled schemas: the same for everybody.
      "src/agents/mock/translate/wire-check.ts",
      "src/agents/responses/translate/wire-check.ts",
      // Which journals this process holds, by their path: two daemons must not run one journal.
      "src/agents/responses/connect/session-data.ts",
    ]);
    const files = [...graph.keys()].filter((file) => file.startsWith("src/agents/") && !allowed.has(file));
    expect(files.flatMap((file) => Array.from(sourceOf(file).matchAll(state), ([found]) => `${file}: ${found}`))).toEqual([]);
  });
});
