/** Blobs as files named by their digest, two levels deep. A blob is on disk, whole, before its digest is given out. */
import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "./digest.ts";
import type { BlobStore } from "./ports.ts";

export class FileBlobs implements BlobStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async put(bytes: Buffer): Promise<string> {
    const digest = sha256(bytes);
    const path = this.#path(digest);
    if (await exists(path)) return digest;
    await mkdir(dirname(path), { recursive: true });
    const temporary = `${path}.${randomUUID()}`;
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    return digest;
  }

  async get(digest: string): Promise<Buffer | null> {
    // A digest may come from a model: it must not name another file.
    if (!/^[0-9a-f]{64}$/.test(digest)) return null;
    const bytes = await readFile(this.#path(digest)).catch(() => null);
    return bytes !== null && sha256(bytes) === digest ? bytes : null;
  }

  #path(digest: string): string {
    return join(this.#directory, digest.slice(0, 2), digest);
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
