/** Starts the page: one stream for all sessions, then the view of it. */
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { watchAlerts } from "./requests/alerts.ts";
import { readAgents } from "./state/agents.ts";
import { readAccess, setWrongLink } from "./state/daemon.ts";
import { watchFleet } from "./state/fleet.ts";
import { followOthers } from "./state/other-daemons.ts";
import { signInByLink } from "./state/page-token.ts";
import { sessions } from "./state/sessions.ts";
import { Boundary } from "./ui/boundary.tsx";
import "@fontsource-variable/geist";
import "@fontsource-variable/geist-mono";
import "./styles/index.css";

const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
createRoot(root).render(
  <Boundary what="The page">
    <App />
  </Boundary>,
);
watchAlerts();
setWrongLink(await signInByLink());
void readAccess();
void sessions.run(new AbortController().signal);
void followOthers();
void watchFleet(new AbortController().signal);
// Looking for agents starts their programs: not while the page opens.
requestIdleCallback(() => void readAgents(), { timeout: 1_000 });
// Only where browsers allow it: on https and on one's own machine.
if ("serviceWorker" in navigator) requestIdleCallback(() => void navigator.serviceWorker.register("/ui/sw.js").catch(() => {}));
