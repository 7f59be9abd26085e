#!/bin/sh
# Run once by the postgres image on an empty volume: a role and a database of its own each for Airflow and for the crawls.
set -eu
make() {
    # The password is read by psql itself: in its arguments everybody on the machine could read it.
    psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres --set name="$1" <<'SQL'
\set file /run/secrets/ :name '_database_password'
\set password `cat :'file'`
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
}
make airflow
make firstflight
