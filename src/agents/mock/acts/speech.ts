// What the mock agent says: text, reasoning, parts of every kind, in any amount.
import type { MockEvent } from "../translate/wire.ts";
import { type Act, Ending, number, say, words } from "./stage.ts";

/** A red square of 2 by 2 pixels. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

/** What real agents put around a delta: session, message and event ids, times. With it a line has about 250 bytes, the median of recorded deltas. */
const TRACE =
  "session=3f2b8c1e-6f0d-4e55-9a41-0c8d1be2a7f3 event=7c7d7406-cb04-47ac-95f9-399e0fdf7003 parent=99391fc6-d6c0-40cd-acaf-5f2e8de2565c request=req_011CS";

const MARKDOWN =
  "# Title\n\n**bold** and `code`\n\n- one\n- two\n\n```ts\nconst answer = 42;\n```\n\n| name | value |\n| --- | --- |\n| a | 1 |";

export const speech: Record<string, Act> = {
  say: {
    usage: "say TEXT",
    about: "streams the text word by word",
    play: async (stage, args) => void (await say(stage, args || "Hello.")),
  },
  markdown: {
    usage: "markdown",
    about: "an answer in Markdown: a heading, a list, code, a table",
    play: async (stage) => void (await say(stage, MARKDOWN)),
  },
  slow: {
    usage: "slow MS TEXT",
    about: "the same with a pause between the words",
    play: async (stage, args) => {
      const [ms = "50", ...rest] = args.split(" ");
      await say(stage, rest.join(" ") || "one two three four five", { delay: number(ms, 50) });
    },
  },
  flood: {
    usage: "flood N [BYTES]",
    about: "N deltas at full speed, a thousand to a message, in lines as long as those of real agents",
    play: async (stage, args) => {
      const [count = "1000", bytes = "20"] = args.split(" ");
      const size = Math.max(1, number(bytes, 20) - 1);
      const filler = "x".repeat(size);
      // No text is like the one before it, as in a real answer.
      const text = (index: number): string => `${index}${filler}`.slice(0, size);
      for (let left = number(count, 1000); left > 0; left -= 1000) {
        const m = stage.id();
        await stage.flood(Math.min(left, 1000), (index) => ({ type: "text", m, d: `${text(index)} `, trace: TRACE }));
        stage.emit({ type: "message_end", m });
      }
    },
  },
  clock: {
    usage: "clock N MS",
    about: "N deltas that say the time in microseconds, one each MS milliseconds",
    play: async (stage, args) => {
      const [count = "100", ms = "10"] = args.split(" ");
      const m = stage.id();
      for (let i = 0; i < number(count, 100); i++) {
        await stage.wait(number(ms, 10));
        stage.emit({ type: "text", m, d: `${Math.round((performance.timeOrigin + performance.now()) * 1000)} ` });
      }
      stage.emit({ type: "message_end", m });
    },
  },
  messages: {
    usage: "messages N",
    about: "N short messages at full speed",
    play: async (stage, args) => {
      for (let i = 0; i < number(args, 100); i++) await say(stage, `message ${i}`);
    },
  },
  think: {
    usage: "think TEXT",
    about: "reasoning, then an answer in the same message",
    play: async (stage, args) => {
      const m = stage.id();
      for (const d of words(args || "Let me think about this.")) stage.emit({ type: "thought", m, d });
      for (const d of words("So that is the answer.")) stage.emit({ type: "text", m, d });
      stage.emit({ type: "message_end", m });
    },
  },
  parts: {
    usage: "parts",
    about: "one message of each other kind of part: image, audio, file, code, json, resource, status, refusal",
    play: async (stage) => {
      const part = (value: Extract<MockEvent, { type: "part" }>["part"]) =>
        stage.emit({ type: "part", m: stage.id(), part: value });
      part({ type: "media", media: "image", mime: "image/png", base64: PNG });
      part({ type: "media", media: "audio", mime: "audio/wav", base64: Buffer.from("RIFF").toString("base64") });
      part({
        type: "media",
        media: "file",
        mime: "application/pdf",
        base64: Buffer.from("%PDF").toString("base64"),
        name: "a.pdf",
      });
      part({ type: "code", language: "ts", code: "export const answer = 42;\n" });
      part({ type: "json", json: { answer: 42 } });
      part({ type: "resource", uri: "file:///hello.txt", mime: "text/plain", text: "hello" });
      part({ type: "status", label: "Tests", detail: "3 of 10 passed" });
    },
  },
  refuse: {
    usage: "refuse",
    about: "a refusal",
    play: async (stage) => {
      const m = stage.id();
      for (const d of words("I cannot help with that.")) stage.emit({ type: "refusal", m, d });
      stage.emit({ type: "message_end", m });
      throw new Ending("refusal");
    },
  },
  steps: {
    usage: "steps",
    about: "two steps with tokens and cost",
    play: async (stage) => {
      for (const finish_reason of ["tool_use", "stop"]) {
        const id = stage.id();
        stage.emit({ type: "step", id });
        await say(stage, `A step that ends with ${finish_reason}.`);
        stage.emit({
          type: "step",
          id,
          end: { finish_reason, usage: { input_tokens: 100, output_tokens: 20 }, cost_usd: 0.001 },
        });
      }
    },
  },
  remove: {
    usage: "remove",
    about: "a message that is taken back",
    play: async (stage) => stage.emit({ type: "message_gone", m: await say(stage, "Forget this."), why: "rolled back" }),
  },
  remember: {
    usage: "remember",
    about: "repeats what it was sent before, also before a resume",
    play: async (stage) =>
      void (await say(stage, `I remember ${stage.remembered().length} messages: ${stage.remembered().join(" | ")}`)),
  },
};
