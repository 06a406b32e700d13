/** What our own agent says, as drafts. Routes each message to its meaning; pure, see the contract. */
import { parseJson } from "../../../openresponses/json.ts";
import { readFields } from "../../../openresponses/sse-reader.ts";
import type { NativeMessage, Translation, Translator } from "../../contract.ts";
import { isRecord, rec, str } from "../../json.ts";
import { heartbeat, mapped, unparsed } from "../../translation.ts";
import { commandDrafts } from "./commands.ts";
import { JournalDrafts } from "./journal-drafts.ts";
import { SESSION, type Spoken } from "./wire.ts";
import { isCommand, isSpoken } from "./wire-check.ts";

export class ResponsesTranslator implements Translator {
  readonly #journal = new JournalDrafts();

  translate({ dir, data }: NativeMessage): Translation[] {
    switch (dir) {
      case "in":
        if (!isCommand(data)) return [unparsed(SESSION, "in:unknown", "not a command of this agent")];
        return [mapped(SESSION, `in:${data.type}`, commandDrafts(data))];
      case "out":
        if (!isSpoken(data)) return [unparsed(SESSION, "unknown", `not a record of this agent: ${typeOf(data)}`)];
        return [this.#said(data)];
      case "sse":
        return [this.#received(data)];
      case "err":
        return [mapped(SESSION, "stderr")];
      case "exit":
        return [mapped(SESSION, "exit")];
      case "http":
        return [unparsed(SESSION, "http", "this agent keeps answers as streams")];
      default:
        return dir satisfies never;
    }
  }

  #said(spoken: Spoken): Translation {
    if (spoken.type === "notice") {
      const { name, detail } = spoken;
      return {
        session: SESSION,
        type: spoken.type,
        disposition: "noted",
        drafts: [{ do: "event", type: "agent.notice", data: { name, detail } }],
      };
    }
    if (spoken.type === "child.started") {
      const { session_id, agent } = spoken;
      const data = { name: "subagent", detail: { session_id, agent } };
      return { session: SESSION, type: spoken.type, disposition: "noted", drafts: [{ do: "event", type: "agent.notice", data }] };
    }
    return mapped(SESSION, spoken.type, this.#journal.drafts(spoken));
  }

  /** A block of an event stream as text, or a message of a WebSocket as an object. */
  #received(data: unknown): Translation {
    if (isRecord(data)) return this.#event(data);
    if (typeof data !== "string") return unparsed(SESSION, "garbage", "neither an event nor a block of a stream");
    if (!/(\r\n|\n|\r)(\r\n|\n|\r)$/.test(data))
      return unparsed(SESSION, "cut", "the stream was cut inside an event, or the event is too large");
    const fields = readFields(data);
    if (fields.data === null) return heartbeat(SESSION, "comment");
    if (fields.data.trim() === "[DONE]") return mapped(SESSION, "done");
    const event = parseJson(fields.data);
    return isRecord(event) ? this.#event(event) : unparsed(SESSION, "garbage", "the payload of the event is no JSON object");
  }

  #event(event: Record<string, unknown>): Translation {
    const stream = this.#journal.stream;
    if (stream === null) return unparsed(SESSION, "unasked", `an event that no request asked for: ${str(event.type) ?? "?"}`);
    return stream.event(event);
  }
}

const typeOf = (data: unknown): string => JSON.stringify(rec(data).type ?? null).slice(0, 100);
