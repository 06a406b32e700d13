/** The head of a page that is no session: its name, a line about it, and what can be done there. */
import type { ReactNode } from "react";
import { SidebarToggle } from "../sessions/sidebar-toggle.tsx";

export const PageHead = ({ title, about, children }: { title: string; about: ReactNode; children?: ReactNode }) => (
  <header className="session-head">
    <SidebarToggle />
    <div className="session-name">
      <h1>{title}</h1>
      <p className="page-about dim">{about}</p>
    </div>
    {children}
  </header>
);
