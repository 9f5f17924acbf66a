#!/bin/sh
# Starts a streaming replica of $PRIMARY_HOST: copies the primary the first time, then follows it. Takes the command to run.
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # A copy gets its name when it is whole, so that one that was interrupted is never served, and begins anew.
  rm -rf "$PGDATA" "$PGDATA.new"
  echo "copying $PRIMARY_HOST" >&2
  PGPASSWORD=$REPLICATION_PASSWORD pg_basebackup --pgdata="$PGDATA.new" --write-recovery-conf --wal-method=stream \
    --checkpoint=fast --host="$PRIMARY_HOST" --port="${PRIMARY_PORT:-5432}" --username=replication --no-password
  mv "$PGDATA.new" "$PGDATA"
fi

unset REPLICATION_PASSWORD
exec "$@"
