// A chat with a coding agent in one file: messages as they stream, tools as lines, permissions as buttons.
// The daemon is at this page's own address: vite.config.ts passes /v1 on and adds the token, which never reaches the browser.
import { Dragoman, type Item, ItemProjection, type PermissionRequest, type SessionHandle } from "dragoman/client";
import { type FormEvent, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const dragoman = new Dragoman({ url: location.origin });
const AGENT = new URLSearchParams(location.search).get("agent") ?? "mock";

function Chat() {
  const [session, setSession] = useState<SessionHandle>();
  const [items, setItems] = useState<Item[]>([]);
  const [requests, setRequests] = useState<PermissionRequest[]>([]);
  const [draft, setDraft] = useState("");

  useEffect(() => {
    const leaving = new AbortController();
    void (async () => {
      const opened = await dragoman.createSession({ agent: AGENT }, leaving.signal);
      setSession(opened);
      opened.on("permission", (request) => setRequests((all) => [...all, request]));
      const fold = new ItemProjection();
      for await (const event of opened.events({ signal: leaving.signal })) {
        fold.apply(event);
        setItems(fold.items());
        if (event.type === "permission.resolved")
          setRequests((all) => all.filter(({ permission_id }) => permission_id !== event.data.permission_id));
      }
    })().catch(() => {});
    return () => leaving.abort();
  }, []);

  const send = (event: FormEvent): void => {
    event.preventDefault();
    void session?.send(draft);
    setDraft("");
  };

  return (
    <main>
      <ol aria-label="Transcript">
        {items.map((item) => (
          <li key={item.item_id} data-role={item.role}>
            {item.content.map((part) =>
              part.type === "text" ? part.text : part.type === "tool_call" ? `• ${part.title ?? part.name}` : "",
            )}
          </li>
        ))}
      </ol>
      {requests.map((request) => (
        <p key={request.permission_id}>
          {request.action}{" "}
          <button type="button" onClick={() => void request.allow()}>
            Allow
          </button>{" "}
          <button type="button" onClick={() => void request.deny()}>
            Deny
          </button>
        </p>
      ))}
      <form onSubmit={send}>
        <input aria-label="Message" value={draft} onChange={(event) => setDraft(event.target.value)} disabled={!session} />
        <button type="submit">Send</button>
      </form>
    </main>
  );
}

const place = document.getElementById("root");
if (place) createRoot(place).render(<Chat />);
