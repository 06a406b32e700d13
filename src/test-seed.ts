/** The seed of tests that play dice. Fixed, so that a run can be repeated; DRAGOMAN_SEED sets another one for all of them. A failure names the seed. */
import fc from "fast-check";

export const seedOf = (usual: number): number => Number(process.env.DRAGOMAN_SEED ?? usual);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOf(20_261_116) });
