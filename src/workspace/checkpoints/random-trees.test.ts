/** Any tree, any shell commands, any checkpoint to go back to: no difference, and none after the undo. A failure prints its seed; DRAGOMAN_SEED repeats it. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { seedOf } from "../../test-seed.ts";
import { bash, differences, snapshot, temporary } from "../test-trees.ts";
import { closeCheckpoints, openCheckpoints } from "./index.ts";

const RUNS = Number(process.env.DRAGOMAN_CHECKPOINT_RUNS ?? 20);
const NAMES = ["a", "b", "c.ts", "d e", ".hidden", "$'caf\\xe9'", "$'\\xc3\\xa9'", "--"];
const quoted = (name: string) => (name.startsWith("$") ? name : `'${name}'`);
const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => `./${names.map(quoted).join("/")}`);
const text = fc.constantFrom("one", "two", "three\\r\\n", "", "\\x00\\x01binary", "same", "emas");
const mode = fc.constantFrom("644", "600", "755", "444", "4755");

/** Each may fail: then it is a command that changed nothing. */
const command = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(path, text).map(([p, t]) => `mkdir -p "$(dirname ${p})"; printf '${t}' > ${p}`) },
  fc.tuple(path, text).map(([p, t]) => `printf '${t}' >> ${p}`),
  fc.tuple(path, text).map(([p, t]) => `[ -f ${p} ] && touch -r ${p} ../stamp && printf '${t}' > ${p} && touch -r ../stamp ${p}`),
  { weight: 2, arbitrary: path.map((p) => `rm -rf ${p}`) },
  path.map((p) => `mkdir -p ${p}`),
  { weight: 2, arbitrary: fc.tuple(path, path).map(([p, q]) => `mv -T ${p} ${q}`) },
  fc.tuple(path, path).map(([p, q]) => `cp -aT ${p} ${q}`),
  fc.tuple(path, path).map(([p, q]) => `ln -sfT ${q} ${p}`),
  fc.tuple(path, mode).map(([p, m]) => `[ -f ${p} ] && chmod ${m} ${p}`),
  path.map((p) => `[ -d ${p} ] && chmod 750 ${p}`),
  path.map((p) => `rm -rf ${p}; mkdir -p ${p}; printf x > ${p}/'b'`),
  fc.constantFrom(
    "git add -A && git commit -qm x",
    "git stash -qu",
    "git checkout -q -- .",
    "git gc -q --prune=now",
    "git reset -q --hard",
    "git rm -rq --cached .",
  ),
);
const round = fc.array(command, { minLength: 1, maxLength: 8 });
const script = (commands: readonly string[]) => commands.map((each) => `{ ${each}; } >/dev/null 2>&1 || true`).join("\n");

it(
  "goes back to any checkpoint of any tree, and forth again",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          plant: round,
          rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
          git: fc.boolean(),
          watch: fc.boolean(),
          back: fc.nat(),
        }),
        async ({ plant, rounds, git, watch, back }) => {
          const place = temporary("random");
          const stores = temporary("stores");
          const root = `${place.path}/tree`;
          bash(place.path, "mkdir tree");
          bash(root, `${git ? "git init -q" : ""}\n${script(plant)}`);
          const checkpoints = await openCheckpoints(root, stores.path, { watch });
          try {
            const seen = [{ id: (await checkpoints.take({ kind: "turn_start", session_id: "s" })).id, files: snapshot(root) }];
            for (const commands of rounds) {
              bash(root, script(commands));
              seen.push({ id: (await checkpoints.take({ kind: "after_tool" })).id, files: snapshot(root) });
            }
            const target = seen[back % seen.length]!;
            const rewound = await checkpoints.rewind(target.id);
            expect(rewound.kept).toEqual([]);
            expect(differences(target.files, snapshot(root))).toEqual([]);
            const undone = await checkpoints.rewind(rewound.undo_id);
            expect(undone.kept).toEqual([]);
            expect(differences(seen.at(-1)!.files, snapshot(root))).toEqual([]);
            // And all others, one after another, from wherever we are.
            for (const { id, files } of seen) {
              expect((await checkpoints.rewind(id)).kept).toEqual([]);
              expect(differences(files, snapshot(root))).toEqual([]);
            }
          } finally {
            await closeCheckpoints(checkpoints);
            place.remove();
            stores.remove();
          }
        },
      ),
      { numRuns: RUNS, seed: seedOf(44), endOnFailure: true },
    );
  },
  RUNS * 20_000,
);
