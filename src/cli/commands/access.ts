// `open` and `token`: ways into the daemon, for people and programs.
import { type Command, done, EXIT, flag, need, text, UsageError } from "../command.ts";
import { openBrowser } from "../open-browser.ts";

const HOUR_MS = 60 * 60_000;
const LINK_LIFETIME_MS = HOUR_MS;

export const open: Command = {
  name: "open",
  usage: "open",
  about: "print a link to the inspector, good for an hour, and open it in a terminal",
  help: "  The link holds a token made for it; the browser trades it for a cookie at once.",
  options: {
    observe: { type: "boolean", about: "a link that can look and not touch" },
    "no-open": { type: "boolean", about: "only print it" },
  },
  async run({ values, daemon, json, print, terminal }) {
    const dragoman = await daemon();
    const { token } = await dragoman.mintToken(flag(values, "observe") ? "observe" : "operate", {
      lifetime_ms: LINK_LIFETIME_MS,
    });
    const link = `${dragoman.url}/ui?token=${encodeURIComponent(token)}`;
    if (flag(values, "json")) json({ link });
    else print(link);
    if (!flag(values, "no-open") && !flag(values, "json") && terminal.stdout.isTTY) openBrowser(link);
    return EXIT.ok;
  },
};

export const tokenShow: Command = {
  name: "token show",
  usage: "token show",
  about: "which token is used here, and what it may do",
  async run({ values, daemon, json, print }) {
    const who = await (await daemon()).whoAmI();
    if (flag(values, "json")) json(who);
    else print(`${who.token_id}  ${who.role}`);
    return EXIT.ok;
  },
};

export const tokenMint: Command = {
  name: "token mint",
  usage: "token mint",
  about: "make a further token, with the same or fewer rights, and print it",
  options: {
    role: { type: "string", value: "<role>", default: "observe", about: "observe (read) or operate (default observe)" },
    hours: { type: "string", value: "<n>", default: "24", about: "how long it lives (default 24)" },
  },
  async run({ values, daemon, json, print }) {
    const role = text(values, "role");
    if (role !== "observe" && role !== "operate") throw new UsageError("--role is observe or operate");
    const hours = Number(text(values, "hours"));
    if (!(hours > 0)) throw new UsageError(`--hours needs a positive number, not ${text(values, "hours")}`);
    const minted = await (await daemon()).mintToken(role, { lifetime_ms: Math.round(hours * HOUR_MS) });
    if (flag(values, "json")) json(minted);
    else print(minted.token);
    return EXIT.ok;
  },
};

export const tokenRevoke: Command = {
  name: "token revoke",
  usage: "token revoke <token-id>",
  about: "end a minted token, all minted by it, and their open streams",
  async run(call) {
    const token_id = need(call.words, 0, "the token's id");
    await (await call.daemon()).revokeToken(token_id);
    return done(call, { token_id, revoked: true });
  },
};
