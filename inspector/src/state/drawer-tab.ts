/** Which view the drawer shows. The same in every session: who looks at changes goes on to those of the next one. */
import { Store } from "./store.ts";

export type DrawerTab =
  | "timeline"
  | "changes"
  | "files"
  | "artifacts"
  | "terminal"
  | "native"
  | "coverage"
  | "state"
  | "charts"
  | "requests";

export const drawerTab = new Store<DrawerTab>("timeline");
