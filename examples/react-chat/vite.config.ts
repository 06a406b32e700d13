// Serves the page, and passes /v1 on to the daemon with its token. Start the daemon, then: npx vite examples/react-chat
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const dataDir = process.env.DRAGOMAN_DATA_DIR ?? join(homedir(), ".local", "share", "dragoman");
const { url, token } = JSON.parse(readFileSync(join(dataDir, "daemon.json"), "utf8")) as { url: string; token: string };

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react()],
  // Beside your own code `dragoman` is a package like any other; here it is the one this repository builds.
  resolve: { alias: { "dragoman/client": fileURLToPath(new URL("../../dist/client/index.js", import.meta.url)) } },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/v1": {
        target: url,
        changeOrigin: true,
        headers: { authorization: `Bearer ${token}` },
        // The daemon takes requests of no other page than its own; this server answers for the page it serves.
        configure: (proxy) =>
          proxy.on("proxyReq", (request) => {
            for (const name of ["origin", "referer", "sec-fetch-site"]) request.removeHeader(name);
          }),
      },
    },
  },
});
