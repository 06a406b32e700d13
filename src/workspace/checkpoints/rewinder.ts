/**
 * Carries out rewinds, and finishes those that a crash interrupted. The plan (rewind.ts) is durable before the first file is touched. Callers do one thing after
 * another.
 */
import { textOf } from "../raw-path.ts";
import { addUp, inverted } from "./changes.ts";
import { type Details, type History, newId } from "./history.ts";
import type { RewindResult } from "./record.ts";
import { type Plan, planRewind, type RewindOptions } from "./rewind.ts";
import type { Author } from "./tree.ts";
import { type Step, WriteBack } from "./write-back.ts";

const DETAILS: Omit<Details, "kind" | "label"> = { session_id: null, tool_name: null, auto: true };

export type Recovery = { checkpoint_id: string; outcome: "finished" | "undone" };

export class Rewinder {
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
  }

  async rewind(id: string, options: RewindOptions): Promise<RewindResult> {
    const target = this.#history.store.checkpoints[this.#history.store.indexOf(id)]!;
    // A full look: what the watches missed must not be overwritten.
    const undo = await this.#history.take(
      { ...DETAILS, kind: "before_rewind", label: `before the rewind to ${target.label}` },
      this.#history.author,
      true,
      [],
    );
    const changes = addUp(
      this.#history.store.changesBetween(this.#history.store.indexOf(id), this.#history.store.checkpoints.length - 1),
    );
    // What only git has of the files as they are now must be ours before it is overwritten.
    await this.#history.keepPreimages([...changes.values()].map(inverted));
    await this.#history.store.keepContents();
    const plan = planRewind(changes.values(), options, (content) => this.#history.store.packs.has(content));
    const head = { at_checkpoint: target.head, now: this.#history.live.head() };
    const result = { checkpoint_id: id, dry_run: options.dry_run ?? false, undo_id: undo.id, head };
    if (options.dry_run || plan.steps.length === 0)
      return {
        ...result,
        after_id: options.dry_run ? null : undo.id,
        files: plan.changes.map(({ path }) => path),
        changes: plan.changes,
        kept: plan.kept,
      };
    return { ...result, ...(await this.#carryOut(id, target.label, undo.id, plan)) };
  }

  /** What a crash left behind is finished; undone when it cannot be. */
  async recover(): Promise<Recovery | null> {
    const open = this.#history.store.openRewind;
    if (!open) return null;
    const steps = open.plan.map(([path, from, to]): Step => ({ path, from, to }));
    (await this.#hands(open.id)).clean(steps);
    const { failure } = await this.#run(open.id, steps);
    const outcome = failure === null ? "finished" : "undone";
    await this.#history.take(
      { ...DETAILS, kind: "rewind", label: `rewind ${outcome} after a restart` },
      this.#authorOf(steps),
      true,
      [],
    );
    await this.#history.store.note({ k: "rewound", id: open.id }, true);
    return { checkpoint_id: open.target, outcome };
  }

  async #carryOut(
    target: string,
    label: string,
    undo: string,
    plan: Plan,
  ): Promise<Pick<RewindResult, "after_id" | "files" | "changes" | "kept">> {
    const id = newId();
    const { steps } = plan;
    await this.#history.store.note(
      { k: "rewind", id, target, undo, plan: steps.map(({ path, from, to }) => [path, from, to]) },
      true,
    );
    const { hands, failure } = await this.#run(id, steps);
    const after = await this.#history.take(
      { ...DETAILS, kind: "rewind", label: `rewind to ${label}` },
      this.#authorOf(steps),
      false,
      [],
    );
    await this.#history.store.note({ k: "rewound", id }, true);
    if (failure !== null) throw failure;
    const kept = [...plan.kept, ...hands.kept.map((each) => ({ ...each, path: textOf(each.path) }))];
    // By digest: whatever is not what it should be now was changed by somebody else, and is said.
    const known = new Set(kept.map(({ path }) => path));
    for (const step of steps) {
      const path = textOf(step.path);
      if (!known.has(path) && hands.now(step) !== step.to) kept.push({ path, reason: "changed_meanwhile" });
    }
    const not = new Set(kept.map(({ path }) => path));
    const changes = plan.changes.filter(({ path }) => !not.has(path));
    return { after_id: after.id, files: changes.map(({ path }) => path), changes, kept };
  }

  /** All steps, or none of them: what cannot be finished, because the disk is full, is taken back. */
  async #run(id: string, steps: readonly Step[]): Promise<{ hands: WriteBack; failure: unknown }> {
    const hands = await this.#hands(id);
    try {
      hands.run(steps);
      return { hands, failure: null };
    } catch (failure) {
      const back = await this.#hands(id);
      back.run(steps.map(({ path, from, to }) => ({ path, from: to, to: from })));
      return { hands: back, failure };
    }
  }

  async #hands(id: string): Promise<WriteBack> {
    const idOf = await this.#history.live.contentIds();
    return new WriteBack({
      root: this.#history.live.root,
      prefix: `.dragoman-rewind-${id}-`,
      content: (content) => this.#history.store.packs.read(content),
      idOf,
    });
  }

  /** Within the plan of a rewind its author is the rewind; elsewhere it is whoever works here. */
  #authorOf(steps: readonly Step[]): (path: string) => Author {
    const paths = new Set(steps.map(({ path }) => path));
    return (path) => (paths.has(path) ? "r" : this.#history.author());
  }
}
