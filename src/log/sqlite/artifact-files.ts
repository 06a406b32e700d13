/**
 * The files of the artifact store: written whole or not at all, read only when their content has the hash that names them. It knows bytes and hashes, not
 * who they belong to.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";

/** Files whose hash is known to be right, as they were then. */
const MOST_VERIFIED = 10_000;
const PIECE_BYTES = 1024 * 1024;

export class ArtifactFiles {
  readonly #folder: string;
  readonly #verified = new Map<string, string>();
  #temporary = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(join(folder, "tmp"), { recursive: true, mode: 0o700 });
    this.#sweep();
  }

  /** True when the file has been verified and has not changed since. */
  isVerified(sha: string): boolean {
    const stat = lstatSync(this.#path(sha), { throwIfNoEntry: false, bigint: true });
    return stat?.isFile() === true && this.#verified.get(sha) === stateOf(stat);
  }

  /** A temporary file, fsynced, then renamed; then the folder is fsynced, so that the name survives too. */
  write(sha: string, bytes: Buffer): void {
    const file = this.#path(sha);
    const temporary = join(this.#folder, "tmp", `${sha}.${this.#temporary++}`);
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const fd = openSync(temporary, "wx", 0o600);
      try {
        for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(temporary, file);
      syncFolder(dirname(file));
      this.#remember(sha, stateOf(lstatSync(file, { bigint: true })));
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  /** A stream of the file, or the reason why it cannot be given. The whole file is hashed before the first byte is handed on, also for a range. */
  async read(
    sha: string,
    size: number,
    range: { start?: number; end?: number },
  ): Promise<Readable | { damage: string } | undefined> {
    const handle = await openFile(this.#path(sha));
    if (handle === undefined || "damage" in handle) return handle;
    try {
      const damage = await this.#verify(sha, size, handle);
      if (damage === null) return createReadStream("", { fd: handle, start: 0, ...range });
      await handle.close();
      return { damage };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  remove(sha: string): void {
    this.#verified.delete(sha);
    rmSync(this.#path(sha), { force: true });
  }

  async #verify(sha: string, size: number, handle: FileHandle): Promise<string | null> {
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile()) return "it is not a file";
    if (stat.size !== BigInt(size)) return `its file has ${stat.size} bytes instead of ${size}`;
    if (this.#verified.get(sha) === stateOf(stat)) return null;
    const hash = createHash("sha256");
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size));
    for (let at = 0; at < size; ) {
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) return "its file was cut";
      hash.update(piece.subarray(0, bytesRead));
      at += bytesRead;
    }
    if (hash.digest("hex") !== sha) return "its content does not have the hash that names it";
    this.#remember(sha, stateOf(stat));
    return null;
  }

  #remember(sha: string, state: string): void {
    this.#verified.delete(sha);
    this.#verified.set(sha, state);
    const [oldest] = this.#verified.keys();
    if (this.#verified.size > MOST_VERIFIED && oldest !== undefined) this.#verified.delete(oldest);
  }

  #path(sha: string): string {
    return join(this.#folder, sha.slice(0, 2), sha);
  }

  /** What a killed daemon left half written. */
  #sweep(): void {
    const folder = join(this.#folder, "tmp");
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true });
  }
}

/** Never through a link: the store makes none, so one that is there leads to something else. */
async function openFile(path: string): Promise<FileHandle | { damage: string } | undefined> {
  if (lstatSync(dirname(path), { throwIfNoEntry: false })?.isSymbolicLink()) return { damage: "its folder is a link" };
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP" || code === "EMLINK") return { damage: "its file is a link" };
    throw error;
  }
}

const stateOf = (stat: { ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint }): string =>
  `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;

function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
