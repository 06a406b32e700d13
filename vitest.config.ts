import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Most tests wait for processes of their own, so that two files fit on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    setupFiles: ["src/test-seed.ts"],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // What a test waits for has the test's own time: on a loaded machine a shorter limit fails for nothing.
    expect: { poll: { timeout: 120_000 } },
    // No retry: a test that fails now and then is mended.
  },
});
