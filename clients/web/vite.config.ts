// Two pages: index.html (debug) and play.html. FOGMARCH_WEB_OUT: where the build goes.
//
// `npm run dev` serves them with a proxy to a server whose HTTP port is 7422; start that server with
// --http-origins http://localhost:5173.

import { defineConfig } from "vite";

declare const process: { env: Record<string, string | undefined> };

export default defineConfig({
  base: "./",
  build: {
    outDir: process.env["FOGMARCH_WEB_OUT"] ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 1000,
    rollupOptions: { input: ["index.html", "play.html"] },
  },
  server: { proxy: { "/ws": { target: "ws://127.0.0.1:7422", ws: true } } },
});
