// For tests: a conversation with an ACP agent, reported to a translator line by line, and what came of it.
import type { Draft, DraftOf } from "../../../schema/draft.ts";
import type { NativeDirection, Translation } from "../../contract.ts";
import { AcpTranslator } from "./translator.ts";

export const SESSION = "ses-1";

export class Talk {
  readonly translator = new AcpTranslator();
  readonly told: Translation[] = [];
  #id = 0;

  /** An initialized agent with one session. */
  static with(agentName: string, result: Record<string, unknown> = {}, version = 1): Talk {
    const talk = new Talk();
    const info = { name: agentName, version: "1.0.0" };
    talk.ask("initialize", { protocolVersion: version });
    talk.answer({ protocolVersion: version, ...(version >= 2 ? { info } : { agentInfo: info }) });
    talk.ask("session/new", { cwd: "/work", mcpServers: [] });
    talk.answer({ sessionId: SESSION, ...result });
    return talk;
  }

  row(dir: NativeDirection, data: unknown): Translation[] {
    const translations = this.translator.translate({ dir, data });
    this.told.push(...translations);
    return translations;
  }

  /** We ask. */
  ask(method: string, params: unknown): Translation[] {
    this.#id += 1;
    return this.row("in", { jsonrpc: "2.0", id: this.#id, method, params });
  }

  /** The agent answers what was asked last, or the request with this id. */
  answer(result: unknown, id = this.#id): Translation[] {
    return this.row("out", { jsonrpc: "2.0", id, result });
  }

  fail(error: unknown, id = this.#id): Translation[] {
    return this.row("out", { jsonrpc: "2.0", id, error });
  }

  get lastId(): number {
    return this.#id;
  }

  prompt(text: string): Translation[] {
    return this.ask("session/prompt", { sessionId: SESSION, prompt: [{ type: "text", text }] });
  }

  update(sessionUpdate: string, update: Record<string, unknown> = {}, sessionId = SESSION): Translation[] {
    return this.row("out", {
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId, update: { sessionUpdate, ...update } },
    });
  }

  text(text: string, messageId?: string): Translation[] {
    return this.update("agent_message_chunk", {
      content: { type: "text", text },
      ...(messageId === undefined ? {} : { messageId }),
    });
  }

  /** The agent asks us. */
  request(id: number | string, method: string, params: Record<string, unknown>): Translation[] {
    return this.row("out", { jsonrpc: "2.0", id, method, params: { sessionId: SESSION, ...params } });
  }

  reply(id: number | string, result: unknown): Translation[] {
    return this.row("in", { jsonrpc: "2.0", id, result });
  }

  get drafts(): Draft[] {
    return this.told.flatMap((translation) => translation.drafts);
  }

  of<D extends Draft["do"]>(kind: D): DraftOf<D>[] {
    return this.drafts.filter((draft): draft is DraftOf<D> => draft.do === kind);
  }

  /** The text of each message, in order: what deltas and whole items say. */
  texts(role: "assistant" | "user" = "assistant"): string[] {
    const texts = new Map<string, string>();
    for (const draft of this.drafts) {
      if ((draft.do === "item.start" || draft.do === "item.add") && draft.item.kind === "message" && draft.item.role === role) {
        texts.set(draft.item.key, (draft.item.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join(""));
      }
      if (draft.do === "item.delta" && texts.has(draft.key)) texts.set(draft.key, texts.get(draft.key) + draft.delta);
    }
    return [...texts.values()];
  }

  unparsed(): Translation[] {
    return this.told.filter((translation) => translation.disposition === "unparsed");
  }
}

export const drafts = (translations: Translation[]): Draft[] => translations.flatMap((translation) => translation.drafts);
