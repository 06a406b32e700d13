/**
 * The tokens that were made from others, by id and by hash, and where the lasting ones are kept: the file `tokens.json`, or what the nodes of a fleet share. Secrets are there as hashes only. Not
 * here: which of them are valid, and who may make them (token-store).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { Role, Surface } from "../schema/actor.ts";
import { onUse } from "../schema/on-use.ts";
import { SharedTokens, type TokenRow, type TokenTable } from "./shared-tokens.ts";
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

/** The root tokens of a node, by their ids: what was made by them is valid on other nodes too. */
const SharedRoots = Type.Object({ roots: Type.Array(Type.Object({ id: Type.String(), role: Role })) });
type SharedRoot = { id: string; role: Role };
const rootsValidator = onUse(() => Compile(SharedRoots));
const ROOTS = "root:";

/** Of those that nodes share; agents' tokens end with their process. */
const isShared = ({ kind }: MadeToken): boolean => kind !== "agent";

export type MadeTokensOptions = {
  dataDir: string;
  /** Absent: a file of the data directory. */
  shared?: { node: string; table: TokenTable } | undefined;
  /** Another node ended these. */
  onEnded(ended: readonly MadeToken[]): void;
};

export class MadeTokens {
  readonly #file: string;
  readonly #shared: SharedTokens | null;
  readonly #node: string;
  readonly #onEnded: MadeTokensOptions["onEnded"];
  readonly #roots = new Map<string, readonly SharedRoot[]>();
  readonly #byId = new Map<string, MadeToken>();
  readonly #byHash = new Map<string, MadeToken>();

  constructor({ dataDir, shared, onEnded }: MadeTokensOptions) {
    this.#file = join(dataDir, "tokens.json");
    this.#node = shared?.node ?? "";
    this.#onEnded = onEnded;
    this.#shared = shared ? new SharedTokens(shared.table, (rows) => this.#apply(rows)) : null;
    if (!shared) for (const each of this.#read()) this.#set(each);
  }

  /** Learns what other nodes changed before this call. Rejects with `not_ready`. */
  async look(): Promise<void> {
    await this.#shared?.look();
  }

  /** Resolves when what was changed is kept. Rejects with `not_ready`. */
  async saved(): Promise<void> {
    await this.#shared?.save();
  }

  /** Ends one; of several that do, here or on other nodes, one is told true. */
  async take(id: string): Promise<boolean> {
    return this.#shared ? this.#shared.take(id) : this.drop(id) !== undefined;
  }

  close(): void {
    this.#shared?.close();
  }

  /** Root tokens of other nodes. */
  root(id: string): SharedRoot | undefined {
    return [...this.#roots.values()].flat().find((root) => root.id === id);
  }

  /** Of this node, for the others. */
  setRoots(roots: readonly SharedRoot[]): void {
    if (!this.#shared) return;
    this.#shared.change({ id: `${ROOTS}${this.#node}`, body: JSON.stringify({ roots }), expires_at: Number.MAX_SAFE_INTEGER });
    this.write();
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
    this.#set(token);
    if (isShared(token)) this.#shared?.change({ id: token.id, body: JSON.stringify(token), expires_at: token.expires_at });
  }

  drop(id: string): MadeToken | undefined {
    const found = this.#unset(id);
    if (found && isShared(found)) this.#shared?.change({ id, body: null, expires_at: found.expires_at });
    return found;
  }

  /** Links and agents' tokens end with the daemon. Where nodes share them `saved` says when it is done. */
  write(): void {
    if (this.#shared) return void this.#shared.save().catch(() => undefined);
    const lasting = this.all().filter(({ kind }) => kind === "minted" || kind === "page");
    writePrivate(this.#file, JSON.stringify(lasting));
  }

  #set(token: MadeToken): void {
    this.#byId.set(token.id, token);
    this.#byHash.set(token.hash, token);
  }

  #unset(id: string): MadeToken | undefined {
    const found = this.#byId.get(id);
    this.#byId.delete(id);
    if (found) this.#byHash.delete(found.hash);
    return found;
  }

  #apply(rows: readonly Pick<TokenRow, "id" | "body">[]): void {
    const ended: MadeToken[] = [];
    for (const { id, body } of rows) {
      const value: unknown = body === null ? null : JSON.parse(body);
      if (id.startsWith(ROOTS)) this.#roots.set(id, rootsValidator().Check(value) ? value.roots : []);
      else if (validator().Check(value)) this.#set(value);
      else ended.push(...[this.#unset(id) ?? []].flat());
    }
    this.#onEnded(ended);
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
