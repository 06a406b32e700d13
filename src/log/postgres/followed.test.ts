import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Followed } from "./followed.ts";
import { LiveTail } from "./live.ts";
import type { PostgresStream } from "./stream.ts";
import type { StreamStore } from "./stream-store.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** One followed stream; `log`: how far the log is, `seen`: how far what its writer sent is. */
function lab() {
  const live = new LiveTail();
  const state = { log: 0, seen: 0, asked: 0, missed: 0, offered: 0, followed: true };
  const stream = {
    no: 1,
    isFollowed: () => state.followed,
    get lastCommitted() {
      return state.seen;
    },
    advance: ({ last_sequence }: { last_sequence: number }) => {
      state.seen = Math.max(state.seen, last_sequence);
    },
  } as unknown as PostgresStream;
  const store = {
    progress: async (numbers: readonly number[]) => {
      state.asked++;
      return new Map(numbers.map((no) => [no, { last_sequence: state.log, last_native: 0, updated_at: 0 }]));
    },
  } as unknown as StreamStore;
  live.onMissed = () => void state.missed++;
  live.onFollowed = () => void state.offered++;
  const followed = new Followed(store, live, (error) => {
    throw error;
  });
  followed.add(stream);
  return { live, state, followed, rounds: (count: number) => vi.advanceTimersByTimeAsync(count * 250) };
}

it("a session that is written all the time is a little behind at each look, and its writer is trusted all the same", async () => {
  const { live, state, rounds, followed } = lab();
  live.covered.add(1);
  for (let round = 0; round < 80; round++) {
    state.log = round * 10 + 10;
    state.seen = Math.max(state.seen, round * 10);
    await rounds(1);
  }
  expect(state.missed).toBe(0);
  followed.stop();
});

it("what a writer did not send is read from the log a round later, and the writer is asked anew", async () => {
  const { live, state, rounds, followed } = lab();
  live.covered.add(1);
  state.log = 5;
  await rounds(9);
  expect([state.missed, state.seen]).toEqual([1, 5]);
  followed.stop();
});

it("who nobody sends is looked up at each round, and offered again and again", async () => {
  const { live, state, rounds, followed } = lab();
  await rounds(4);
  expect([state.asked, state.offered]).toEqual([4, 5]);
  live.covered.add(1);
  await rounds(4);
  expect(state.offered).toBe(5);
  followed.stop();
});
