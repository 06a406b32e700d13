import { pinned } from "../../kit/verify/pinned.ts";
import { opencodeAgent } from "../agent.ts";

export const pinnedOpencode = [
  pinned(opencodeAgent, {
    needs: [{ program: "rg", advice: "apt-get install ripgrep: without it its search tools fail" }],
  }),
];
