/**
 * The page's own token: traded for a link's, kept in localStorage, renewed while a page is open. localStorage and not sessionStorage, because a second tab
 * and a reload must not ask for another link; and not a cookie, because a cookie is sent to every port of this host, while storage belongs to this origin,
 * port included. Not here: what the token may do.
 */
import { Dragoman, type MintedToken } from "../../../src/client/dragoman.ts";
import { DragomanError } from "../../../src/client/error.ts";

const KEY = "dragoman.token";
const SHORTEST_WAIT_MS = 500;

type Held = { token: string; expires_at: string };

/** Never through the fetch that keeps requests for copying: these carry tokens. */
const plain = new Dragoman({ url: location.origin, token: () => held?.token });
let held: Held | null = read();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Asked for with each request. */
export const pageToken = (): string | undefined => held?.token;

window.addEventListener("storage", ({ key }) => {
  if (key === KEY || key === null) take(read());
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void renewWhenDue();
});
window.addEventListener("hashchange", () => {
  if (linkIn(location.hash)) void signInByLink().then(() => location.reload());
});

/** Trades the link's token in the address, if there is one. It leaves the address, and so the history, first. Returns what was wrong with it. */
export async function signInByLink(): Promise<string | null> {
  const link = linkIn(location.hash);
  schedule();
  if (!link) return null;
  history.replaceState(null, "", `${location.pathname}#${link.rest}`);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
  try {
    await signIn(link.token);
    return null;
  } catch (error) {
    return error instanceof DragomanError ? error.message : String(error);
  }
}

/** With the token of a link, or one that a person typed. Throws. */
export async function signIn(token: string): Promise<void> {
  const { token: own, expires_at }: MintedToken = await plain.signIn(token);
  keep({ token: own, expires_at: expires_at ?? new Date(0).toISOString() });
}

/** The token is over: no tab of this origin shows it any more. */
export function forgetToken(): void {
  localStorage.removeItem(KEY);
  take(null);
}

/** `#link=<token>`, and where to go behind `&at=`. */
function linkIn(hash: string): { token: string; rest: string } | null {
  const match = /^#link=([\w.~+/=-]+?)(?:&at=(.*))?$/.exec(hash);
  return match?.[1] === undefined ? null : { token: match[1], rest: match[2] ?? "/" };
}

function read(): Held | null {
  try {
    const value = JSON.parse(localStorage.getItem(KEY) ?? "null") as Held | null;
    return value && typeof value.token === "string" && typeof value.expires_at === "string" ? value : null;
  } catch {
    return null;
  }
}

function keep(value: Held): void {
  localStorage.setItem(KEY, JSON.stringify(value));
  take(value);
}

function take(value: Held | null): void {
  held = value;
  schedule();
}

/** At half of what is left, so that a failed renewal is tried again before the end. */
function schedule(): void {
  clearTimeout(timer);
  if (!held) return;
  const left = Date.parse(held.expires_at) - Date.now();
  timer = setTimeout(() => void renewWhenDue(), Math.max(SHORTEST_WAIT_MS, left / 2));
}

/** Several tabs may do it: the secret stays, so nobody is in another's way. */
async function renewWhenDue(): Promise<void> {
  if (!held) return;
  try {
    const { expires_at } = await plain.renew();
    if (held) keep({ ...held, expires_at });
  } catch (error) {
    if (error instanceof DragomanError && error.status === 401) return forgetToken();
    schedule();
  }
}
