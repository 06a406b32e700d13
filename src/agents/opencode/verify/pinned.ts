import { pinned } from "../../kit/verify/pinned.ts";
import { opencodeAgent } from "../agent.ts";

export const pinnedOpencode = [
  pinned(opencodeAgent, {
    older: ["1.18.25", "1.17.18"],
    needs: [{ program: "rg", advice: "apt-get install ripgrep: without it its search tools fail" }],
  }),
];
