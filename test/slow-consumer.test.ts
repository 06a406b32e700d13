// A consumer that stops reading costs the daemon nothing and loses nothing.
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { UniversalEvent } from "../src/schema/event.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("slow");
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const rssMb = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1]) / 1024;

it("[D4] gives all events, in order, to a consumer that slept while 60 000 passed, with flat memory", async () => {
  const session = await daemon.client.createSession({ agent: "mock" });
  await session.prompt("flood 20000");
  const before = rssMb();
  const { last_sequence } = await session.get();
  const sleepers = await Promise.all(
    Array.from(
      { length: 20 },
      () =>
        new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
          request(
            `${daemon.url}/v1/sessions/${session.id}/events/sse?after=${last_sequence}`,
            { headers: { authorization: `Bearer ${daemon.token}` }, agent: false },
            (response) => {
              response.pause();
              resolve(response);
            },
          )
            .on("error", reject)
            .end();
        }),
    ),
  );
  const outcome = await session.prompt("flood 60000");
  expect(outcome.stop_reason).toBe("end_turn");
  // Twenty sleepers would hold 20 × 25 MB if they were buffered for.
  expect(rssMb() - before).toBeLessThan(150);
  const end = (await session.get()).last_sequence;
  const sequences = await Promise.all(sleepers.map((response) => sequencesOf(response, end)));
  for (const each of sequences) {
    expect(each.length).toBe(end - last_sequence);
    expect(each.every((sequence, index) => sequence === last_sequence + 1 + index)).toBe(true);
  }
});

async function sequencesOf(response: import("node:http").IncomingMessage, end: number): Promise<number[]> {
  const sequences: number[] = [];
  let rest = "";
  for await (const chunk of response.setEncoding("utf8")) {
    const frames = (rest + String(chunk)).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data: "));
      if (data) sequences.push((JSON.parse(data.slice(6)) as UniversalEvent).sequence);
    }
    if (sequences.at(-1) === end) break;
  }
  response.destroy();
  return sequences;
}
