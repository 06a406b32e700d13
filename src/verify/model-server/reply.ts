// A model answer ready to be put on the wire: the step of a scenario with tools named for this agent, places filled in, numbers set.
// It knows nothing of any wire format.

import type { NativeCall } from "../../agents/kit/verify/tool-names.ts";
import type { Block, ModelStep, Stop } from "../../agents/scenario.ts";
import { nativeCall, type ToolProfile } from "../scenario/tool-names.ts";
import { isObject, type JsonObject, objectOf, parseJson } from "./json.ts";
import type { ProtocolName } from "./model-request.ts";

export type ReplyBlock =
  | { readonly type: "text"; readonly pieces: readonly string[]; readonly phase: string | undefined }
  | { readonly type: "thinking"; readonly pieces: readonly string[]; readonly style: "summary" | "raw" | "both" }
  | { readonly type: "redacted_thinking" }
  | ReplyTool
  | {
      readonly type: "server_tool";
      readonly id: string;
      readonly query: string;
      readonly results: readonly { title: string; url: string }[];
    }
  | { readonly type: "refusal"; readonly pieces: readonly string[] }
  | { readonly type: "native"; readonly value: JsonObject }
  | { readonly type: "native_event"; readonly event: string | undefined; readonly data: unknown };

export interface ReplyTool {
  readonly type: "tool";
  readonly id: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly custom: boolean;
  /** What is streamed, in pieces; joined it is the arguments, which need not be JSON. */
  readonly pieces: readonly string[];
  readonly input: JsonObject;
}

export interface ReplyUsage {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly reasoning: number;
}

export interface Reply {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly blocks: readonly ReplyBlock[];
  readonly stop: Stop;
  readonly native_stop: string | undefined;
  readonly usage: ReplyUsage;
}

export interface ReplyContext {
  readonly protocol: ProtocolName;
  readonly profile: ToolProfile | undefined;
  readonly model: string;
  readonly input_tokens: number;
  /** Values for `{{name}}` in texts and inputs. */
  readonly variables: Readonly<Record<string, string>>;
  /** Makes ids; the position of a tool call is part of its id (see `position.ts`). */
  readonly id: (kind: "reply" | "call", block: number) => string;
}

/** Splits a text into `count` pieces of about the same length, never inside a code point. */
export function split(text: string, count?: number): string[] {
  const points = Array.from(text);
  const wanted = count ?? Math.min(40, Math.ceil(points.length / 24));
  const pieces = Math.max(1, Math.min(wanted, points.length || 1));
  return Array.from({ length: pieces }, (_, index) =>
    points.slice(Math.floor((index * points.length) / pieces), Math.floor(((index + 1) * points.length) / pieces)).join(""),
  );
}

/** Puts variables into every string of a value; an unknown `{{name}}` stays. */
export function fill(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") return value.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => variables[name] ?? whole);
  if (Array.isArray(value)) return value.map((item) => fill(item, variables));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, variables)]));
}

export function makeReply(step: ModelStep, context: ReplyContext): Reply {
  const blocks = step.blocks.flatMap((block, index) => replyBlock(block, index, context));
  const output = blocks.reduce((sum, block) => sum + ("pieces" in block ? block.pieces.join("").length : 8), 0);
  return {
    id: context.id("reply", 0),
    model: step.model ?? context.model,
    created: Math.floor(Date.now() / 1000),
    blocks,
    stop: step.stop ?? impliedStop(blocks),
    native_stop: step.native_stop,
    usage: {
      input: step.usage?.input ?? context.input_tokens,
      output: step.usage?.output ?? Math.max(1, Math.ceil(output / 4)),
      cache_read: step.usage?.cache_read ?? 0,
      cache_write: step.usage?.cache_write ?? 0,
      reasoning: step.usage?.reasoning ?? 0,
    },
  };
}

function impliedStop(blocks: readonly ReplyBlock[]): Stop {
  if (blocks.some((block) => block.type === "tool")) return "tool";
  return blocks.some((block) => block.type === "refusal") ? "refusal" : "end";
}

function replyBlock(block: Block, index: number, context: ReplyContext): ReplyBlock[] {
  const text = (value: string): string => String(fill(value, context.variables));
  switch (block.type) {
    case "text":
      return [{ type: "text", pieces: split(text(block.text), block.chunks), phase: block.phase }];
    case "thinking":
      return [{ type: "thinking", pieces: split(text(block.text), block.chunks), style: block.style ?? "summary" }];
    case "redacted_thinking":
      return [{ type: "redacted_thinking" }];
    case "tool":
      return [replyTool(block, index, context)];
    case "server_tool":
      return [
        {
          type: "server_tool",
          id: context.id("call", index),
          query: text(block.query),
          results: block.results ?? [{ title: "A page", url: "https://example.com/page" }],
        },
      ];
    case "refusal":
      return [{ type: "refusal", pieces: split(text(block.text)) }];
    case "native": {
      const value = block[context.protocol];
      return isObject(value) ? [{ type: "native", value }] : [];
    }
    case "native_event":
      if (block.only && !block.only.includes(context.protocol)) return [];
      return [{ type: "native_event", event: block.event, data: block.data }];
    default:
      return block satisfies never;
  }
}

function replyTool(block: Extract<Block, { type: "tool" }>, index: number, context: ReplyContext): ReplyTool {
  const filled = fill(block.input ?? {}, context.variables);
  const input = isObject(filled) ? filled : {};
  const id = block.id ?? context.id("call", index);
  if ("native_name" in block) {
    const raw = block.raw_arguments === undefined ? JSON.stringify(input) : String(fill(block.raw_arguments, context.variables));
    return {
      type: "tool",
      id,
      name: block.native_name,
      namespace: block.namespace,
      custom: block.custom === true,
      pieces: split(raw, block.chunks),
      input: block.raw_arguments === undefined ? input : objectOf(parseJson(raw)),
    };
  }
  const call = nativeCall(context.profile, block.name, input);
  return { type: "tool", id, name: call.name, ...callForm(call, block.chunks) };
}

function callForm(call: NativeCall, chunks: number | undefined): Omit<ReplyTool, "type" | "id" | "name"> {
  if (call.kind === "free_text") {
    return { namespace: undefined, custom: true, pieces: split(call.text, chunks), input: { input: call.text } };
  }
  return { namespace: call.namespace, custom: false, pieces: split(JSON.stringify(call.input), chunks), input: call.input };
}
