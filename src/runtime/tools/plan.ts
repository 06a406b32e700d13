/** The model's plan. It is part of the session's state and survives a compaction. */
import Type from "typebox";
import { defineTool } from "./tool.ts";

export const planTool = defineTool({
  name: "plan",
  description: "Sets the plan: all its entries, each pending, in_progress or completed. One is in progress at a time.",
  parameters: Type.Object({
    entries: Type.Array(
      Type.Object({ text: Type.String({ minLength: 1 }), status: Type.Enum(["pending", "in_progress", "completed"]) }),
      { maxItems: 100 },
    ),
  }),
  effect: "none",
  subject: () => ({ kind: "internal" }),
  async run({ entries }, { updatePlan }) {
    updatePlan(entries);
    const open = entries.filter((entry) => entry.status !== "completed").length;
    return { output: `The plan has ${entries.length} entries, ${open} of them open.` };
  },
});
