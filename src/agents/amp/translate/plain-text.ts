// Lines on stdout that are not JSON: Amp prints its login dialogue there, and its answer when it was not asked for stream JSON.
import type { Draft } from "../../../schema/draft.ts";
import { authRequired } from "../../kit/error-table.ts";

export type PlainLine = { kind: "login"; drafts: Draft[] } | { kind: "text" };

const LOGIN_URL = /https?:\/\/\S+\/auth\/\S+/;
const LOGIN_TALK =
  /^If your browser does not open automatically|^When prompted, paste your code here|^(?:Waiting for|Opening).*(?:login|browser)/i;
const NO_KEY = /^No API key found|^Not logged in|^(?:Invalid|Missing) API key/i;

export const LOGIN_ADVICE =
  "Amp is not signed in. Set AMP_API_KEY, or run `amp login` once in a terminal, then send the message again.";

export function readPlainLine(line: string): PlainLine {
  const [url] = LOGIN_URL.exec(line) ?? [];
  if (url !== undefined) return { kind: "login", drafts: [authRequired(LOGIN_ADVICE, url)] };
  if (NO_KEY.test(line)) return { kind: "login", drafts: [authRequired(LOGIN_ADVICE)] };
  if (LOGIN_TALK.test(line)) return { kind: "login", drafts: [] };
  return { kind: "text" };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escape codes are made of control characters
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[@-_])/g;

/** Amp resets the terminal on stderr even when there is none: `\u001b[?25h`. */
export const withoutEscapes = (text: string): string => text.replaceAll(ESCAPES, "");
