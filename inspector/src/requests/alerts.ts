// Reports waiting requests outside of the page: in its title, and by a notification of the browser where that is allowed.
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { go } from "../state/route.ts";
import { sessions, type Waiting } from "../state/sessions.ts";

export const idOf = (each: Waiting): string => (each.kind === "permission" ? each.data.permission_id : each.data.question_id);

export function watchAlerts(): () => void {
  const known = new Set<string>();
  let first = true;
  return sessions.changed.subscribe(() => {
    if (!sessions.loaded()) return;
    for (const each of sessions.requests()) {
      if (known.has(idOf(each))) continue;
      known.add(idOf(each));
      if (!first && !document.hasFocus()) notify(each);
    }
    first = false;
  });
}

function notify(each: Waiting): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const row = sessions.get(each.session_id);
  const notification = new Notification(each.kind === "permission" ? "Permission needed" : "Question", {
    body: visibleLine(`${row?.title ?? each.session_id}: ${each.kind === "permission" ? each.data.action : each.data.prompt}`),
    tag: idOf(each),
  });
  notification.onclick = () => {
    window.focus();
    go({ page: "session", id: each.session_id });
    notification.close();
  };
}
