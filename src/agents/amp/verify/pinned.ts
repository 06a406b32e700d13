import { BRIDGE_SET, type PinnedAgent } from "../../kit/verify/pinned.ts";

const amp = { agent: "amp", npm: "@sourcegraph/amp", program: ".bin/amp", run: "itself" } as const;

/**
 * The first build with this stream format, and the newest whose loop runs on the machine; later ones, as the one that `install` takes, run on Amp's servers
 * and cannot be scripted.
 */
export const pinnedAmp: readonly PinnedAgent[] = [
  { ...amp, version: "0.0.1769425000-g1e5104", scenarios: [...BRIDGE_SET, "amp-*"] },
  { ...amp, version: "0.0.1777897475-g2324e1" },
];
