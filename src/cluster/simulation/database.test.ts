/** The database of the simulation is held against the contract that the real one passes. */
import { PostgresRegistry } from "../postgres-registry.ts";
import { registrySuite } from "../registry.suite.ts";
import { SimDatabase } from "./test-database.ts";
import { World } from "./test-world.ts";

registrySuite("in the simulation", async () => {
  const world = new World(1);
  const database = new SimDatabase(world, null);
  return {
    registry: new PostgresRegistry(database.atOnce()),
    term_ms: 1_000,
    pass: async (ms) => {
      world.now += ms;
    },
  };
});
