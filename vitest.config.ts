import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest. Begun last, one of them would run alone at the end. */
const LONGEST = [
  "test/inspector/inspector.test.ts",
  "test/inspector/docs.test.ts",
  "test/docs/code-blocks.test.ts",
  "src/agents/agent.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}`));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Most tests wait for processes of their own, so that three files fit on two cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    setupFiles: ["src/test-seed.ts"],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // What a test waits for has the test's own time: on a loaded machine a shorter limit fails for nothing.
    expect: { poll: { timeout: 120_000 } },
    // No retry: a test that fails now and then is mended.
  },
});
