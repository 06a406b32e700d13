/**
 * The tokens that were made from others, by id and by hash, and the file `tokens.json` that keeps the lasting ones. Secrets are in it as hashes only. Not
 * here: which of them are valid, and who may make them (token-store).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { Role, Surface } from "../schema/actor.ts";
import { onUse } from "../schema/on-use.ts";
import { Scope } from "./token.ts";
import { writePrivate } from "./token-files.ts";

export const MadeToken = Type.Object({
  id: Type.String(),
  hash: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  role: Role,
  kind: Type.Enum(["minted", "page", "link", "agent"]),
  /** The token it was made by: it lives no longer than that one. Null: made by the daemon, for this run of it. */
  parent: Type.Union([Type.String(), Type.Null()]),
  parent_role: Role,
  scope: Type.Union([Scope, Type.Null()]),
  expires_at: Type.Number(),
  /** How long each renewal lasts, and the end of them. */
  renewal: Type.Optional(Type.Object({ lifetime_ms: Type.Number(), until: Type.Number() })),
  label: Type.Optional(Type.String()),
  surface: Type.Optional(Surface),
  origin: Type.Optional(Type.String()),
  session_id: Type.Optional(Type.String()),
});
export type MadeToken = Type.Static<typeof MadeToken>;
const validator = onUse(() => Compile(MadeToken));

export class MadeTokens {
  readonly #file: string;
  readonly #byId = new Map<string, MadeToken>();
  readonly #byHash = new Map<string, MadeToken>();

  constructor(dataDir: string) {
    this.#file = join(dataDir, "tokens.json");
    for (const each of this.#read()) this.add(each);
  }

  all(): MadeToken[] {
    return [...this.#byId.values()];
  }

  get(id: string): MadeToken | undefined {
    return this.#byId.get(id);
  }

  byHash(hash: string): MadeToken | undefined {
    return this.#byHash.get(hash);
  }

  add(token: MadeToken): void {
    this.#byId.set(token.id, token);
    this.#byHash.set(token.hash, token);
  }

  drop(id: string): MadeToken | undefined {
    const found = this.#byId.get(id);
    this.#byId.delete(id);
    if (found) this.#byHash.delete(found.hash);
    return found;
  }

  /** Links and agents' tokens end with the daemon. */
  write(): void {
    const lasting = this.all().filter(({ kind }) => kind === "minted" || kind === "page");
    writePrivate(this.#file, JSON.stringify(lasting));
  }

  /** Entries of another form, such as those of an older version, are left out: their holders sign in again. */
  #read(): MadeToken[] {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      return Array.isArray(value) ? value.filter((each) => validator().Check(each)) : [];
    } catch {
      return [];
    }
  }
}
