/** The models and modes an agent offers, as a hook. */
import { useEffect, useState } from "react";
import { type Offer, offerOf } from "./agents.ts";

export function useOffer(agent: string): Offer | null {
  const [offer, setOffer] = useState<{ agent: string; offer: Offer } | null>(null);
  useEffect(() => {
    if (!agent) return;
    let gone = false;
    void offerOf(agent).then((found) => !gone && setOffer({ agent, offer: found }));
    return () => {
      gone = true;
    };
  }, [agent]);
  return offer?.agent === agent ? offer.offer : null;
}
