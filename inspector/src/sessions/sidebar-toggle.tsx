// Brings the list of sessions back on a narrow screen, where it lies over the page.
import { prefer, preferences } from "../state/preferences.ts";
import { IconButton } from "../ui/controls.tsx";

const NARROW = "(max-width: 720px)";

export const SidebarToggle = () => (
  <IconButton
    icon="sidebar"
    label="Sessions"
    className="narrow-only"
    onClick={() => prefer({ sidebar: !preferences.get().sidebar })}
  />
);

/** Beside the list: a touch anywhere puts it away. */
export const SidebarBackdrop = () => (
  <button
    type="button"
    className="sidebar-backdrop narrow-only"
    aria-label="Close the list"
    tabIndex={-1}
    onClick={leaveSidebar}
  />
);

export function leaveSidebar(): void {
  if (matchMedia(NARROW).matches) prefer({ sidebar: false });
}
