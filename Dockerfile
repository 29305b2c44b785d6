# The service with the page, for compose.yaml.
FROM rust:1-bookworm AS service
WORKDIR /atelier
COPY . .
RUN cargo build --release --locked -p atelier-service --features cluster

# The page is built before, by ./dev build: dist/.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/lib/atelier atelier
COPY --from=service /atelier/target/release/atelier-service /usr/local/bin/
COPY dist /srv/atelier
USER atelier
# Its data is in /var/lib/atelier.
ENV XDG_DATA_HOME=/var/lib
VOLUME /var/lib/atelier
ENTRYPOINT ["atelier-service"]
