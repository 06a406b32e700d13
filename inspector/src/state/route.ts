/** Where the page is. In the fragment, so that any session id is a good address and no server sees it. */
import { Store } from "./store.ts";

/** `at`: the event to show, as the session stood there. */
export type Route =
  | { page: "home" }
  | { page: "session"; id: string; at?: number }
  /** Two sessions side by side. */
  | { page: "compare"; ids: readonly [string, string] }
  | { page: PlainPage };
const PLAIN = ["agents", "skills", "usage", "fleet", "daemons", "settings"] as const;
type PlainPage = (typeof PLAIN)[number];

function parse(hash: string): Route {
  const [, page, id, at] = hash.replace(/^#/, "").split("/");
  if (page === "sessions" && id)
    return { page: "session", id: decodeURIComponent(id), ...(/^\d{1,15}$/.test(at ?? "") ? { at: Number(at) } : {}) };
  if (page === "compare" && id && at) return { page, ids: [decodeURIComponent(id), decodeURIComponent(at)] };
  const plain = PLAIN.find((each) => each === page);
  return plain ? { page: plain } : { page: "home" };
}

export const route = new Store<Route>(parse(location.hash));
window.addEventListener("hashchange", () => route.set(parse(location.hash)));

export const hrefOf = (to: Route): string =>
  to.page === "session"
    ? `#/sessions/${encodeURIComponent(to.id)}${to.at === undefined ? "" : `/${to.at}`}`
    : to.page === "compare"
      ? `#/compare/${to.ids.map(encodeURIComponent).join("/")}`
      : to.page === "home"
        ? "#/"
        : `#/${to.page}`;

export function go(to: Route): void {
  location.hash = hrefOf(to);
}
