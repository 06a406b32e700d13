// The state of the inspector without a browser: what it needs of one, before its modules are loaded. Answers of the real server can be held back, so that their order is certain.
import type { TestServer } from "../../src/server/test-server.ts";

/** `lose`: the server has done it, and the connection breaks before its answer. */
export type Held = { path: string; release(): void; answer(response: Response): void; lose(): void };

export type PageState = {
  /** Holds back the next answer to a request whose method and path match. */
  hold(request: RegExp): Promise<Held>;
  /** Method and path of every request so far. */
  asked: string[];
};

class Storage {
  readonly #values = new Map<string, string>();
  getItem = (key: string): string | null => this.#values.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.#values.set(key, value);
  removeItem = (key: string): void => void this.#values.delete(key);
}

export function openPage({ url, token }: Pick<TestServer, "url" | "token">): PageState {
  const localStorage = new Storage();
  localStorage.setItem("dragoman.token", JSON.stringify({ token, expires_at: "2100-01-01T00:00:00.000Z" }));
  const holds: { request: RegExp; took(held: Held): void }[] = [];
  const asked: string[] = [];
  const real = globalThis.fetch;
  const fetch: typeof real = async (input, init) => {
    const path = String(input).slice(url.length);
    const name = `${init?.method ?? "GET"} ${path}`;
    asked.push(name);
    const at = holds.findIndex(({ request }) => request.test(name));
    const response = await real(input, init);
    const [hold] = at < 0 ? [] : holds.splice(at, 1);
    if (!hold) return response;
    return new Promise((answer, reject) =>
      hold.took({ path, release: () => answer(response), answer, lose: () => reject(new TypeError("fetch failed")) }),
    );
  };
  const events = new EventTarget();
  const listening = { addEventListener: events.addEventListener.bind(events), dispatchEvent: events.dispatchEvent.bind(events) };
  const document = { ...listening, hidden: false, hasFocus: () => true, documentElement: { dataset: {} } };
  Object.assign(globalThis, {
    ...{ window: listening, document, localStorage, fetch, location: { origin: url, hash: "" } },
    matchMedia: () => ({ matches: false, ...listening }),
    requestAnimationFrame: (callback: () => void) => setTimeout(callback, 1),
  });
  return { asked, hold: (request) => new Promise((took) => holds.push({ request, took })) };
}
