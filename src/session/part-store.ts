// Keeps events small: base64 media, and tool output, JSON or text sent to the agent over 256 kB, go to the artifact store; the part keeps a path and a bounded preview.
import type { ArtifactRef, ContentPart } from "../schema/content.ts";
import type { DraftPart, MediaPart } from "../schema/draft.ts";
import type { EventDataOf } from "../schema/event-data.ts";
import type { ItemRole } from "../schema/item.ts";
import { BoundedMap } from "./bounded-map.ts";

/** Over this many characters a part's payload leaves the event. */
export const INLINE_LIMIT = 262_144;
const PREVIEW_HEAD = 6_000;
const PREVIEW_TAIL = 2_000;
const REMEMBERED = 1_000;

export type ArtifactKind = EventDataOf["artifact.written"]["kind"];

export type StoredArtifact = { artifact_id: string; path: string; bytes: number; digest: string };

/** The content-addressed store, as the session sees it. Synchronous: the artifact is on disk before an event names it. */
export interface ArtifactWriter {
  put(bytes: Buffer, info: { kind: ArtifactKind; mime: string; name?: string }): StoredArtifact;
}

export const preview = (text: string): string =>
  text.length <= PREVIEW_HEAD + PREVIEW_TAIL
    ? text
    : `${text.slice(0, PREVIEW_HEAD)}\n… ${text.length - PREVIEW_HEAD - PREVIEW_TAIL} characters left out …\n${text.slice(-PREVIEW_TAIL)}`;

export class PartStore {
  readonly #artifacts: ArtifactWriter;
  readonly #written: (data: EventDataOf["artifact.written"]) => void;
  /** What was reported: a message that grows names its pictures again and again. */
  readonly #told = new BoundedMap<string, true>(REMEMBERED);

  constructor(artifacts: ArtifactWriter, written: (data: EventDataOf["artifact.written"]) => void) {
    this.#artifacts = artifacts;
    this.#written = written;
  }

  /**
   * The part as it may stand in an event. What the model writes stays whole: it was reported in pieces, and its deltas must add up to it. What it is given
   * comes at once.
   */
  stored(part: DraftPart, role: ItemRole = null): ContentPart {
    switch (part.type) {
      case "text":
        return role === "assistant" || role === null || part.text.length <= INLINE_LIMIT
          ? part
          : { ...part, text: preview(part.text), artifact: this.#text(part.text, "text", "text/plain") };
      case "media":
        return this.#media(part);
      case "tool_result":
        return part.output.length <= INLINE_LIMIT
          ? part
          : { ...part, output: preview(part.output), artifact: this.#text(part.output, "tool_output", "text/plain") };
      case "tool_call":
        return part.arguments.length <= INLINE_LIMIT ? part : { ...part, arguments: JSON.stringify(this.json(part.arguments)) };
      case "file_ref":
        return (part.diff?.length ?? 0) <= INLINE_LIMIT
          ? part
          : {
              ...part,
              diff: `${preview(part.diff ?? "")}\n… whole diff: ${this.#text(part.diff ?? "", "text", "text/x-diff").path}`,
            };
      case "json": {
        const text = JSON.stringify(part.json) ?? "null";
        return text.length <= INLINE_LIMIT ? part : { type: "json", json: this.json(text) };
      }
      case "resource":
        return (part.text?.length ?? 0) <= INLINE_LIMIT
          ? part
          : { ...part, uri: this.#text(part.text ?? "", "text", part.mime ?? "text/plain").path, text: preview(part.text ?? "") };
      default:
        return part;
    }
  }

  /** What stands in place of JSON that is too large: where it lies, and how it begins. */
  json(text: string): { artifact: ArtifactRef; preview: string } {
    return { artifact: this.#text(text, "json", "application/json"), preview: preview(text) };
  }

  #text(text: string, kind: ArtifactKind, mime: string): ArtifactRef {
    return this.#put(Buffer.from(text), kind, mime, preview(text).slice(0, 500));
  }

  #media(part: MediaPart): ContentPart {
    const bytes = Buffer.from(part.base64, "base64");
    const { path } = this.#put(bytes, part.media, part.mime, undefined, part.name);
    switch (part.media) {
      case "image":
        return { type: "image", path, mime: part.mime };
      case "audio":
        return { type: "audio", path, mime: part.mime };
      case "file":
        return { type: "resource", uri: path, mime: part.mime, ...(part.name ? { text: part.name } : {}) };
    }
  }

  #put(bytes: Buffer, kind: ArtifactKind, mime: string, shown?: string, name?: string): ArtifactRef {
    const { artifact_id, path, digest } = this.#artifacts.put(bytes, { kind, mime, ...(name ? { name } : {}) });
    const told = `${artifact_id} ${kind} ${mime}`;
    if (!this.#told.has(told))
      this.#written({ artifact_id, kind, bytes: bytes.length, digest, mime, ...(shown ? { preview: shown } : {}) });
    this.#told.set(told, true);
    return { artifact_id, path, bytes: bytes.length, mime };
  }
}
