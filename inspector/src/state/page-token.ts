/** The page's own token: traded for a link's, kept by this origin. */
import { DragomanError } from "../../../src/client/error.ts";
import { KeptToken } from "./kept-token.ts";

const own = new KeptToken(location.origin, "dragoman.token");

export const pageToken = own.get;
/** With the token of a link, or one that a person typed. Throws. */
export const signIn = (token: string): Promise<void> => own.signIn(token);
export const forgetToken = (): void => own.forget();

window.addEventListener("hashchange", () => {
  if (linkIn(location.hash)) void signInByLink().then(() => location.reload());
});

/** Trades the link's token in the address, if there is one. It leaves the address, and so the history, first. Returns what was wrong with it. */
export async function signInByLink(): Promise<string | null> {
  const link = linkIn(location.hash);
  own.schedule();
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

/** `#link=<token>`, and where to go behind `&at=`. */
export function linkIn(hash: string): { token: string; rest: string } | null {
  const match = /^#link=([\w.~+/=-]+?)(?:&at=(.*))?$/.exec(hash);
  return match?.[1] === undefined ? null : { token: match[1], rest: match[2] ?? "/" };
}
