/** A message of a person, the agent or the system, and any other item that is no tool call. */
import { memo } from "react";
import { speakerOf } from "../../../src/schema/speaker.ts";
import { useItem } from "./context.ts";
import { MessageActions } from "./message-actions.tsx";
import { Part } from "./parts.tsx";

const NAMES: Record<string, string> = { user: "You", assistant: "Agent", task: "Task of the sub-agent" };

export const MessageRow = memo(function MessageRow({ id }: { id: string }) {
  const item = useItem(id);
  if (!item) return null;
  const streaming = item.status === "in_progress";
  if (item.content.length === 0 && !streaming) return null;
  const who = speakerOf(item) ?? item.kind;
  return (
    <article className={`message ${who} ${item.status}`} aria-label={NAMES[who] ?? who}>
      {who === "task" && <span className="tag">Task</span>}
      {item.content.map((part, index) => (
        <Part
          // biome-ignore lint/suspicious/noArrayIndexKey: parts keep their place.
          key={index}
          part={part}
          streaming={streaming && index === item.content.length - 1}
          id={`${id} ${index}`}
        />
      ))}
      {!streaming && (who === "user" || who === "assistant") && <MessageActions item={item} />}
      {streaming && item.content.length === 0 && <span className="typing" role="img" aria-label="The agent is writing" />}
    </article>
  );
});
