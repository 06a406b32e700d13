import { describe } from "vitest";
import { logContract } from "../log.suite.ts";
import { openMemoryLog } from "./log.ts";

describe("the log in memory", () => {
  logContract(async () => {
    const log = await openMemoryLog();
    // There is nothing to read it from again.
    return { log, reopen: async () => log };
  });
});
