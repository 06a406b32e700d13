/** What this browser remembers: theme, drawer, defaults of new sessions, and how far each session was read. */
import { Store } from "./store.ts";

export type Theme = "system" | "light" | "dark";
export type Preferences = {
  theme: Theme;
  drawer: boolean;
  drawerWidth: number;
  sidebar: boolean;
  grouping: "day" | "directory";
  /** For new sessions; empty: what was used last. */
  agent: string;
  directory: string;
  notifications: boolean;
};

const KEY = "dragoman.preferences";
const SEEN_KEY = "dragoman.seen";
const fallback: Preferences = {
  theme: "system",
  drawer: false,
  drawerWidth: 608,
  sidebar: true,
  grouping: "day",
  agent: "",
  directory: "",
  notifications: true,
};

function read<T extends object>(key: string, otherwise: T): T {
  try {
    return { ...otherwise, ...(JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<T>) };
  } catch {
    return otherwise;
  }
}

function write(key: string, value: object): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A browser without storage forgets; nothing else is lost.
  }
}

export const preferences = new Store<Preferences>(read(KEY, fallback));
/** The last sequence seen of each session. */
export const seen = new Store<Record<string, number>>(read(SEEN_KEY, {}));

export function prefer(change: Partial<Preferences>): void {
  preferences.update((value) => ({ ...value, ...change }));
  write(KEY, preferences.get());
}

let saving: ReturnType<typeof setTimeout> | undefined;
export function markSeen(entries: Record<string, number>): void {
  const now = seen.get();
  if (Object.entries(entries).every(([id, sequence]) => now[id] === sequence)) return;
  seen.set({ ...now, ...entries });
  clearTimeout(saving);
  saving = setTimeout(() => write(SEEN_KEY, seen.get()), 300);
}

export function forgetSeen(ids: Iterable<string>): void {
  const left = { ...seen.get() };
  for (const id of ids) delete left[id];
  seen.set(left);
  write(SEEN_KEY, left);
}

window.addEventListener("storage", ({ key }) => {
  if (key === SEEN_KEY) seen.set(read(SEEN_KEY, {}));
  if (key === KEY) preferences.set(read(KEY, fallback));
});

const dark = matchMedia("(prefers-color-scheme: dark)");
function applyTheme(): void {
  const { theme } = preferences.get();
  document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  shownTheme.set(document.documentElement.dataset.theme === "dark" ? "dark" : "light");
}

export const shownTheme = new Store<"light" | "dark">("light");
preferences.changed.subscribe(applyTheme);
dark.addEventListener("change", applyTheme);
applyTheme();
