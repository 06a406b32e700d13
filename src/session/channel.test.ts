import { describe, expect, it } from "vitest";
import type { SessionPort, Translator } from "../agents/contract.ts";
import { type Intake, NativeChannel } from "./channel.ts";

const MB = 1024 * 1024;
/** Each message is for the session it names, or for all. */
const translator = (forgotten: string[] = []): Translator => ({
  translate: ({ data }) => [{ session: data as string | null, type: "said", disposition: "mapped", drafts: [] }],
  forget: (session) => void forgotten.push(session),
});

function channelWith(forgotten: string[] = []): { channel: NativeChannel; bytes(): number; attach(session: string): void } {
  let bytes = 0;
  const intake: Intake = {
    attached: () => {},
    ingest: ({ raw }) => {
      bytes += raw.length;
    },
  };
  const channel = new NativeChannel(translator(forgotten), () => intake);
  const port: SessionPort = { opened: () => {}, closed: () => {}, say: () => {} } as unknown as SessionPort;
  return { channel, bytes: () => bytes, attach: (session) => channel.attach(session, port) };
}

describe("messages for sessions that nobody has claimed", () => {
  it("are kept until their session is", () => {
    const { channel, bytes, attach } = channelWith();
    channel.record("out", "x".repeat(1_000), "a");
    channel.record("out", "x".repeat(500), null);
    attach("a");
    expect(bytes()).toBe(1_500);
  });

  it("are bounded in bytes, whole sessions going first that came first, and their translator forgets them", () => {
    const forgotten: string[] = [];
    const { channel, bytes, attach } = channelWith(forgotten);
    for (let i = 0; i < 30; i++) channel.record("out", "x".repeat(MB / 10), i % 2 === 0 ? "old" : "new");
    expect(forgotten[0]).toBe("old");
    attach("new");
    attach("old");
    expect(bytes()).toBeGreaterThan(0);
    expect(bytes()).toBeLessThanOrEqual(MB);
  });

  it("are bounded in bytes too when they are for the whole process", () => {
    const { channel, bytes, attach } = channelWith();
    for (let i = 0; i < 100; i++) channel.record("err", "x".repeat(MB / 10), null);
    attach("a");
    expect(bytes()).toBeGreaterThan(MB / 2);
    expect(bytes()).toBeLessThanOrEqual(MB);
  });

  it("keep the order they came in when an answer says whose they are", () => {
    const told: string[] = [];
    const intake: Intake = { attached: () => {}, ingest: ({ raw }) => void told.push(String(raw)) };
    const binding: Translator = {
      translate: ({ data }) => {
        const session = data as string;
        const bound = session === "a" && told.length === 0 ? { bind: { from: "request" } } : {};
        return [{ session, type: "said", disposition: "mapped", drafts: [], ...bound }];
      },
    };
    const channel = new NativeChannel(binding, () => intake);
    channel.record("in", "make one", "request");
    channel.record("out", "it is made", "b");
    channel.record("out", "it is yours", "a");
    channel.record("out", "it speaks", "a");
    channel.attach("a", { opened: () => {}, closed: () => {}, say: () => {} } as unknown as SessionPort);
    expect(told).toEqual(["make one", "it is yours", "it speaks"]);
  });
});

describe("a message that repeats the one before", () => {
  /** Says each text as a delta of the item that was named last by a message to the agent. */
  function speaking(): { channel: NativeChannel; told: string[] } {
    const told: string[] = [];
    let key = "first";
    const intake: Intake = {
      attached: () => {},
      ingest: ({ raw }, [translation]) =>
        void told.push(
          `${String(raw)} ${translation?.drafts.map((draft) => (draft.do === "item.delta" ? `${draft.key} ${draft.delta}` : "")).join()}`,
        ),
    };
    const speaker: Translator = {
      translate: ({ dir, data }) => {
        if (dir === "in") key = String(data);
        const delta = { do: "item.delta", key, part_type: "text", delta: String(data) } as const;
        return [
          {
            ...{ session: "a", type: "said", disposition: "mapped" },
            ...(dir === "in" ? { drafts: [] } : { drafts: [delta], repeat: { path: [], say: (text) => text !== "no" } }),
          } as ReturnType<Translator["translate"]>[number],
        ];
      },
    };
    const channel = new NativeChannel(speaker, () => intake);
    channel.attach("a", { closed: () => {}, say: () => {} } as unknown as SessionPort);
    return { channel, told };
  }

  it("is recorded with its own bytes and its own text", () => {
    const { channel, told } = speaking();
    const repeated = channel.record("out", "1", "one");
    expect(repeated?.take("2", "two")).toBe(true);
    expect(repeated?.take("3", "three")).toBe(true);
    expect(told).toEqual(["1 first one", "2 first two", "3 first three"]);
  });

  it("is none when its text means something else, or another message came in between, or the session is another", () => {
    const { channel, told } = speaking();
    const repeated = channel.record("out", "1", "one");
    expect(repeated?.take("2", "no")).toBe(false);
    channel.record("in", "go on", "second");
    expect(repeated?.take("3", "three")).toBe(false);
    const again = channel.record("out", "4", "four");
    channel.detach("a");
    expect(again?.take("5", "five")).toBe(false);
    expect(told).toEqual(["1 first one", "go on ", "4 second four"]);
  });
});
