/** All that one session waits for, as cards that answer it: above its composer, in the overview, in the list of what waits. */
import { agentOf, agents, can } from "../state/agents.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { PermissionCard } from "./permission-card.tsx";
import { QuestionCard } from "./question-card.tsx";

type Props = {
  session: string;
  agent: string;
  /** The first permission can be answered by chords. Only where one session is looked at. */
  chords: boolean;
};

export function RequestCards({ session, agent, chords }: Props) {
  const editable = can(agentOf(useStore(agents), agent), "edit_input");
  const requests = useSignal(sessions.changed, sessions.requests).filter((each) => each.session_id === session);
  const first = requests.find((each) => each.kind === "permission");
  return requests.map((each) =>
    each.kind === "permission" ? (
      <PermissionCard
        key={each.data.permission_id}
        session={session}
        data={each.data}
        first={chords && each === first}
        editable={editable}
      />
    ) : (
      <QuestionCard key={each.data.question_id} session={session} data={each.data} />
    ),
  );
}
