# What scripts/test-compose puts in the place of the official images of PostgreSQL, Redis and the S3 server where none can be pulled.
FROM stand-in AS postgres
COPY stand-in-postgres /usr/local/bin/docker-entrypoint.sh
ENV PATH=/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["docker-entrypoint.sh"]
STOPSIGNAL SIGINT
CMD ["postgres", "-c", "listen_addresses=*"]

FROM stand-in AS redis
RUN install -d -o redis -g redis /data
VOLUME /data
WORKDIR /data
CMD ["redis-server"]

FROM stand-in AS compiled
RUN apt-get update && apt-get install -y --no-install-recommends golang-go
RUN --mount=type=cache,target=/root/.cache/go-build --mount=type=cache,target=/root/go/pkg \
    CGO_ENABLED=0 go install github.com/versity/versitygw/cmd/versitygw@v1.8.0

FROM stand-in AS versitygw
COPY --from=compiled /root/go/bin/versitygw /usr/local/bin/
