# Palmarès in a container: `docker build -t palmares .`, then see deploy/README.md.
# The tag names the lines that only get fixes; `docker build --pull` fetches them. Both compiled dependencies bring binaries
# for glibc and for musl. This is glibc, with which the tests run.
FROM node:22-bookworm-slim AS base
WORKDIR /app
COPY package.json package-lock.json ./
COPY client/package.json ./client/package.json

# What the server needs to run. The C sources and the binaries of other systems are a third of it, and serve nobody here.
FROM base AS dependencies
RUN npm ci --ignore-scripts --omit=dev --workspaces=false --no-audit --no-fund
RUN rm -rf node_modules/@photostructure/sqlite/src \
    node_modules/@photostructure/sqlite/prebuilds/darwin-* \
    node_modules/@photostructure/sqlite/prebuilds/win32-*

FROM base AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY build.mjs tsconfig.json ./
COPY src ./src
COPY client ./client
COPY web ./web
# A clone whose files only their owner may read must give an image that another user can run.
RUN npm run build && rm dist/.build.json && chmod -R a+rX package.json dist && mkdir empty

FROM node:22-bookworm-slim
LABEL org.opencontainers.image.title="palmares" \
      org.opencontainers.image.description="A self-hosted server for the public data of a security-challenge portal" \
      org.opencontainers.image.licenses="MIT"
COPY --from=dependencies /app/node_modules /app/node_modules
COPY --from=build /app/package.json /app/package.json
COPY --from=build /app/dist /app/dist
# The program belongs to root and cannot change itself. /data alone is writable, so the rest may be mounted read-only.
COPY --from=build --chown=10001:10001 --chmod=700 /app/empty /data
ENV NODE_ENV=production \
    PALMARES_HOST=0.0.0.0 \
    PALMARES_DATABASE=sqlite:/data/palmares.db
# A number, so that an orchestrator can see that it is not root.
USER 10001:10001
# A relative path in a command, such as that of `backup`, is one in the volume.
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Live and not ready: when the database is away, a restart of every node mends nothing and empties their caches. Who sends
# requests, such as the proxy of deploy/compose.yaml, asks /health/ready. Give a port as PALMARES_PORT: a --port is not seen here.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "const { PALMARES_PORT: port, PALMARES_TLS_CERT: tls } = process.env; process.env.NODE_TLS_REJECT_UNAUTHORIZED = 0; fetch(`http${tls ? 's' : ''}://127.0.0.1:${port || 8080}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve"]
