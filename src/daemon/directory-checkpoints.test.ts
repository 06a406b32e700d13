import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryLog } from "../log/memory/log.ts";
import { temporary } from "../workspace/test-trees.ts";
import { DirectoryCheckpoints } from "./directory-checkpoints.ts";

let place: ReturnType<typeof temporary>;
let data: ReturnType<typeof temporary>;
let checkpoints: DirectoryCheckpoints;
beforeEach(() => {
  place = temporary("directory");
  data = temporary("data");
});
afterEach(async () => {
  await checkpoints.close();
  place.remove();
  data.remove();
});

/** `whileNamesAreRead`: what happens behind the back of whoever reads which checkpoints sessions name. */
function open(whileNamesAreRead: () => Promise<unknown>): DirectoryCheckpoints {
  const log = new MemoryLog({});
  const { documents } = log;
  const list = documents.list.bind(documents);
  documents.list = async (...asked) => {
    const found = await list(...asked);
    await whileNamesAreRead();
    return found;
  };
  return new DirectoryCheckpoints({
    ...{ log, stores: join(data.path, "checkpoints"), dataDir: data.path },
    ...{ quota_bytes: 1024 ** 3, max_age_ms: 1e9, wait_ms: 1_000, warn: () => {} },
  });
}

const take = async (label: string): Promise<string> =>
  (await checkpoints.take(place.path, { kind: "manual", session_id: label, label })).id;

describe("checkpoints of removed sessions", () => {
  it("are gone with their store, unless another session takes one while names are read", async () => {
    writeFileSync(join(place.path, "file"), "one");
    let later = "";
    let first = true;
    checkpoints = open(async () => {
      if (!first) return;
      first = false;
      writeFileSync(join(place.path, "file"), "two");
      later = await take("of the session that stays");
    });
    const before = await take("of the session that is removed");
    checkpoints.removed(place.path);
    await checkpoints.sweep();
    expect([...(await checkpoints.stored(place.path, [before, later]))]).toContain(later);

    checkpoints.removed(place.path);
    await checkpoints.sweep();
    expect((await checkpoints.stored(place.path, [before, later])).size).toBe(0);
  });
});
