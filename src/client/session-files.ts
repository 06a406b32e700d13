// The files of a session's directory, on the daemon's machine. Paths are relative to it.
import type {
  FileChanges,
  FileEntry,
  FileListing,
  FileSearch,
  GitDiff,
  GitStatus,
  PathCompletions,
  WriteFile,
} from "../schema/files.ts";
import { readSse } from "./event-stream.ts";
import type { Http } from "./http.ts";

export type FileSearchOptions = { regex?: boolean; ignore_case?: boolean; path?: string; glob?: string; limit?: number };

export class SessionFiles {
  readonly #http: Http;
  readonly #path: string;

  constructor(http: Http, sessionPath: string) {
    this.#http = http;
    this.#path = sessionPath;
  }

  list(path = "", options: { limit?: number; after?: string } = {}, signal?: AbortSignal): Promise<FileListing> {
    return this.#http.json("GET", `${this.#path}/fs/list`, { query: { path, ...options }, signal });
  }

  stat(path: string, options: { follow?: boolean } = {}, signal?: AbortSignal): Promise<FileEntry> {
    return this.#http.json("GET", `${this.#path}/fs/stat`, { query: { path, ...options }, signal });
  }

  /** The bytes; `start` and `end` (inclusive) choose a part of them. The `etag` header is for `if_match` of a write. */
  read(path: string, options: { start?: number; end?: number; signal?: AbortSignal } = {}): Promise<Response> {
    const { start, end, signal } = options;
    const headers = start === undefined && end === undefined ? {} : { range: `bytes=${start ?? 0}-${end ?? ""}` };
    return this.#http.open("GET", `${this.#path}/fs/read`, { query: { path }, headers, signal });
  }

  /** All of it or nothing. */
  write(path: string, content: string | Omit<WriteFile, "path">, signal?: AbortSignal): Promise<FileEntry> {
    const body = { path, ...(typeof content === "string" ? { text: content } : content) };
    return this.#http.json("POST", `${this.#path}/fs/write`, { body, signal });
  }

  mkdir(path: string, options: { parents?: boolean } = {}, signal?: AbortSignal): Promise<FileEntry> {
    return this.#http.json("POST", `${this.#path}/fs/mkdir`, { body: { path, ...options }, signal });
  }

  move(from: string, to: string, options: { overwrite?: boolean } = {}, signal?: AbortSignal): Promise<FileEntry> {
    return this.#http.json("POST", `${this.#path}/fs/move`, { body: { from, to, ...options }, signal });
  }

  async delete(path: string, options: { recursive?: boolean } = {}, signal?: AbortSignal): Promise<void> {
    await this.#http.json("POST", `${this.#path}/fs/delete`, { body: { path, ...options }, signal });
  }

  search(q: string, options: FileSearchOptions = {}, signal?: AbortSignal): Promise<FileSearch> {
    return this.#http.json("GET", `${this.#path}/fs/search`, { query: { q, ...options }, signal });
  }

  /** Paths for `@path`, the best first. */
  async complete(q: string, options: { limit?: number } = {}, signal?: AbortSignal): Promise<PathCompletions["paths"]> {
    return (await this.#http.json<PathCompletions>("GET", `${this.#path}/fs/complete`, { query: { q, ...options }, signal }))
      .paths;
  }

  /** What changes, from now on, until the loop is left. The first one is empty: it watches. */
  async *watch(signal?: AbortSignal): AsyncGenerator<FileChanges, void, undefined> {
    const response = await this.#http.open("GET", `${this.#path}/fs/watch`, { headers: { accept: "text/event-stream" }, signal });
    for await (const { event, data } of readSse(response)) {
      if (event === "ready") yield { paths: [], overflowed: false };
      if (event === "change") yield JSON.parse(data) as FileChanges;
    }
  }

  gitStatus(signal?: AbortSignal): Promise<GitStatus> {
    return this.#http.json("GET", `${this.#path}/git/status`, { signal });
  }

  gitDiff(options: { staged?: boolean; base?: string; path?: string } = {}, signal?: AbortSignal): Promise<GitDiff> {
    return this.#http.json("GET", `${this.#path}/git/diff`, { query: { ...options }, signal });
  }
}
