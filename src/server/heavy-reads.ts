// Long reads wait for one another, each kind apart; everything else goes on.
import { ownTurn } from "./pacing.ts";
import type { App } from "./server-context.ts";
import { Slots } from "./slots.ts";

/** How many at once; see `heavy` of a route. */
const AT_ONCE = { page: 8, whole: 2 };

export function addHeavyReads(app: App): void {
  const slots = { page: new Slots(AT_ONCE.page), whole: new Slots(AT_ONCE.whole) };
  app.addHook("preHandler", async ({ routeOptions, raw }, reply) => {
    const { heavy } = routeOptions.config;
    if (heavy === undefined) return;
    await slots[heavy].take(reply.raw, raw.socket);
    await ownTurn();
  });
}
