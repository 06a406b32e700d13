import { MemoryRegistry } from "./memory-registry.ts";
import { registrySuite } from "./registry.suite.ts";

registrySuite("memory", async () => {
  let now = 1_000;
  return {
    registry: new MemoryRegistry(() => now),
    term_ms: 100,
    pass: async (ms) => {
      now += ms;
    },
  };
});
