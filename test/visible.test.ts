// [D1] What a client reads of sessions and requests is in the log, also after kill -9: nobody ever saw a sequence, a title or a permission that is gone.
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSqliteLog } from "../src/log/sqlite/log.ts";
import { removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";
import { random } from "./random.ts";

const ROUNDS = Number(process.env.DRAGOMAN_VISIBLE_ROUNDS ?? 2);
const SEED = Number(process.env.DRAGOMAN_VISIBLE_SEED ?? 20_261_116);

let dataDir: string;
beforeAll(() => {
  dataDir = temporaryDir("visible");
});
afterAll(() => removeDir(dataDir));

it(`shows only what outlives ${ROUNDS} kills (seed ${SEED})`, { timeout: 240_000 + ROUNDS * 20_000 }, async () => {
  const dice = random(SEED);
  const seen = new Map<string, { last: number; permissions: Set<string> }>();
  for (let round = 0; round < ROUNDS; round++) {
    const daemon = await startDaemonProcess(dataDir);
    const flooding = await daemon.client.createSession({ agent: "mock", directory: dataDir });
    const asking = await daemon.client.createSession({ agent: "mock", directory: dataDir });
    for (const { id } of [flooding, asking]) seen.set(id, { last: 0, permissions: new Set() });
    const note = (id: string, last: number): void => {
      const entry = seen.get(id);
      if (entry) entry.last = Math.max(entry.last, last);
    };
    let reads = 0;
    const limit = 30 + Math.floor(dice() * 100);
    const hammer = async (): Promise<void> => {
      for (;;) {
        const session = await flooding.get();
        note(session.session_id, session.last_sequence);
        for (const each of (await daemon.client.sessions()).sessions) note(each.session_id, each.last_sequence);
        for (const { permission_id } of (await asking.pending()).permissions) {
          seen.get(asking.id)?.permissions.add(permission_id);
          await asking.replyPermission(permission_id, { reply: "once" });
        }
        if (++reads === limit) daemon.child.kill("SIGKILL");
      }
    };
    await flooding.send("flood 400000");
    await asking.send(Array.from({ length: 300 }, () => "ask").join("\n"));
    await Promise.allSettled([hammer(), hammer(), hammer()]);
    await daemon.kill("SIGCONT");
    await compare(seen);
  }
});

/** With the log as the killed daemon left it. */
async function compare(seen: Map<string, { last: number; permissions: Set<string> }>): Promise<void> {
  const log = await openSqliteLog({ dataDir });
  for (const [id, { last, permissions }] of seen) {
    const stream = await log.stream("session", id);
    expect(stream?.lastCommitted ?? 0, `${id}: the last sequence a client saw`).toBeGreaterThanOrEqual(last);
    const { events } = (await stream?.read({ types: ["permission.requested"], limit: 10_000 })) ?? { events: [] };
    for (const permission of permissions)
      expect(
        events.some((json) => json.includes(permission)),
        permission,
      ).toBe(true);
  }
  await log.close();
}
