/** The thread's own side of the background work: does what it is asked, and answers. Not here: who asks, and when (background.ts). */
import { parentPort, workerData } from "node:worker_threads";
import { toLogError } from "../log-error.ts";
import type { Answer, Call } from "./background.ts";
import { type BackgroundPlace, backgroundWork } from "./background-work.ts";

const place: BackgroundPlace = workerData;
const work = backgroundWork(place);

parentPort?.on("message", async ({ id, name, args }: Call) => {
  const answer = await answerTo(id, () => Reflect.apply(work[name], work, args));
  parentPort?.postMessage(answer);
});

async function answerTo(id: number, call: () => unknown): Promise<Answer> {
  try {
    return { id, value: await call() };
  } catch (error) {
    const { code, message } = toLogError(error, "The search index");
    return { id, error: { code, message } };
  }
}
