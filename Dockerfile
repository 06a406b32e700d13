# The daemon in a container: as a user without rights, its data in /data, and only with a token of your own.
#   docker build -t dragoman .
#   docker run -e DRAGOMAN_TOKEN=$(openssl rand -hex 32) -p 127.0.0.1:4700:4700 -v dragoman:/data dragoman
# Agents are not part of the image: install them with `dragoman agents install`, or build an image of your own on this one.

FROM node:22.20.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:22.20.0-bookworm-slim
ENV NODE_ENV=production \
    DRAGOMAN_HOST=0.0.0.0 \
    DRAGOMAN_PORT=4700 \
    DRAGOMAN_DATA_DIR=/data
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
RUN mkdir -p /data /work \
    && chown node:node /data /work \
    && chmod 700 /data \
    && ln -s /app/dist/cli/main.js /usr/local/bin/dragoman \
    && chmod 755 /app/dist/cli/main.js
USER node
WORKDIR /work
VOLUME ["/data"]
EXPOSE 4700
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.DRAGOMAN_PORT}/v1/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# Listening on every address, the daemon refuses to start without DRAGOMAN_TOKEN.
ENTRYPOINT ["node", "/app/dist/cli/main.js"]
CMD ["serve", "--no-open"]
