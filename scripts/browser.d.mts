import type { Browser } from "playwright-core";

export declare const CHROMIUM: string;
/** Throws when there is no chromium, and says what to do. */
export declare function launchBrowser(): Promise<Browser>;
