/** The calls of a session: which item a call is, and what the journal says of it. */
import type { ModelCall } from "../../../runtime/input-items.ts";
import type { RecordOf } from "../../../runtime/records.ts";
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { type JsonRecord, str } from "../../json.ts";
import { callPart } from "./answer-items.ts";
import { kindOf } from "./tool-kinds.ts";
import type { OpenCall } from "./wire.ts";

type KnownCall = {
  itemKey: string;
  parent: string | null;
  call_id: string;
  name: string;
  resultStarted: boolean;
  paths: string[];
  files: DraftPart[];
};

export class CallTable {
  readonly #calls = new Map<string, KnownCall>();

  /** The item of this call has been started. */
  announce(call: Pick<ModelCall, "key" | "call_id" | "name">, itemKey: string, parent: string | null): void {
    if (this.#calls.has(call.key)) return;
    this.#calls.set(call.key, {
      itemKey,
      parent,
      call_id: call.call_id,
      name: call.name,
      resultStarted: false,
      paths: [],
      files: [],
    });
  }

  /** A call whose item nobody has started: one of a process that was cut off, or of an endpoint that does not stream items. */
  begin({ key, call_id, name, input }: OpenCall): Draft[] {
    if (this.#calls.has(key)) return [];
    const itemKey = `call:${key}`;
    this.announce({ key, call_id, name }, itemKey, null);
    const part = callPart({ type: "function_call", name, arguments: input, call_id }, itemKey);
    return [
      {
        do: "item.start",
        item: { key: itemKey, native_item_id: call_id, kind: "tool_call", role: "assistant", content: [part] },
      },
    ];
  }

  itemKey(key: string): string | null {
    return this.#calls.get(key)?.itemKey ?? null;
  }

  known(key: string | null | undefined): Pick<KnownCall, "itemKey" | "call_id"> | undefined {
    return this.#calls.get(key ?? "");
  }

  started(record: RecordOf<"call.started">): Draft[] {
    const call = this.#calls.get(record.call);
    if (call === undefined) return [];
    call.paths = record.changes.map((change) => change.path);
    return this.#startResult(call);
  }

  output(record: RecordOf<"call.output">): Draft[] {
    const call = this.#calls.get(record.call);
    if (call === undefined) return [];
    const key = resultKey(call);
    const { chunk: delta, stream } = record;
    return [...this.#startResult(call), { do: "item.delta", key, part_type: "tool_output", delta, stream, part_index: 0 }];
  }

  file({ call, name, mime, base64 }: RecordOf<"call.file">): Draft[] {
    const media = mime.startsWith("audio/") ? "audio" : mime.startsWith("image/") ? "image" : "file";
    this.#calls.get(call)?.files.push({ type: "media", media, mime, base64, name });
    return [];
  }

  finished(record: RecordOf<"call.finished">): Draft[] {
    const call = this.#calls.get(record.call);
    if (call === undefined) return [];
    this.#calls.delete(record.call);
    const status = record.is_error ? "failed" : "completed";
    const text = typeof record.output === "string" ? record.output : record.output.map((part) => str(part.text) ?? "").join("");
    const result: DraftPart = {
      type: "tool_result",
      call_id: call.call_id,
      output: text,
      is_error: record.is_error,
      duration_ms: record.duration_ms,
      ...(record.exit_code === null ? {} : { exit_code: record.exit_code }),
    };
    const content = [result, ...imagesOf(record.output), ...call.files, ...(record.is_error ? [] : changesOf(call, text))];
    return [
      ...this.#startResult(call),
      { do: "item.complete", key: call.itemKey, status },
      { do: "item.complete", key: resultKey(call), status, content },
    ];
  }

  #startResult(call: KnownCall): Draft[] {
    if (call.resultStarted) return [];
    call.resultStarted = true;
    const content: DraftPart[] = [{ type: "tool_result", call_id: call.call_id, output: "" }];
    return [
      { do: "item.start", item: { key: resultKey(call), parent: call.parent, kind: "tool_result", role: "tool", content } },
    ];
  }
}

const resultKey = (call: KnownCall): string => `${call.itemKey}/result`;

const DATA_URL = /^data:([^;,]+);base64,(.+)$/s;

function imagesOf(output: RecordOf<"call.finished">["output"]): DraftPart[] {
  if (typeof output === "string") return [];
  return output.flatMap((part: JsonRecord) => {
    const [, mime, base64] = DATA_URL.exec(str(part.image_url) ?? "") ?? [];
    return mime === undefined || base64 === undefined ? [] : [{ type: "media" as const, media: "image" as const, mime, base64 }];
  });
}

/** The files a call has changed. A diff stands in the result of a call that changed one. */
function changesOf(call: KnownCall, text: string): DraftPart[] {
  const action = kindOf(call.name) === "write" ? "write" : "patch";
  const at = text.search(/^--- /m);
  return call.paths.map((path) => ({
    type: "file_ref",
    path,
    action,
    ...(call.paths.length === 1 && at !== -1 ? { diff: text.slice(at) } : {}),
  }));
}
