/**
 * What background commands of Claude Code write. The CLI puts it into a file and says only the file's name, in the result of the call and again at the end; the
 * file is followed here and reported as the output of the task. Not here: start and end of such a task, which the translator says.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { SessionPort } from "../../contract.ts";
import { isRecord, type JsonRecord, rec, records, str } from "../../json.ts";
import { commandKey } from "../translate/tasks.ts";

const EVERY_MS = 250;
const PIECE_BYTES = 64 * 1024;
/** Read in one go, so that a command that floods its file does not hold up the daemon. */
const AT_ONCE = 16;

type Followed = { id: string; path: string; offset: number; decoder: StringDecoder };

export class BackgroundOutput {
  readonly #port: Pick<SessionPort, "say">;
  readonly #followed = new Map<string, Followed>();
  #timer: NodeJS.Timeout | null = null;

  constructor(port: Pick<SessionPort, "say">) {
    this.#port = port;
  }

  /** Every message of the CLI, before what it means is reported: the last output comes before the end. */
  before(frame: unknown): void {
    if (!isRecord(frame)) return;
    if (frame.type === "user") this.#begun(frame);
    if (frame.type === "system" && frame.subtype === "task_notification") this.#ended(frame);
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#followed.clear();
  }

  #begun(frame: JsonRecord): void {
    const id = str(rec(frame.tool_use_result).backgroundTaskId);
    if (id === undefined || this.#followed.has(id)) return;
    const path = records(rec(frame.message).content)
      .map(outputPath)
      .find((found) => found && isOf(found, id));
    if (path === undefined) return;
    this.#followed.set(id, { id, path, offset: 0, decoder: new StringDecoder("utf8") });
    this.#timer ??= setInterval(() => this.#readAll(), EVERY_MS).unref();
  }

  #ended(frame: JsonRecord): void {
    const id = str(frame.task_id) ?? "";
    const path = str(frame.output_file);
    const known = path !== undefined && isOf(path, id) ? { id, path, offset: 0, decoder: new StringDecoder("utf8") } : undefined;
    const file = this.#followed.get(id) ?? known;
    if (file === undefined) return;
    while (this.#read(file));
    this.#tell(file, file.decoder.end());
    this.#followed.delete(id);
    if (this.#followed.size === 0) this.close();
  }

  #readAll(): void {
    for (const file of this.#followed.values()) this.#read(file);
  }

  /** True: there is more. A file that is not there, or is none, has nothing to say. */
  #read(file: Followed): boolean {
    let handle: number;
    try {
      handle = openSync(file.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return false;
    }
    try {
      if (!fstatSync(handle).isFile()) return false;
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      for (let count = 0; count < AT_ONCE; count++) {
        const bytes = readSync(handle, piece, 0, PIECE_BYTES, file.offset);
        file.offset += bytes;
        this.#tell(file, file.decoder.write(piece.subarray(0, bytes)));
        if (bytes < PIECE_BYTES) return false;
      }
      return true;
    } catch {
      return false;
    } finally {
      closeSync(handle);
    }
  }

  #tell({ id }: Followed, text: string): void {
    if (text !== "") this.#port.say([{ do: "task.output", key: commandKey(id), text }]);
  }
}

/** The CLI's own sentence; 2.1.325. */
function outputPath(block: JsonRecord): string | undefined {
  const text =
    typeof block.content === "string"
      ? block.content
      : records(block.content)
          .map(({ text }) => str(text))
          .join("\n");
  return /Output is being written to: (\/[^\n]*?\.output)\b/.exec(text)?.[1];
}

/** A file of that task, and of nothing else. */
const isOf = (path: string, id: string): boolean => basename(path) === `${id}.output`;
