# Tags are exact versions; pin digests if your registry shows them.
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /muster
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
COPY src/clients/typescript/package.json src/clients/typescript/
COPY src/tools/generator/package.json src/tools/generator/
RUN npm ci --ignore-scripts
COPY src src
# The pages that the service shows.
COPY docs docs
# The pages show its README; the libraries are drafted from the rest.
COPY lua lua
COPY README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE ./
RUN npm run -s build

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 METRICS_PORT=9464 DATA_DIR=/var/lib/muster
WORKDIR /muster
COPY --from=build /muster/dist dist
COPY package.json LICENSE ./
RUN install --directory --owner=node --group=node --mode=0700 /var/lib/muster
RUN ln -s /muster/dist/cli/bin.js /usr/local/bin/muster && chmod 755 dist/cli/bin.js
VOLUME /var/lib/muster
USER node
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
# Every role serves this port, including workers.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.METRICS_PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["muster", "serve"]
