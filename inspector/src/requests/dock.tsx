// All that the open session waits for, above the composer: in sight wherever the transcript is scrolled to.
import { agentOf, agents, can } from "../state/agents.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { PermissionCard } from "./permission-card.tsx";
import { QuestionCard } from "./question-card.tsx";

export function RequestDock({ session, agent }: { session: string; agent: string }) {
  const editable = can(agentOf(useStore(agents), agent), "edit_input");
  const requests = useSignal(sessions.changed, sessions.requests).filter((each) => each.session_id === session);
  if (requests.length === 0) return null;
  const first = requests.find((each) => each.kind === "permission");
  return (
    <section className="dock" aria-label="Waiting for you">
      {requests.length > 1 && <p className="dim">{requests.length} requests wait for you</p>}
      {requests.map((each) =>
        each.kind === "permission" ? (
          <PermissionCard
            key={each.data.permission_id}
            session={session}
            data={each.data}
            first={each === first}
            editable={editable}
          />
        ) : (
          <QuestionCard key={each.data.question_id} session={session} data={each.data} />
        ),
      )}
    </section>
  );
}
