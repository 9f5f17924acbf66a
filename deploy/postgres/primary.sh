#!/bin/sh
# Run once by the image of PostgreSQL, on a new and empty server: makes the two users and the portal's database.
set -eu

# psql reads the passwords from the environment itself, as `ps` shows arguments.
psql --set=ON_ERROR_STOP=1 --quiet --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'END'
\getenv portal_password PORTAL_PASSWORD
\getenv replication_password REPLICATION_PASSWORD
create role palmares login password :'portal_password';
create database palmares owner palmares;
create role replication login replication password :'replication_password';
\connect palmares
create extension pg_trgm;
END

# The image lets every user into every database from anywhere, with a password. A database `all` has no part in replication.
echo 'host replication replication samenet scram-sha-256' >>"$PGDATA/pg_hba.conf"
