# What scripts/test-compose puts in the place of the official images of PostgreSQL and Redis where none can be pulled.
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
