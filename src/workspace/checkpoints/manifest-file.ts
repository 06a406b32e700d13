/** The manifest on disk: one binary list in depth-first order behind its checksum, written whole under another name and renamed. */
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { Entry, type Kind } from "./entry.ts";
import { syncDirectory } from "./journal.ts";
import { Tree } from "./tree.ts";

const MAGIC = "dragoman manifest 1\n";
const CHECKSUM = 32;
/** kind, racy, mode, size, ino, mtime, ctime, children, length of the name, length of the id */
const FIXED = 1 + 1 + 2 + 8 * 4 + 4 + 2 + 4;
const ID_BYTES = 36;

/** `at`: the checkpoint whose tree this is. */
export function saveManifest(path: string, tree: Tree, at: string): void {
  const writer = new Writer(at, tree);
  const fresh = `${path}.new`;
  const fd = openSync(fresh, "w", 0o600);
  try {
    for (const bytes of writer.done()) for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, path);
  syncDirectory(dirname(path));
}

/** null: there is none, or it is damaged. */
export function loadManifest(path: string): { tree: Tree; at: string } | null {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch {
    return null;
  }
  const body = file.subarray(MAGIC.length + CHECKSUM);
  if (file.toString("latin1", 0, MAGIC.length) !== MAGIC || body.length < ID_BYTES) return null;
  if (
    !createHash("sha256")
      .update(body)
      .digest()
      .equals(file.subarray(MAGIC.length, MAGIC.length + CHECKSUM))
  )
    return null;
  const tree = new Tree();
  const reader = { body, next: ID_BYTES, count: 0, racy: tree.racy };
  const [, root] = take(reader, "");
  tree.replaceRoot(root);
  tree.count = reader.count - 1;
  while (reader.next < body.length) {
    const [name, entry] = take(reader, null);
    tree.loose.set(name, entry);
  }
  return { tree, at: body.toString("latin1", 0, ID_BYTES) };
}

class Writer {
  #buffer: Buffer;
  #next = ID_BYTES;

  constructor(at: string, tree: Tree) {
    this.#buffer = Buffer.allocUnsafe(1024 + (tree.count + tree.loose.size) * 128);
    this.#buffer.write(at.padEnd(ID_BYTES), 0, "latin1");
    this.#add("", tree.root);
    for (const [path, entry] of tree.loose) this.#add(path, entry);
  }

  done(): Buffer[] {
    const body = this.#buffer.subarray(0, this.#next);
    return [Buffer.from(MAGIC, "latin1"), createHash("sha256").update(body).digest(), body];
  }

  #add(name: string, entry: Entry): void {
    const length = FIXED + name.length + entry.id.length;
    if (this.#next + length > this.#buffer.length)
      this.#buffer = Buffer.concat([this.#buffer, Buffer.allocUnsafe(this.#buffer.length + length)]);
    const buffer = this.#buffer;
    let at = this.#next;
    buffer[at] = entry.kind.charCodeAt(0);
    buffer[at + 1] = entry.racy ? 1 : 0;
    buffer.writeUInt16LE(entry.mode, at + 2);
    buffer.writeDoubleLE(entry.size, at + 4);
    buffer.writeDoubleLE(entry.ino, at + 12);
    buffer.writeDoubleLE(entry.mtime, at + 20);
    buffer.writeDoubleLE(entry.ctime, at + 28);
    buffer.writeUInt32LE(entry.children?.size ?? 0, at + 36);
    buffer.writeUInt16LE(name.length, at + 40);
    buffer.writeUInt32LE(entry.id.length, at + 42);
    at += FIXED;
    at += buffer.write(name, at, "latin1");
    at += buffer.write(entry.id, at, "latin1");
    this.#next = at;
    if (entry.children) for (const [child, below] of entry.children) this.#add(child, below);
  }
}

type Reader = { body: Buffer; next: number; count: number; racy: Set<string> };

/** `parent`: the path above, or null for a loose entry, whose name is its path. */
function take(reader: Reader, parent: string | null): [string, Entry] {
  const { body, next: at } = reader;
  const nameEnd = at + FIXED + body.readUInt16LE(at + 40);
  const idEnd = nameEnd + body.readUInt32LE(at + 42);
  const name = body.toString("latin1", at + FIXED, nameEnd);
  const numbers = {
    mode: body.readUInt16LE(at + 2),
    size: body.readDoubleLE(at + 4),
    ino: body.readDoubleLE(at + 12),
    mtimeMs: body.readDoubleLE(at + 20),
    ctimeMs: body.readDoubleLE(at + 28),
  };
  const entry = new Entry(String.fromCharCode(body[at]!) as Kind, numbers, body.toString("latin1", nameEnd, idEnd));
  entry.racy = body[at + 1] === 1;
  reader.next = idEnd;
  reader.count += 1;
  const path = parent ? `${parent}/${name}` : name;
  if (entry.racy && !entry.children) reader.racy.add(path);
  for (let left = body.readUInt32LE(at + 36); left > 0; left--) entry.children!.set(...take(reader, path));
  return [name, entry];
}
