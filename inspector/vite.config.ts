// Builds the inspector into dist/inspector: static files the daemon serves at /ui, with nothing inline so that its strict policy holds.
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The client looks for a daemon of the machine only in Node; the page is served by one. */
const withoutDiscovery: Plugin = {
  name: "without-discovery",
  enforce: "pre",
  resolveId: (source) => (source === "./discover.ts" ? "\0no-discovery" : null),
  load: (id) => (id === "\0no-discovery" ? "export const discover = async () => undefined;" : null),
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/ui/",
  plugins: [withoutDiscovery, react()],
  worker: { format: "es" },
  build: {
    outDir: "../dist/inspector",
    emptyOutDir: true,
    target: "es2023",
    // The policy allows no data: scripts or styles, and one small file more costs nothing.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
});
