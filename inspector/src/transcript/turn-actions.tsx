/** What can be done about a turn that has ended: look at what it changed, or try it again when it failed. */
import { useState } from "react";
import { access, canOperate, problemText } from "../state/daemon.ts";
import { drawerTab } from "../state/drawer-tab.ts";
import { prefer } from "../state/preferences.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import type { Turn } from "../state/transcript-fold.ts";
import { Button } from "../ui/controls.tsx";
import { sendTo, textOf } from "./branch.ts";
import { useView } from "./context.ts";

const FAILED: ReadonlySet<string> = new Set(["error", "interrupted", "output_length", "max_turns"]);

export function TurnActions({ turn }: { turn: Turn }) {
  const view = useView();
  const operate = canOperate(useStore(access));
  const idle = useSignal(sessions.changed, () => ["idle", "dormant"].includes(sessions.get(view.id)?.status ?? ""));
  const [fault, setFault] = useState<string | null>(null);
  const [first, changed] = [view.fold.questionOf(turn.turn_id), view.fold.changesFiles(turn.turn_id)];
  const again = (): void =>
    void sendTo(view.id, first ? textOf(first) : "").catch((error: unknown) => setFault(problemText(error)));
  const failed = turn.ended !== null && FAILED.has(turn.ended.stop_reason);
  return (
    <span className="turn-actions">
      {changed && (
        <Button
          className="small"
          look="quiet"
          icon="diff"
          onClick={() => {
            view.reviewed.set({ turn: turn.turn_id });
            drawerTab.set("changes");
            prefer({ drawer: true });
          }}
        >
          Review changes
        </Button>
      )}
      {failed && operate && idle && first && (
        <Button className="small" look="quiet" icon="retry" onClick={again}>
          Try again
        </Button>
      )}
      {fault && <span role="alert">{fault}</span>}
    </span>
  );
}
