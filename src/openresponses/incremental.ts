/**
 * Sends over a WebSocket only what is new since the last response, where the server still remembers it. Whoever calls always gives the whole request; whether all
 * of it travels is decided here. When the server has forgotten, the whole request is sent again at once.
 */
import type { StreamedResponse, StreamHandlers } from "./client.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseJson, textOf } from "./json.ts";
import { type ResponsesSocket, socketIsStale } from "./websocket.ts";

/** What the server has in its memory: everything up to and with its last response. */
interface Remembered {
  readonly responseId: string;
  /** The request without its input. */
  readonly rest: string;
  /** Each item as text, the response's own included. */
  readonly items: readonly string[];
}

export class IncrementalSender {
  readonly #socket: ResponsesSocket;
  #remembered: Remembered | null = null;

  constructor(socket: ResponsesSocket) {
    this.#socket = socket;
  }

  /** As `ResponsesClient.stream`: a whole body, and every event of the answer. */
  async stream(body: string, handlers: StreamHandlers): Promise<StreamedResponse> {
    const { input, ...rest } = objectOf(parseJson(body));
    const items = arrayOf(input).filter(isObject);
    const fresh = this.#socket.connected ? this.#newItems(items, JSON.stringify(rest)) : null;
    let begun = false;
    const watched: StreamHandlers = {
      ...handlers,
      onEvent: (event) => {
        begun ||= event.data?.type !== "error";
        return handlers.onEvent(event);
      },
    };
    try {
      return await this.#send(rest, items, fresh, watched);
    } catch (error) {
      // An answer that has begun is over: another one behind it would be read as one with it.
      if (begun || fresh === null || !socketIsStale(error) || handlers.signal?.aborted) throw error;
      this.#socket.close();
      return this.#send(rest, items, null, handlers);
    }
  }

  close(): void {
    this.#socket.close();
    this.#remembered = null;
  }

  async #send(
    rest: JsonObject,
    items: readonly JsonObject[],
    fresh: readonly JsonObject[] | null,
    handlers: StreamHandlers,
  ): Promise<StreamedResponse> {
    const previous = fresh === null ? {} : { previous_response_id: this.#remembered?.responseId };
    // A response that fails is forgotten by the server, so nothing may be built on it.
    this.#remembered = null;
    const answer = await this.#socket.create({ ...rest, ...previous, input: fresh ?? items }, handlers);
    const responseId = textOf(answer.response.id);
    if (responseId !== undefined && answer.kind === "completed") {
      const known = [...items, ...answer.items].map((item) => JSON.stringify(item));
      this.#remembered = { responseId, rest: JSON.stringify(rest), items: known };
    }
    return answer;
  }

  /** Null when the request does not go on exactly where the last response ended. */
  #newItems(items: readonly JsonObject[], rest: string): readonly JsonObject[] | null {
    const known = this.#remembered;
    if (known === null || known.rest !== rest || items.length <= known.items.length) return null;
    const same = known.items.every((text, at) => text === JSON.stringify(items[at]));
    return same ? items.slice(known.items.length) : null;
  }
}
