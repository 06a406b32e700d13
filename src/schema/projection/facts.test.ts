/** The title of a session that nobody named: its first message, until somebody does. */
import { expect, it } from "vitest";
import type { ProjectedEvent } from "./event.ts";
import { factsAfter, NO_FACTS } from "./facts.ts";

const at = { sequence: 1, time: "2026-01-01T00:00:00.000Z", native_session_id: null };
const asked = (text: string): ProjectedEvent => ({
  ...at,
  type: "message.queued",
  data: { message_id: "m", turn_id: "t", text },
});
const titled = (title: string): ProjectedEvent => ({ ...at, type: "session.updated", data: { title } });
const titleOf = (...events: ProjectedEvent[]): string | null => events.reduce(factsAfter, NO_FACTS).title;

it("is the first line that says something, of the first message", () => {
  expect(titleOf(asked("\n  Mend   the parser \nand then test it"), asked("second"))).toBe("Mend the parser");
  expect(titleOf(asked(" \n "))).toBe(null);
  expect(titleOf(asked(" \n "), asked("second"))).toBe("second");
});

it("is cut at a word when it is long, and cut anyhow when there is none", () => {
  const title = titleOf(asked(`${"word ".repeat(40)}`)) ?? "";
  expect(title).toMatch(/^(word )+word…$/);
  expect(title.length).toBeLessThanOrEqual(81);
  expect(titleOf(asked("x".repeat(500)))).toHaveLength(41);
});

it("gives way to any other title, and never takes the place of one", () => {
  expect(titleOf(asked("first"), titled("Named"))).toBe("Named");
  expect(titleOf(titled("Named"), asked("first"))).toBe("Named");
});
