/** `open`, `token` and `audit`: ways into the daemon for people and programs, and what was done through them. */
import { resolve } from "node:path";
import type { Role } from "../../schema/actor.ts";
import type { AuditRecord } from "../../schema/audit.ts";
import { ROLES } from "../../schema/roles.ts";
import { type Command, done, EXIT, flag, list, need, text, UsageError, wholeNumber } from "../command.ts";
import { openBrowser } from "../open-browser.ts";
import { exactLine } from "../output.ts";

const HOUR_MS = 60 * 60_000;

export const open: Command = {
  name: "open",
  startsDaemon: true,
  usage: "open",
  about: "print a link to the inspector, and open it in the browser when you are on a terminal",
  help: `  The link holds a token for one visit within a minute. The page trades it for a token of its own, which it renews while it is open
  and which ends an hour after the last page was closed.
  --qr prints the link as a QR code for a phone. Its page answers what waits for you and can do nothing else, unless --role says otherwise.
  Example: dragoman open --qr --address https://build.example`,
  options: {
    observe: { type: "boolean", about: "a link that can look and not touch; the same as --role observe" },
    role: { type: "string", value: "<role>", about: `what the page may do: ${ROLES.join(", ")} (default operate)` },
    qr: { type: "boolean", about: "print it as a QR code too, for a phone (role approve, unless --role is given)" },
    address: {
      type: "string",
      value: "<url>",
      about: "the daemon's address as the visitor reaches it (default: as seen from here)",
    },
    "no-open": { type: "boolean", about: "only print it" },
  },
  async run({ values, daemon, json, print, say, terminal }) {
    const qr = flag(values, "qr");
    const address = addressOf(text(values, "address"));
    const dragoman = await daemon();
    const role = flag(values, "observe") ? "observe" : (roleOf(text(values, "role")) ?? (qr ? "approve" : undefined));
    const { token, file, expires_at } = await dragoman.makeLink(role === undefined ? {} : { role });
    const link = `${address ?? dragoman.url}/ui#link=${token}`;
    if (flag(values, "json")) json({ link, expires_at });
    else print(link);
    if (qr && !flag(values, "json")) {
      print((await import("../qr-code.ts")).qrCode(link));
      if (address === undefined && isLoopback(dragoman.url))
        say(`A phone cannot reach ${dragoman.url}. Name the address it uses with --address; the daemon must listen there.`);
    }
    if (!qr && !flag(values, "no-open") && !flag(values, "json") && terminal.stdout.isTTY) openBrowser(file);
    return EXIT.ok;
  },
};

function addressOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new UsageError(`--address needs an http or https URL, not ${given}`);
  return given.replace(/\/+$/, "");
}

const isLoopback = (url: string): boolean => /^(127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname);

export const tokenShow: Command = {
  name: "token show",
  usage: "token show",
  about: "which token is used here, and what it may do",
  async run({ values, daemon, json, print }) {
    const who = await (await daemon()).whoAmI();
    if (flag(values, "json")) json(who);
    else print(`${who.token_id}  ${who.role}  ${who.kind}${who.scope ? `  only ${reachOf(who.scope)}` : ""}`);
    return EXIT.ok;
  },
};

export const tokenList: Command = {
  name: "token ls",
  usage: "token ls",
  about: "list the valid tokens, without their secrets (admin)",
  async run({ values, daemon, json, print }) {
    for (const token of await (await daemon()).tokens()) {
      if (flag(values, "json")) json(token);
      else
        print(
          `${token.token_id}  ${token.role.padEnd(7)}  ${token.kind.padEnd(6)}  ${token.expires_at ?? "-"}  ${exactLine(token.label ?? "")}${token.scope ? `  only ${reachOf(token.scope)}` : ""}`,
        );
    }
    return EXIT.ok;
  },
};

export const tokenMint: Command = {
  name: "token mint",
  usage: "token mint",
  about: "make a token with the same or fewer rights, and print it (admin)",
  help: `  Roles: observe reads; approve also answers permissions and questions; operate does everything but manage tokens; admin does all.
  With --session or --directory it reaches those sessions only, and creates sessions only in those directories.
  Mind that an agent runs commands as you: whoever may operate one can reach whatever you can.`,
  options: {
    role: { type: "string", value: "<role>", default: "observe", about: `${ROLES.join(", ")} (default observe)` },
    hours: { type: "string", value: "<n>", default: "24", about: "how long it lives (default 24)" },
    session: { type: "string", multiple: true, value: "<id>", about: "reach only this session; may be repeated" },
    directory: { type: "string", multiple: true, value: "<dir>", about: "reach only sessions there and below; may be repeated" },
    label: { type: "string", value: "<text>", about: "what it is for, shown by token ls" },
  },
  async run({ values, daemon, json, print, terminal }) {
    const role = roleOf(text(values, "role")) ?? "observe";
    const hours = Number(text(values, "hours"));
    if (!(hours > 0)) throw new UsageError(`--hours needs a positive number, not ${text(values, "hours")}`);
    const sessions = list(values, "session");
    const directories = list(values, "directory").map((path) => resolve(terminal.cwd, path));
    const label = text(values, "label");
    const scope = { ...(sessions.length > 0 ? { sessions } : {}), ...(directories.length > 0 ? { directories } : {}) };
    const minted = await (await daemon()).mintToken(role, {
      lifetime_ms: Math.round(hours * HOUR_MS),
      ...(Object.keys(scope).length > 0 ? { scope } : {}),
      ...(label === undefined ? {} : { label }),
    });
    if (flag(values, "json")) json(minted);
    else print(minted.token);
    return EXIT.ok;
  },
};

export const tokenRevoke: Command = {
  name: "token revoke",
  usage: "token revoke <token-id>",
  about: "revoke a token, all tokens made with it, and their open streams (admin)",
  async run(call) {
    const token_id = need(call.words, 0, "the token's id");
    await (await call.daemon()).revokeToken(token_id);
    return done(call, { token_id, revoked: true });
  },
};

export const audit: Command = {
  name: "audit",
  usage: "audit",
  about: "who changed what: commands made and refused, the newest first (admin)",
  options: { limit: { type: "string", value: "<n>", default: "50", about: "how many (default 50)" } },
  async run({ values, daemon, json, print }) {
    const wanted = wholeNumber(text(values, "limit"), "limit", 50);
    const dragoman = await daemon();
    let left = wanted;
    for (let after: string | undefined; left > 0; ) {
      const page = await dragoman.audit({ limit: Math.min(left, 1_000), ...(after === undefined ? {} : { after }) });
      for (const record of page.records) {
        if (flag(values, "json")) json(record);
        else print(lineOf(record));
      }
      left -= page.records.length;
      if (page.next === null) break;
      after = page.next;
    }
    return EXIT.ok;
  },
};

function lineOf({ time, outcome, operation, code, actor, session_id, target, remote, count }: AuditRecord): string {
  const who = actor
    ? `${actor.surface} ${actor.token_id ?? "-"} (${actor.role ?? "-"})`
    : `${remote ?? "-"}, ${count ?? 1} times`;
  const agent = actor?.session_id === undefined ? "" : ` for the agent of ${actor.session_id}`;
  const what = [session_id, target].filter((each) => each !== undefined).join(" ");
  return exactLine(`${time}  ${outcome.padEnd(7)}  ${operation}${code ? ` [${code}]` : ""}  ${what}  by ${who}${agent}`);
}

function roleOf(name: string | undefined): Role | undefined {
  if (name === undefined) return undefined;
  const role = ROLES.find((each) => each === name);
  if (!role) throw new UsageError(`--role is one of ${ROLES.join(", ")}`);
  return role;
}

const reachOf = ({ sessions = [], directories = [] }: { sessions?: string[]; directories?: string[] }): string =>
  exactLine([...sessions, ...directories].join(", "));
