/**
 * All tokens: the root ones of the data directory (`token` is admin, `token.observe` observe, both 0600) and those made from them. Secrets are known by
 * their hash only. Files are looked at again on each lookup, so a rotated token is refused at once. It decides nothing about routes.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { type Role, reaches, type Surface } from "../schema/actor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { type MadeToken, MadeTokens } from "./made-tokens.ts";
import type { TokenTable } from "./shared-tokens.ts";
import { isWithin, pageRole, type Scope, type Token } from "./token.ts";
import { ensureSecret, MIN_SECRET_LENGTH, ROOT_ROLES, type RootRole, stampOf, tokenFile, writePrivate } from "./token-files.ts";

/** A shared session is open for a day at most. */
const SHARE_LIFETIME_MS = 24 * 60 * 60_000;
/** A link in a terminal is followed at once, or a new one is made. */
export const LINK_LIFETIME_MS = 60_000;
export const PAGE_LIFETIME_MS = 60 * 60_000;
/** A renewed token ends here, whatever it does. */
const LONGEST_RENEWED_MS = 30 * 24 * 60 * 60_000;

/** Live tokens that may exist. Nothing is pushed out: who is over the quota is refused. */
const QUOTA = {
  /** All together. */
  all: 1_000,
  /** Made by tokens below admin, all together: they never take the room of the administrator. */
  belowAdmin: 500,
  perAdmin: 100,
  perOther: 20,
};

type Root = Token & { hash: string };
export type Issued = { secret: string; token: Token };

export type TokenStoreOptions = {
  dataDir: string;
  /** An admin token of the user's own, instead of the one in the file. */
  token?: string;
  /** False: no root token lies on the disk; `token` must be given. */
  files?: boolean;
  pageLifetimeMs?: number;
  now?: () => number;
  /** A node of a fleet: what it is called, and the tokens that all nodes share. */
  shared?: { node: string; table: TokenTable } | undefined;
};

export type MintSpec = {
  role: Role;
  lifetimeMs: number;
  scope?: Scope | null;
  /** Where the sessions of its scope work, to compare them with the scope of its maker. */
  directories?: ReadonlyMap<string, string>;
  label?: string;
  surface?: Surface;
  /** It may prolong itself by the same time again and again: short-lived when its holder is gone. */
  renewable?: boolean;
};

type MadeSpec = MintSpec & { kind: "minted" | "page" | "link"; origin?: string | undefined };

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;

export class TokenStore {
  readonly #options: TokenStoreOptions;
  readonly #now: () => number;
  readonly #made: MadeTokens;
  readonly #directory: number | undefined;
  #roots: Root[] = [];
  #stamp = "";
  /** Called when a root token changed: its file was replaced, or is gone. */
  onRootChange: (() => void) | undefined;
  /** Called when a link was used or is over. */
  onLinkEnd: ((id: string) => void) | undefined;
  /** Called when tokens may have ended on another node. */
  onEndedElsewhere: (() => void) | undefined;

  private constructor(options: TokenStoreOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#made = new MadeTokens({
      ...options,
      onEnded: (ended) => {
        for (const { kind, id } of ended) if (kind === "link") this.onLinkEnd?.(id);
        this.onEndedElsewhere?.();
      },
    });
    this.#directory = inodeOf(options.dataDir);
    this.refresh();
  }

  /** Makes the token files when they are missing, and takes all rights from others when they are there. */
  static open(options: TokenStoreOptions): TokenStore {
    if (options.token !== undefined && !/^[\w.~+/=-]{16,512}$/.test(options.token))
      throw new ProblemError(
        "invalid_request",
        `A token needs at least ${MIN_SECRET_LENGTH} characters out of letters, digits and -._~+/=. Leave it out to have one made.`,
      );
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    if (options.files !== false) for (const role of ROOT_ROLES) ensureSecret(tokenFile(options.dataDir, role), newSecret);
    return new TokenStore(options);
  }

  /** The secret of a root token: for the discovery file, never for a reply. */
  secret(role: RootRole): string {
    if (role === "admin" && this.#options.token !== undefined) return this.#options.token;
    return readFileSync(tokenFile(this.#options.dataDir, role), "utf8").trim();
  }

  /** Resolves when this secret is known, if any node has made it; without one, when all of them are. Rejects with `not_ready`. */
  async look(secret?: string): Promise<void> {
    if (secret === undefined || this.find(secret) === undefined) await this.#made.look();
  }

  /** Resolves when what was made or ended is kept: before anybody is told of it. Rejects with `not_ready`. */
  saved(): Promise<void> {
    return this.#made.saved();
  }

  close(): void {
    this.#made.close();
  }

  /** The token with this secret, or undefined. Found by its hash, so the time says nothing about the secret. */
  find(secret: string): Token | undefined {
    this.refresh();
    const hash = sha256(secret);
    const root = this.#roots.find((each) => each.hash === hash);
    if (root) return { id: root.id, role: root.role, kind: root.kind, scope: null };
    const found = this.#made.byHash(hash);
    return found && this.#valid(found) ? tokenOf(found) : undefined;
  }

  /** The directory of the token files is gone, or another one: then a token that is not found may still be a good one. */
  get isLost(): boolean {
    return inodeOf(this.#options.dataDir) !== this.#directory;
  }

  /** True while the token with this id is valid. */
  alive(id: string): boolean {
    this.refresh();
    if (this.#isRoot(id)) return true;
    const found = this.#made.get(id);
    return found !== undefined && this.#valid(found);
  }

  /** All that live, root ones first. */
  list(): (Token & { parent: string | null })[] {
    this.refresh();
    return [
      ...this.#roots.map(({ id, role, kind, scope }) => ({ id, role, kind, scope, parent: null })),
      ...this.#live().map((each) => ({ ...tokenOf(each), parent: each.parent })),
    ];
  }

  /** A further token: never with more rights than its minter, never outliving it. */
  mint(by: Token, spec: MintSpec): Issued {
    return this.#issue(by, { ...spec, kind: "minted" });
  }

  /** For one visit of a browser, within a minute. Traded with `trade`. */
  link(by: Token, spec: { role: Role; label?: string }): Issued {
    return this.#issue(by, { ...spec, kind: "link", lifetimeMs: LINK_LIFETIME_MS });
  }

  /**
   * To look at one session, for as long as the token of whoever shares it lives. Pages may make these, and nothing else: such a token can do less than theirs
   * and ends no later, so whoever takes a page over gains nothing that lasts.
   */
  share(by: Token, sessionId: string, directory: string): Issued {
    if (by.kind === "link" || by.kind === "agent") throw new ProblemError("forbidden", "Only people and pages share sessions.");
    const directories = new Map([[sessionId, directory]]);
    const scope = { sessions: [sessionId] };
    return this.#make(by, {
      role: "observe",
      scope,
      directories,
      label: "shared",
      kind: "minted",
      lifetimeMs: SHARE_LIFETIME_MS,
    });
  }

  /** For the agent of a session, until it is revoked or the daemon stops. */
  issueForAgent(sessionId: string, spec: { role: Role; scope: Scope }): Issued {
    return this.#put({
      role: spec.role,
      kind: "agent",
      parent: null,
      parent_role: "admin",
      scope: spec.scope,
      expires_at: Number.MAX_SAFE_INTEGER,
      surface: "agent",
      session_id: sessionId,
    });
  }

  /** A page token for a link, which is over then, or for another token of a person. Undefined: the secret opens nothing. */
  async trade(secret: string, origin: string | undefined): Promise<Issued | undefined> {
    await this.look(secret);
    const shown = this.find(secret);
    if (!shown || shown.kind === "page" || shown.kind === "agent") return undefined;
    const lifetimeMs = this.#options.pageLifetimeMs ?? PAGE_LIFETIME_MS;
    const page = { kind: "page", lifetimeMs, renewable: true, surface: "inspector", origin } as const;
    const issued =
      shown.kind === "link" ? await this.#used(shown.id, page) : this.#issue(shown, { ...page, role: pageRole(shown) });
    if (issued) await this.saved();
    return issued;
  }

  /** A link is used once, whatever node it is shown to. */
  async #used(id: string, page: Omit<MadeSpec, "role">): Promise<Issued | undefined> {
    // As it is now: that it was used may be read from the table before we are told that it was us.
    const link = this.#made.get(id);
    if (!link || !(await this.#made.take(id))) return undefined;
    this.#made.drop(id);
    this.onLinkEnd?.(id);
    const by = this.#holder(link.parent);
    return by && this.#issue(by, { ...page, role: link.role, ...(link.label === undefined ? {} : { label: link.label }) });
  }

  /** Prolongs a renewable token; its secret and its streams stay. Returns its new end. */
  renew(id: string): number {
    const found = this.#made.get(id);
    if (!found?.renewal || !this.#valid(found))
      throw new ProblemError("unsupported", "This token cannot be renewed. Make another one before it ends.");
    const expires_at = Math.min(this.#now() + found.renewal.lifetime_ms, found.renewal.until);
    this.#made.add({ ...found, expires_at });
    this.#made.write();
    return expires_at;
  }

  /** Ends a token that was made, and all made by it. False when there is none. */
  revoke(id: string): boolean {
    if (!this.#made.get(id)) return false;
    this.#drop(id);
    this.#prune();
    this.#made.write();
    return true;
  }

  /** A session was removed: another one that takes its id is not reached by who was let in to it. Tokens that are left with nothing end. */
  forgetSession(sessionId: string): void {
    let changed = false;
    for (const token of this.#made.all()) {
      const { id, kind, scope, session_id } = token;
      const own = kind === "agent" && session_id === sessionId;
      if (!own && !scope?.sessions?.includes(sessionId)) continue;
      const sessions = scope?.sessions?.filter((each) => each !== sessionId) ?? [];
      if (own || (sessions.length === 0 && (scope?.directories ?? []).length === 0)) this.#drop(id);
      else this.#made.add({ ...token, scope: { ...scope, sessions } });
      changed = true;
    }
    if (!changed) return;
    this.#prune();
    this.#made.write();
  }

  /** A new secret for a root token; the old one and all made by it are refused from now on. */
  rotate(role: RootRole): string {
    if (this.#options.files === false || (role === "admin" && this.#options.token !== undefined))
      throw new ProblemError("unsupported", "This token was given at the start. Start the daemon with another one.");
    const secret = newSecret();
    writePrivate(tokenFile(this.#options.dataDir, role), `${secret}\n`);
    this.refresh();
    return secret;
  }

  /** Reads the files again when they are others than last time. A file that is gone opens nothing. */
  refresh(): void {
    const stamp = ROOT_ROLES.map((role) => stampOf(tokenFile(this.#options.dataDir, role))).join("/");
    if (stamp === this.#stamp) return;
    const first = this.#stamp === "";
    this.#stamp = stamp;
    this.#roots = ROOT_ROLES.flatMap((role) => {
      const secret = this.#readSecret(role);
      if (secret.length < MIN_SECRET_LENGTH) return [];
      const hash = sha256(secret);
      return [{ id: idOf(hash), role, kind: "root", scope: null, hash }];
    });
    this.#made.setRoots(this.#roots.map(({ id, role }) => ({ id, role })));
    if (!first) this.onRootChange?.();
  }

  #issue(by: Token, spec: MadeSpec): Issued {
    if (by.kind === "page" || by.kind === "link" || by.kind === "agent")
      throw new ProblemError(
        "forbidden",
        "Only tokens of people and programs make further tokens: not those of pages, links and agents.",
      );
    return this.#make(by, spec);
  }

  #make(by: Token, spec: MadeSpec): Issued {
    if (!reaches(by.role, spec.role))
      throw new ProblemError("forbidden", `A token of the role ${by.role} cannot make one of the role ${spec.role}.`);
    const scope = spec.scope ?? by.scope;
    if (scope !== null && !isWithin(scope, by.scope, spec.directories ?? new Map()))
      throw new ProblemError("forbidden", "A token cannot reach more sessions or directories than the one it is made by.");
    this.#prune();
    this.#mustHaveRoom(by);
    const now = this.#now();
    const parentEnd = this.#made.get(by.id);
    const end = Math.min(parentEnd?.renewal?.until ?? parentEnd?.expires_at ?? Number.MAX_SAFE_INTEGER);
    const { kind, role, lifetimeMs, label, surface, origin, renewable } = spec;
    return this.#put({
      role,
      kind,
      parent: by.id,
      parent_role: by.role,
      scope,
      expires_at: Math.min(now + lifetimeMs, end),
      ...(renewable ? { renewal: { lifetime_ms: lifetimeMs, until: Math.min(now + LONGEST_RENEWED_MS, end) } } : {}),
      ...(label === undefined ? {} : { label }),
      ...(surface === undefined ? {} : { surface }),
      ...(origin === undefined ? {} : { origin }),
    });
  }

  #mustHaveRoom(by: Token): void {
    const live = this.#live().filter(({ kind }) => kind !== "agent");
    const own = live.filter(({ parent }) => parent === by.id).length;
    const admin = by.role === "admin";
    const belowAdmin = live.filter(({ parent_role }) => parent_role !== "admin").length;
    const full = live.length >= QUOTA.all || (!admin && belowAdmin >= QUOTA.belowAdmin);
    if (full || own >= (admin ? QUOTA.perAdmin : QUOTA.perOther)) throw new ProblemError("too_many_tokens");
  }

  #put(made: Omit<MadeToken, "id" | "hash">): Issued {
    const secret = newSecret();
    const hash = sha256(secret);
    const entry: MadeToken = { id: idOf(hash), hash, ...made };
    this.#made.add(entry);
    this.#made.write();
    return { secret, token: tokenOf(entry) };
  }

  #holder(id: string | null): Token | undefined {
    const root = id === null ? undefined : this.#made.root(id);
    return this.list().find((each) => each.id === id) ?? (root && { ...root, kind: "root", scope: null });
  }

  #live(): MadeToken[] {
    return this.#made.all().filter((each) => this.#valid(each));
  }

  #valid(token: MadeToken): boolean {
    if (token.expires_at <= this.#now()) return false;
    if (token.parent === null) return true;
    const parent = this.#made.get(token.parent);
    return parent ? this.#valid(parent) : this.#isRoot(token.parent);
  }

  #isRoot(id: string): boolean {
    return this.#roots.some((root) => root.id === id) || this.#made.root(id) !== undefined;
  }

  #drop(id: string): void {
    if (this.#made.drop(id)?.kind === "link") this.onLinkEnd?.(id);
  }

  #prune(): void {
    for (const each of this.#made.all()) if (!this.#valid(each)) this.#drop(each.id);
  }

  #readSecret(role: RootRole): string {
    if (this.#options.files === false && role === "observe") return "";
    try {
      return this.secret(role);
    } catch (error) {
      // A disk that failed once: the file is read again next time, or its owner would stay shut out until it changes.
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) this.#stamp = "unread";
      return "";
    }
  }
}

function tokenOf({ id, role, kind, scope, label, surface, origin, session_id, expires_at }: MadeToken): Token {
  return {
    id,
    role,
    kind,
    scope,
    ...(kind === "agent" ? {} : { expires_at }),
    ...(label === undefined ? {} : { label }),
    ...(surface === undefined ? {} : { surface }),
    ...(origin === undefined ? {} : { origin }),
    ...(session_id === undefined ? {} : { session_id }),
  };
}

/** Never begins with a hyphen: `--token -x…` would be taken for two options. */
function newSecret(): string {
  const secret = randomBytes(32).toString("base64url");
  return secret.startsWith("-") ? newSecret() : secret;
}
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
/** Enough of the hash to name a token in logs, too little to find it by. */
const idOf = (hash: string): string => `tok_${hash.slice(0, 12)}`;
