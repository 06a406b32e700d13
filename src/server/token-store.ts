/**
 * Who may call the daemon: two tokens in files of the data directory (`token`, `token.observe`, both 0600) and those minted from them. Secrets are
 * compared as hashes in constant time. Files are looked at again on each lookup, so a rotated token is refused at once. It decides nothing about routes.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { ProblemError } from "../schema/problem-codes.ts";

export type Role = "operate" | "observe";

/** A valid token, without its secret. */
export type Token = { id: string; role: Role };

const MIN_LENGTH = 16;
const MINTED_MAX = 1_000;

const Minted = Type.Object({
  id: Type.String(),
  hash: Type.String(),
  role: Type.Enum(["operate", "observe"]),
  /** The token it was minted by: it lives no longer than that one. */
  parent: Type.String(),
  expires_at: Type.Number(),
});
type Minted = Type.Static<typeof Minted>;
const mintedFile = Compile(Type.Array(Minted));

type Root = Token & { hash: Buffer };

export type TokenStoreOptions = {
  dataDir: string;
  /** An operate token of the user's own, instead of the one in the file. */
  token?: string;
  now?: () => number;
};

export class TokenStore {
  readonly #dataDir: string;
  readonly #given: string | undefined;
  readonly #now: () => number;
  #roots: Root[] = [];
  #stamp = "";
  #minted: Minted[];

  private constructor(options: TokenStoreOptions) {
    this.#dataDir = options.dataDir;
    this.#given = options.token;
    this.#now = options.now ?? Date.now;
    this.#minted = this.#readMinted();
    this.#refresh();
  }

  /** Makes the token files when they are missing, and takes all rights from others when they are there. */
  static open(options: TokenStoreOptions): TokenStore {
    if (options.token !== undefined && !/^[\w.~+/=-]{16,512}$/.test(options.token))
      throw new ProblemError(
        "invalid_request",
        `A token needs at least ${MIN_LENGTH} characters out of letters, digits and -._~+/=. Leave it out to have one made.`,
      );
    mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
    for (const role of ["operate", "observe"] as const) ensureFile(fileOf(options.dataDir, role));
    return new TokenStore(options);
  }

  /** The secret of a root token: for the printed link and the discovery file, never for a reply. */
  secret(role: Role): string {
    if (role === "operate" && this.#given !== undefined) return this.#given;
    return readFileSync(fileOf(this.#dataDir, role), "utf8").trim();
  }

  /** The token with this secret, or undefined. Every candidate is compared, so the time says nothing. */
  find(secret: string): Token | undefined {
    this.#refresh();
    const hash = sha256(secret);
    let found: Token | undefined;
    for (const root of this.#roots) if (timingSafeEqual(root.hash, hash)) found = { id: root.id, role: root.role };
    for (const token of this.#minted)
      if (timingSafeEqual(Buffer.from(token.hash, "hex"), hash) && this.#valid(token)) found = { id: token.id, role: token.role };
    return found;
  }

  /** True while the token with this id still opens the door. */
  alive(id: string): boolean {
    this.#refresh();
    return this.#roots.some((root) => root.id === id) || this.#minted.some((token) => token.id === id && this.#valid(token));
  }

  /** A further token: never with more rights than its minter, never outliving it. */
  mint(by: Token, role: Role, lifetimeMs: number): { secret: string; token: Token } {
    if (role === "operate" && by.role !== "operate")
      throw new ProblemError("forbidden", "An observe token can only make observe tokens.");
    const secret = newSecret();
    const hash = sha256(secret).toString("hex");
    const token: Minted = { id: idOf(hash), hash, role, parent: by.id, expires_at: this.#now() + lifetimeMs };
    this.#minted = [...this.#minted.filter((other) => this.#valid(other)), token].slice(-MINTED_MAX);
    this.#writeMinted();
    return { secret, token: { id: token.id, role } };
  }

  /** Ends a minted token and all minted by it. False when there is none. */
  revoke(id: string): boolean {
    const before = this.#minted.length;
    this.#minted = this.#minted.filter((token) => token.id !== id && this.#valid(token));
    this.#minted = this.#minted.filter((token) => this.#valid(token));
    if (this.#minted.length === before) return false;
    this.#writeMinted();
    return true;
  }

  /** A new secret for a root token; the old one and all minted by it are refused from now on. */
  rotate(role: Role): string {
    if (role === "operate" && this.#given !== undefined)
      throw new ProblemError("unsupported", "This token was given on the command line. Start the daemon with another one.");
    const secret = newSecret();
    writePrivate(fileOf(this.#dataDir, role), `${secret}\n`);
    this.#refresh();
    return secret;
  }

  #valid(token: Minted): boolean {
    if (token.expires_at <= this.#now()) return false;
    const parent = this.#minted.find((other) => other.id === token.parent);
    return parent ? this.#valid(parent) : this.#roots.some((root) => root.id === token.parent);
  }

  /** Reads the files again when they are others than last time. A file that is gone opens no door. */
  #refresh(): void {
    const roles: Role[] = ["operate", "observe"];
    const stamp = roles.map((role) => stampOf(fileOf(this.#dataDir, role))).join("/");
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#roots = roles.flatMap((role) => {
      const secret = this.#readSecret(role);
      if (secret.length < MIN_LENGTH) return [];
      const hash = sha256(secret);
      return [{ id: idOf(hash.toString("hex")), role, hash }];
    });
  }

  #readSecret(role: Role): string {
    try {
      return this.secret(role);
    } catch {
      return "";
    }
  }

  get #mintedPath(): string {
    return join(this.#dataDir, "tokens.json");
  }

  #readMinted(): Minted[] {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#mintedPath, "utf8"));
      return mintedFile.Check(value) ? value.filter((token) => /^[0-9a-f]{64}$/.test(token.hash)) : [];
    } catch {
      return [];
    }
  }

  #writeMinted(): void {
    writePrivate(this.#mintedPath, JSON.stringify(this.#minted));
  }
}

const fileOf = (dataDir: string, role: Role): string => join(dataDir, role === "operate" ? "token" : "token.observe");
const newSecret = (): string => randomBytes(32).toString("base64url");
const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
/** Enough of the hash to name a token in logs, too little to find it by. */
const idOf = (hash: string): string => `tok_${hash.slice(0, 12)}`;

function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino}:${stat.mtimeNs}:${stat.size}` : "none";
}

function ensureFile(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat && readFileSync(file, "utf8").trim().length >= MIN_LENGTH) {
    if ((stat.mode & 0o077) !== 0) chmodSync(file, 0o600);
    return;
  }
  writePrivate(file, `${newSecret()}\n`);
}

/** Whole or not at all, and never readable by others, not even for a moment. */
function writePrivate(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  renameSync(temporary, file);
}
