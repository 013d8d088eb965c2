#!/bin/sh
# The servers that `tests/bench/run` compares, for sourcing: PostgreSQL, a pgbouncer in transaction mode before it, and
# etcd. All on this machine's loopback, with a certificate that the clients verify, PostgreSQL and the pooler with a password
# (SCRAM) besides, PostgreSQL also on a socket, without either. Each is as durable as it comes.
# shellcheck disable=SC2154  # `root` and `world`, the directory that all is in, are named by who sources this

servers_etcd='' servers_pooler='' servers_sockets=''

# PostgreSQL and pgbouncer refuse to run as root; the package makes an account. What leads there must be open to it.
if [ "$(id -u)" = 0 ]; then servers_account='setpriv --reuid=postgres --regid=postgres --clear-groups --'; else servers_account=; fi
as_server() { $servers_account "$@"; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# await LOG COMMAND…: until the command succeeds.
await() {
    await_log=$1 await_tries=0
    shift
    until "$@" >/dev/null 2>&1; do
        await_tries=$((await_tries + 1))
        if [ "$await_tries" -gt 300 ]; then tail -n 5 "$await_log" >&2 && exit 1; fi
        sleep 0.1
    done
}

# In the world's directory. Exports where each can be reached.
servers_start() {
    echo 'starting the servers' >&2
    # The programs themselves: Debian's psql on PATH is a script that looks for them.
    programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
    programs=${programs:-$(pg_config --bindir)}
    chmod 0755 .
    mkdir server && servers_certificate
    if [ "$(id -u)" = 0 ]; then chown -R postgres: server; fi
    servers_postgres
    servers_pgbouncer
    servers_etcd
}

# An authority and a certificate for this machine, of the kind that is cheapest to verify.
servers_certificate() {
    curve="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    # shellcheck disable=SC2086  # a list of options
    openssl req -x509 $curve -subj /CN=bench -keyout authority.key -out authority.crt 2>/dev/null
    # shellcheck disable=SC2086
    openssl req $curve -subj /CN=localhost -keyout server.key -out server.csr 2>/dev/null
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' >names
    openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -extfile names \
        -out server.crt 2>/dev/null
    cp server.crt server.key server/ && chmod 0600 server/server.key
}

servers_postgres() {
    port=$(free_port)
    # The path of a socket is short; it is somewhere of its own.
    servers_sockets=$(as_server mktemp -d)
    as_server "$programs/initdb" --auth-local=trust --auth-host=scram-sha-256 --username=postgres --encoding=UTF8 --locale=C \
        -D server/data >/dev/null
    as_server "$programs/pg_ctl" -D "$world/server/data" -s -w -l "$world/server/log" -o "-p $port -k $servers_sockets \
        -c listen_addresses=127.0.0.1 -c max_connections=200 \
        -c ssl=on -c ssl_cert_file=$world/server/server.crt -c ssl_key_file=$world/server/server.key" start
    # Notices are for people who look at a store. Not exported: our own client would take the options for its own.
    psql="env PGOPTIONS=--client-min-messages=warning $programs/psql -X -q -v ON_ERROR_STOP=1 -h $servers_sockets -p $port -U postgres"
    $psql -d postgres -f "$root/install/sql/locked.sql" >/dev/null
    $psql -d postgres -c "create role worker login password 'bench' in role locked_client"
    secure="sslmode=verify-full&sslrootcert=$world/authority.crt"
    export BENCH_PSQL="$psql" BENCH_CLIENT="$programs/psql" BENCH_SOCKET="postgres://worker@/postgres?host=$servers_sockets&port=$port"
    export BENCH_TLS="postgres://worker:bench@localhost:$port/postgres?$secure"
    BENCH_POSTGRES=$(as_server head -n 1 "$world/server/data/postmaster.pid") && export BENCH_POSTGRES
}

servers_pgbouncer() {
    pooled=$(free_port)
    printf '"worker" "bench"\n' | as_server tee server/users >/dev/null
    as_server tee server/pooler >/dev/null <<POOLER
[databases]
postgres = host=$servers_sockets port=$port
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $pooled
unix_socket_dir = $servers_sockets
client_tls_sslmode = require
client_tls_cert_file = $world/server/server.crt
client_tls_key_file = $world/server/server.key
auth_type = scram-sha-256
auth_file = $world/server/users
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
POOLER
    # Debian keeps it where only root's PATH looks.
    pgbouncer=$(PATH=$PATH:/usr/sbin command -v pgbouncer)
    # Not by the function, whose process would stand between.
    $servers_account "$pgbouncer" server/pooler >pooler.log 2>&1 &
    servers_pooler=$!
    await pooler.log test -S "$servers_sockets/.s.PGSQL.$pooled"
    export BENCH_POOLED="postgres://worker:bench@localhost:$pooled/postgres?$secure" BENCH_PGBOUNCER="$servers_pooler"
}

servers_etcd() {
    etcd_port=$(free_port)
    etcd --data-dir "$world/etcd" --cert-file server.crt --key-file server.key \
        --listen-client-urls "https://127.0.0.1:$etcd_port" --advertise-client-urls "https://127.0.0.1:$etcd_port" \
        --listen-peer-urls "http://127.0.0.1:$(free_port)" >etcd.log 2>&1 &
    servers_etcd=$!
    BENCH_ETCDCTL="etcdctl --endpoints=https://127.0.0.1:$etcd_port --cacert=$world/authority.crt"
    export BENCH_ETCDCTL BENCH_ETCD="$servers_etcd" ETCDCTL_API=3
    # shellcheck disable=SC2086  # a command with its options
    await etcd.log $BENCH_ETCDCTL endpoint health
}

# Stops what was started, and takes along what lies outside the world.
servers_stop() {
    for server in $servers_etcd $servers_pooler; do kill "$server" 2>/dev/null || true; done
    if [ -f "$world/server/data/postmaster.pid" ]; then
        as_server "$programs/pg_ctl" -D "$world/server/data" -s -m immediate stop || true
    fi
    if [ "$servers_sockets" ]; then rm -rf "$servers_sockets"; fi
}
