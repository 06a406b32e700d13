/** What Claude tells otherwise in scenarios that all agents play. */
import { type AcceptedDifference, STOPS_THE_TURN } from "../../kit/verify/differences.ts";

export const claudeDifferences: readonly AcceptedDifference[] = [STOPS_THE_TURN];
