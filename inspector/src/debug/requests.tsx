// What this page asked of the daemon, each request to be copied as curl.
import { asCurl, requests } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { CopyButton } from "../ui/controls.tsx";

export function Requests() {
  const list = useStore(requests);
  return (
    <div className="panel">
      <p className="dim">
        Set <code>DRAGOMAN_TOKEN</code> to use what you copy; the token itself never stands in it.
      </p>
      <ul className="requests">
        {list.map((each) => (
          <li key={each.id}>
            <span className={`method ${each.method === "GET" ? "" : "acts"}`}>{each.method}</span>
            <code title={each.path}>{each.path}</code>
            <span className={typeof each.status === "number" && each.status < 400 ? "dim" : "bad"}>{each.status}</span>
            <span className="dim">{each.ms === null ? "" : `${Math.round(each.ms)} ms`}</span>
            <CopyButton label="Copy as curl" text={() => asCurl(each)} />
          </li>
        ))}
      </ul>
    </div>
  );
}
