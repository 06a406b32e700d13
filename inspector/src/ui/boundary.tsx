// Keeps a fault where it happened: one row that cannot be shown must not take the page with it.
import { Component, type ReactNode } from "react";
import { Notice } from "./controls.tsx";

export class Boundary extends Component<{ what: string; children: ReactNode }, { fault: string | null }> {
  override state: { fault: string | null } = { fault: null };
  static getDerivedStateFromError(error: unknown): { fault: string } {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  override render(): ReactNode {
    if (this.state.fault === null) return this.props.children;
    return (
      <Notice kind="warning">
        {this.props.what} cannot be shown: {this.state.fault}
      </Notice>
    );
  }
}
