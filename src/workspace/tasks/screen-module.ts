/** The optional packages that compute a screen from a terminal's output, loaded when somebody first asks for one. */
import { createRequire } from "node:module";
import { TaskError } from "./task-error.ts";

type SerializeAddon = { serialize(options?: { scrollback?: number }): string };

export type HeadlessTerminal = {
  readonly cols: number;
  readonly rows: number;
  readonly buffer: { readonly active: { readonly cursorX: number; readonly cursorY: number } };
  readonly modes: { readonly originMode: boolean };
  /** Calls back when the data was parsed. */
  write(data: Uint8Array, done?: () => void): void;
  resize(cols: number, rows: number): void;
  loadAddon(addon: SerializeAddon): void;
  dispose(): void;
};

export type ScreenModule = {
  Terminal: new (options: { cols: number; rows: number; scrollback: number; allowProposedApi: boolean }) => HeadlessTerminal;
  SerializeAddon: new () => SerializeAddon;
};

const EMULATOR = "@xterm/headless";
const SERIALIZER = "@xterm/addon-serialize";
const require = createRequire(import.meta.url);
let loaded: ScreenModule | null = null;

/** Throws `screen_unavailable` when a package is missing. `load` is replaced by tests alone. */
export function screenModule(load: (name: string) => unknown = require): ScreenModule {
  if (loaded !== null && load === require) return loaded;
  try {
    const found = { ...asRecord(load(EMULATOR)), ...asRecord(load(SERIALIZER)) };
    if (!isScreenModule(found)) throw new Error(`${EMULATOR} and ${SERIALIZER} are of another version`);
    if (load === require) loaded = found;
    return found;
  } catch (error) {
    const cause = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new TaskError(
      "screen_unavailable",
      `Screens need the optional packages ${EMULATOR} and ${SERIALIZER}, which cannot be loaded here (${cause}): run \`npm install ${EMULATOR} ${SERIALIZER}\`, or read the task's output instead.`,
      error,
    );
  }
}

const asRecord = (value: unknown): object => (typeof value === "object" && value !== null ? value : {});

const isScreenModule = (value: object): value is ScreenModule =>
  "Terminal" in value &&
  typeof value.Terminal === "function" &&
  "SerializeAddon" in value &&
  typeof value.SerializeAddon === "function";
