// fs/read_text_file and fs/write_text_file for an agent: files of the session's directory and nothing else, symlinks or not.
import { constants } from "node:fs";
import { type FileHandle, lstat, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { JsonRpcError } from "../../../transports/index.ts";
import { type JsonRecord, num, str } from "../../json.ts";
import { openInside } from "./open-inside.ts";

const RESOURCE_NOT_FOUND = -32002;
const INVALID_PARAMS = -32602;
const LF = 10;
/** An answer is held in memory several times, and no model reads more than this. */
const READ_LIMIT_BYTES = 4 * 1024 * 1024;

export class ClientFiles {
  readonly #root: Promise<string>;
  readonly #missing: "error" | "empty";
  readonly #drained: () => Promise<void>;
  /** One file at a time: answers that the agent has not read stay in memory. */
  #reading: Promise<unknown> = Promise.resolve();

  /** `drained`: resolves when the agent has read what it was sent. */
  constructor(directory: string, missing: "error" | "empty", drained: () => Promise<void> = async () => {}) {
    this.#drained = drained;
    this.#root = realpath(directory);
    this.#root.catch(() => {});
    this.#missing = missing;
  }

  read(params: JsonRecord): Promise<{ content: string }> {
    const read = this.#reading.then(async () => {
      await this.#drained();
      return this.#read(params);
    });
    this.#reading = read.catch(() => {});
    return read;
  }

  async #read(params: JsonRecord): Promise<{ content: string }> {
    const asked = str(params.path) ?? "";
    const way = await this.#inside(asked);
    const file = await openInside(await this.#root, way, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return null;
      throw refused(asked, error);
    });
    if (file === null) {
      if (this.#missing === "empty") return { content: "" };
      throw new JsonRpcError(RESOURCE_NOT_FOUND, `Resource not found: ${asked}`, { uri: asked });
    }
    try {
      const info = await file.stat();
      if (!info.isFile()) throw new JsonRpcError(INVALID_PARAMS, `${asked} is not a regular file.`);
      if (info.size > READ_LIMIT_BYTES && num(params.limit) !== undefined)
        return { content: await linesOf(file, num(params.line) ?? 1, num(params.limit) ?? 0) };
      if (info.size > READ_LIMIT_BYTES)
        throw new JsonRpcError(INVALID_PARAMS, `${asked} is larger than ${READ_LIMIT_BYTES} bytes: ask for some lines of it.`);
      return { content: slice(await file.readFile("utf8"), num(params.line), num(params.limit)) };
    } finally {
      await file.close();
    }
  }

  async write(params: JsonRecord): Promise<JsonRecord> {
    const asked = str(params.path) ?? "";
    const content = str(params.content);
    if (content === undefined) throw new JsonRpcError(INVALID_PARAMS, "content must be a string.");
    const way = await this.#inside(asked);
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK;
      const file = await openInside(await this.#root, way, flags);
      try {
        await file.truncate();
        await file.writeFile(content, "utf8");
      } finally {
        await file.close();
      }
    } catch (error) {
      throw error instanceof JsonRpcError ? error : refused(asked, error);
    }
    return {};
  }

  /** A directory inside, for a terminal. */
  async directory(asked: string | undefined): Promise<string> {
    if (asked === undefined) return this.#root;
    const path = join(await this.#root, await this.#inside(asked));
    const info = await stat(path).catch((error: unknown) => {
      throw refused(asked, error);
    });
    if (!info.isDirectory()) throw new JsonRpcError(INVALID_PARAMS, `${asked} is not a directory.`);
    return path;
  }

  /** The way from the session's directory, with every link resolved as far as it exists; throws when it leads out of it. */
  async #inside(asked: string): Promise<string> {
    if (asked === "" || asked.includes("\0")) throw new JsonRpcError(INVALID_PARAMS, "path must be the path of a file.");
    const root = await this.#root;
    const real = await resolveExisting(isAbsolute(asked) ? resolve(asked) : resolve(root, asked));
    const way = relative(root, real);
    if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) {
      throw new JsonRpcError(INVALID_PARAMS, `${asked} is outside of the session's directory.`);
    }
    return way;
  }
}

/** realpath of the deepest part that exists, with the rest behind it. A dangling link counts as leading where it points. */
async function resolveExisting(path: string, depth = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || depth > 256 || dirname(path) === path) throw refused(path, error);
    const parent = await resolveExisting(dirname(path), depth + 1);
    const target = join(parent, basename(path));
    const link = await lstat(target).catch(() => null);
    if (!link?.isSymbolicLink()) return target;
    return resolveExisting(resolve(parent, await readlink(target)), depth + 1);
  }
}

/** Lines count from 1; the text keeps its own line ends. */
function slice(text: string, line: number | undefined, limit: number | undefined): string {
  if (line === undefined && limit === undefined) return text;
  const lines = text.split(/(?<=\n)/);
  const start = Math.max(0, (line ?? 1) - 1);
  return lines.slice(start, limit === undefined ? undefined : start + limit).join("");
}

/** Some lines of a large file, read piece by piece. */
async function linesOf(file: FileHandle, line: number, limit: number): Promise<string> {
  const kept: Buffer[] = [];
  const end = Math.max(1, line) + limit;
  let bytes = 0;
  let at = 1;
  for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 256 * 1024 })) {
    let from = 0;
    const piece: Buffer = chunk;
    while (from < piece.length && at < end) {
      const lf = piece.indexOf(LF, from);
      const to = lf === -1 ? piece.length : lf + 1;
      if (at >= line) {
        kept.push(piece.subarray(from, to));
        bytes += to - from;
      }
      if (lf !== -1) at += 1;
      from = to;
    }
    if (bytes > READ_LIMIT_BYTES)
      throw new JsonRpcError(INVALID_PARAMS, `These lines have more than ${READ_LIMIT_BYTES} bytes: ask for fewer.`);
    if (at >= end) break;
  }
  return Buffer.concat(kept).toString("utf8");
}

const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : undefined;

const refused = (path: string, error: unknown): JsonRpcError =>
  new JsonRpcError(
    codeOf(error) === "ENOENT" ? RESOURCE_NOT_FOUND : INVALID_PARAMS,
    `${path}: ${error instanceof Error ? error.message : String(error)}`,
  );
