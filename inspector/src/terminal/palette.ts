/** Colours of a terminal in the two themes of the page. Background and text are the page's own; the sixteen others keep their meaning on both. */
import type { ITheme } from "@xterm/xterm";
import type { Theme } from "../ui/highlight.ts";

const LIGHT: ITheme = {
  black: "#1b1b1f",
  red: "#b3261e",
  green: "#146c34",
  yellow: "#7a5200",
  blue: "#1a56b0",
  magenta: "#8a2a8a",
  cyan: "#0b6478",
  white: "#63636e",
  brightBlack: "#55555f",
  brightRed: "#c9342b",
  brightGreen: "#1b7f3f",
  brightYellow: "#8f6200",
  brightBlue: "#2a68c8",
  brightMagenta: "#a03aa0",
  brightCyan: "#127890",
  brightWhite: "#34343a",
};
const DARK: ITheme = {
  black: "#3b3b45",
  red: "#f58080",
  green: "#5fca82",
  yellow: "#e2ad54",
  blue: "#6cb0ff",
  magenta: "#d79af0",
  cyan: "#5cc7d8",
  white: "#d5d5da",
  brightBlack: "#8a8a96",
  brightRed: "#ff9c9c",
  brightGreen: "#7fe0a0",
  brightYellow: "#f2c778",
  brightBlue: "#92c6ff",
  brightMagenta: "#e6b8fa",
  brightCyan: "#83dbe9",
  brightWhite: "#ffffff",
};

export function palette(theme: Theme): ITheme {
  const page = getComputedStyle(document.documentElement);
  const colour = (name: string): string => page.getPropertyValue(name).trim();
  return {
    ...(theme === "dark" ? DARK : LIGHT),
    background: colour("--bg-sunken"),
    foreground: colour("--text"),
    cursor: colour("--accent"),
    cursorAccent: colour("--bg-sunken"),
    selectionBackground: colour("--accent-soft"),
  };
}
