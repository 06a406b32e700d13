import { describe, expect, it } from "vitest";
import { isKnownEventType, KNOWN_EVENT_TYPES, originOf, schemaOfEvent } from "./event-types.ts";
import type { JsonObject } from "./json.ts";
import { Annotator, type ReceivedEvent } from "./provider-event.ts";
import { SseReader } from "./sse-reader.ts";
import { block, conformingEvents, message, resource, streamOf } from "./test-endpoint.ts";
import { eventErrors, itemErrors, resourceErrors } from "./validate.ts";

function annotate(text: string): { events: ReceivedEvent[]; annotator: Annotator } {
  const annotator = new Annotator();
  const events: ReceivedEvent[] = [];
  const reader = new SseReader({
    maxBlockBytes: 1 << 20,
    onBlock: (one) => {
      const event = annotator.annotate(one);
      if (event) events.push(event);
    },
  });
  reader.push(Buffer.from(text));
  return { events, annotator };
}

const errorsOf = (events: readonly JsonObject[]): string[] => annotate(streamOf(events)).events.flatMap((event) => event.errors);
const at = (index: number): JsonObject => conformingEvents()[index] as JsonObject;
const without = (index: number) => conformingEvents().filter((_, one) => one !== index);
const replaced = (index: number, more: JsonObject) =>
  conformingEvents().map((event, one) => (one === index ? { ...event, ...more } : event));

describe("table of event types", () => {
  it("has 71 types: 24 of the specification, 34 hosted, 9 of OpenAI, 4 of other servers", () => {
    const count = (origin: string) => KNOWN_EVENT_TYPES.filter((type) => originOf(type) === origin).length;
    expect(KNOWN_EVENT_TYPES).toHaveLength(71);
    expect([count("core"), count("hosted"), count("openai"), count("wild")]).toEqual([24, 34, 9, 4]);
  });

  it("knows extensions by their slug and nothing else", () => {
    expect(originOf("openrouter:debug")).toBe("extension");
    expect(originOf("response.brand_new")).toBeNull();
    expect(isKnownEventType("constructor")).toBe(false);
    expect(eventErrors({ type: "acme:thing", sequence_number: 1 })).toEqual([]);
    expect(eventErrors({ type: "acme:thing" })).not.toEqual([]);
    expect(eventErrors({ type: "response.brand_new", sequence_number: 1 })).toEqual(['unknown event type "response.brand_new"']);
  });

  it("checks the fields of every type", () => {
    for (const type of KNOWN_EVENT_TYPES) {
      expect(Object.keys(schemaOfEvent(type).properties), type).toContain("sequence_number");
      expect(eventErrors({ type }), type).not.toEqual([]);
    }
  });
});

describe("validation", () => {
  it("finds nothing in a conforming stream", () => {
    const { events, annotator } = annotate(streamOf(conformingEvents()));
    expect(events.flatMap((event) => [...event.errors, ...event.response_errors])).toEqual([]);
    expect(events.at(-1)).toMatchObject({ status: "done", raw: "[DONE]", data: null });
    expect(annotator.stream.end.kind).toBe("completed");
    expect(annotator.stream.items()).toMatchObject([{ type: "message" }, { type: "function_call", arguments: '{"path":"a"}' }]);
  });

  it("names each key a response lacks, apart from the errors of the event", () => {
    const { temperature: _, ...short } = resource("in_progress");
    const [event] = annotate(block({ type: "response.created", sequence_number: 0, response: short })).events;
    expect(event?.errors).toEqual([]);
    expect(event?.response_errors.join()).toContain("temperature");
    expect(resourceErrors(resource("completed", { output: [{ type: "message", id: 1 }] })).join()).toContain("/output/0");
    // Each key that is wrong, also when there are many.
    const wrong = [
      "id",
      "created_at",
      "status",
      "model",
      "top_p",
      "temperature",
      "store",
      "background",
      "service_tier",
      "top_logprobs",
    ];
    const all = resourceErrors({ ...resource("completed"), ...Object.fromEntries(wrong.map((key) => [key, null])) }).join();
    for (const key of wrong) expect(all).toContain(`/${key} must`);
  });

  it("checks items of the specification, and lets hosted and extension items pass", () => {
    expect(itemErrors({ type: "function_call", id: "a" })).not.toEqual([]);
    expect(itemErrors({ type: "web_search_call", anything: 1 })).toEqual([]);
    expect(itemErrors({ type: "acme:item" })).toEqual([]);
    expect(itemErrors({ type: "brand_new" })).toEqual(['unknown item type "brand_new"']);
  });

  it("keeps what is no JSON, no object, or unknown", () => {
    const { events } = annotate(`data: {"a": nope\n\ndata: 7\n\n${block({ type: "x.unknown" })}: ping\n\n`);
    expect(events.map((event) => event.status)).toEqual(["invalid_json", "invalid_json", "event"]);
    expect(events.map((event) => event.raw)).toEqual(['{"a": nope', "7", null]);
    expect(events.every((event) => event.errors.length > 0)).toBe(true);
  });

  it("says when the event's name is not its type", () => {
    const [wrong] = annotate(block(at(0), "response.completed")).events;
    expect(wrong?.errors).toEqual(["event: response.completed, but the payload's type is response.created"]);
    const [missing] = annotate(`data: ${JSON.stringify(at(0))}\n\n`).events;
    expect(missing?.errors).toEqual(["there is no event: field"]);
  });

  it("knows both shapes of an error event", () => {
    expect(eventErrors({ type: "error", sequence_number: 1, code: "x", message: "m", param: null })).toEqual([]);
    expect(
      eventErrors({ type: "error", sequence_number: 1, error: { type: "x", message: "m", code: null, param: null } }),
    ).toEqual([]);
    expect(eventErrors({ type: "error", sequence_number: 1 })).not.toEqual([]);
  });
});

describe("state machine", () => {
  it("[OR1] sequence numbers grow", () => {
    expect(errorsOf(replaced(5, { sequence_number: 2 }))).toContain("[OR1] sequence_number 2 after 4");
  });
  it("[OR2] a stream begins with response.created", () => {
    expect(errorsOf(without(0)).join()).toContain("[OR2]");
  });
  it("[OR3] an item is added before anything is said of it", () => {
    expect(errorsOf(without(9)).filter((error) => error.startsWith("[OR3]"))).toHaveLength(4);
    expect(errorsOf([...conformingEvents().slice(0, 3), at(2)]).join()).toContain("[OR3] output_item.added twice");
  });
  it("[OR4] streamed text stands in a content part", () => {
    expect(errorsOf(without(3)).join()).toContain("[OR4] response.output_text.delta outside a content part");
    expect(errorsOf(without(7)).join()).toContain("[OR4] item 0 (message) is done while its content part 0 is open");
  });
  it("[OR5] nothing comes for an item that is done", () => {
    const events = conformingEvents();
    const late = [...events.slice(0, 9), at(5), ...events.slice(9)];
    expect(errorsOf(late).join()).toContain("[OR5] response.output_text.delta after item 0 (message) was done");
  });
  it("[OR6] deltas add up", () => {
    expect(errorsOf(without(5)).join()).toContain("[OR6] the deltas of response.output_text do not add up");
    expect(errorsOf(without(11)).join()).toContain("[OR6] the deltas of response.function_call_arguments");
  });
  it("[OR7] nothing comes after the end", () => {
    expect(errorsOf([...conformingEvents(), { ...at(1), sequence_number: 99 }]).join()).toContain("[OR7]");
  });
  it("[OR8] an incomplete item is the last of an incomplete response", () => {
    const item = message("Grüße 🐉", "incomplete");
    expect(errorsOf(replaced(8, { item })).join()).toContain(
      "[OR8] item 0 (message) is incomplete and its response is completed",
    );
    const cut = replaced(8, { item }).map((event) =>
      event.type === "response.completed" ? { ...event, type: "response.incomplete", response: resource("incomplete") } : event,
    );
    expect(errorsOf(cut).join()).toContain("[OR8] item 0 (message) is incomplete and not the last item");
  });
  it("[OR9] [OR10] status and id of the response fit", () => {
    expect(errorsOf(replaced(1, { response: resource("completed") })).join()).toContain("[OR9]");
    expect(errorsOf(replaced(14, { response: resource("completed", { id: "resp_2" }) })).join()).toContain("[OR10]");
  });
  it("[OR11] an error is followed by response.failed", () => {
    const error = { type: "error", sequence_number: 2, error: { type: "server_error", code: null, message: "m", param: null } };
    const failed = {
      type: "response.failed",
      sequence_number: 3,
      response: resource("failed", { error: { code: "server_error", message: "m" } }),
    };
    expect(errorsOf([at(0), at(1), error, failed])).toEqual([]);
    expect(errorsOf([at(0), at(1), error, { ...at(2), sequence_number: 3 }]).join()).toContain("[OR11]");
    expect(annotate(streamOf([at(0), error], false)).annotator.stream.end.kind).toBe("error");
  });
  it("[OR12] every item of a completed response is done", () => {
    expect(errorsOf(without(13)).join()).toContain("[OR12] item 1 (function_call) was never done");
  });

  it("follows a stream without sequence numbers and indexes, as llama.cpp sends it", () => {
    const events = conformingEvents()
      .filter((event) => event.type !== "response.function_call_arguments.done")
      .map(({ sequence_number: _s, output_index: _o, ...event }) => event);
    const { annotator } = annotate(streamOf(events, false));
    expect(annotator.stream.end.kind).toBe("completed");
    expect(annotator.stream.items()).toMatchObject([{ type: "message" }, { name: "read", arguments: '{"path":"a"}' }]);
  });

  it("takes items that were never done from the final response, else from their deltas", () => {
    const unfinished = without(13);
    expect(annotate(streamOf(unfinished)).annotator.stream.items()).toHaveLength(2);
    const otherIds = unfinished.map((event) =>
      event.type === "response.completed"
        ? { ...event, response: resource("completed", { output: [{ ...message("x"), id: "other" }] }) }
        : event,
    );
    expect(annotate(streamOf(otherIds)).annotator.stream.items()[1]).toMatchObject({ arguments: '{"path":"a"}' });
    const onlyFinal = [at(0), at(14)];
    expect(annotate(streamOf(onlyFinal)).annotator.stream.items()).toHaveLength(2);
  });

  it("leaves out an item that was cut off", () => {
    expect(annotate(streamOf(conformingEvents().slice(0, 11), false)).annotator.stream.items()).toHaveLength(1);
  });
});
