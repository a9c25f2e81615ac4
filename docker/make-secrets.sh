#!/bin/sh
# Makes a random password for each secret of compose.yaml that has none yet, in docker/secrets or the folder $1.
# The folder is for its owner only. The files can be read by all: the services run as users of their own, and
# Compose mounts a file with its mode.
set -eu
folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
chmod 700 "$folder"
for name in db_password dagster_db_password broker_password admin_seed_password; do
    file=$folder/$name
    test -s "$file" || (umask 022 && od -An -tx1 -N16 /dev/urandom | tr -d ' \n' > "$file")
done
