import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Real processes, browsers and crashes on a machine that is shared: one that fails twice again is broken. Nobody retries by hand.
    retry: process.env.CI ? 2 : 0,
  },
});
