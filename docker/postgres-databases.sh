#!/bin/sh
# Run once by the postgres image on an empty volume: a role and a database of its own each for Airflow and for the crawls.
set -eu
make() {
    psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres --set name="$1" --set password="$2" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
}
make airflow "$AIRFLOW_DATABASE_PASSWORD"
make firstflight "$FIRSTFLIGHT_DATABASE_PASSWORD"
