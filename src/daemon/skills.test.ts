import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { bash, temporary } from "../workspace/test-trees.ts";
import { DaemonSkills } from "./skills.ts";

let home: ReturnType<typeof temporary>;
let data: ReturnType<typeof temporary>;
beforeEach(() => {
  home = temporary("home");
  data = temporary("data");
});
afterEach(() => {
  home.remove();
  data.remove();
});

/** What an agent is given that finds no skill by itself. */
async function given(door: "skill_root" | "plugin_directory"): Promise<string[]> {
  const agent = { ...mockAgent, skills: { project: [], user: [], upwards: false, door } };
  const skills = new DaemonSkills({
    ...{ folder: join(data.path, "skills"), home: home.path, share: true },
    agents: () => [agent],
    isTrusted: () => true,
  });
  const place = { session_id: "ses_1", agent, directory: data.path, trusted: true, permission_mode: "default" };
  const { folder } = { folder: undefined, ...(await skills.handOver(place)) };
  return folder === undefined ? [] : (readdirSync(join(folder, "skills"), { recursive: true }) as string[]).sort();
}

const SKILL = "printf -- '---\\nname: %s\\ndescription: helps\\n---\\nDo it.\\n'";

describe.each(["skill_root", "plugin_directory"] as const)("skills that are handed over as %s", (door) => {
  it("come without what nobody can copy", async () => {
    bash(
      home.path,
      `mkdir -p .claude/skills/odd/deep; cd .claude/skills/odd; ${SKILL} odd > SKILL.md; echo text > deep/text; ln -s deep/text link
       mkfifo pipe; ln -s /nowhere/at/all broken; ln -s . itself; ln -s itself2 itself2; ln -s .. deep/above`,
    );
    expect(await given(door)).toEqual(["odd", "odd/SKILL.md", "odd/deep", "odd/deep/text", "odd/link"]);
  });

  it("are not those whose links lead to more than is handed over", async () => {
    bash(
      home.path,
      `mkdir -p much .claude/skills/large .claude/skills/small; for n in $(seq 600); do echo $n > much/$n; done
       ${SKILL} large > .claude/skills/large/SKILL.md; ln -s ../../../much .claude/skills/large/much
       ${SKILL} small > .claude/skills/small/SKILL.md`,
    );
    expect(await given(door)).toEqual(["small", "small/SKILL.md"]);
  });
});
