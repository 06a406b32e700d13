/** A plan as a list of things to do, each with its state. */
import type { PlanEntry } from "../../../src/schema/content.ts";
import { Icon } from "../ui/icons.tsx";

const PLAN_MARKS = { pending: "to do", in_progress: "in progress", completed: "done", cancelled: "cancelled" } as const;

export const Plan = ({ entries }: { entries: PlanEntry[] }) => (
  <div className="plan">
    <div className="plan-head">
      <Icon name="list" size={14} />
      Plan
      <span className="dim">
        {entries.filter((entry) => entry.status === "completed").length} of {entries.length}
      </span>
    </div>
    <ul>
      {entries.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries of a plan have no id; the list is replaced whole.
        <li key={index} className={entry.status}>
          <span className="plan-mark" role="img" aria-label={PLAN_MARKS[entry.status]}>
            {entry.status === "completed" && <Icon name="check" size={10} />}
          </span>
          <span>{entry.text}</span>
          {entry.priority === "high" && <span className="tag">high</span>}
        </li>
      ))}
    </ul>
  </div>
);
