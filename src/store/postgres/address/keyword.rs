//! The words of a connection string: which there are, which variable stands in for each, and which we drop.
//! Source: libpq's table `PQconninfoOptions` (PostgreSQL 15 to 18).
#![forbid(unsafe_code)]

/// Every parameter that libpq knows, with the environment variable that is its default.
pub(super) const KEYWORDS: [(&str, Option<&str>); 49] = [
    ("application_name", Some("PGAPPNAME")),
    ("channel_binding", Some("PGCHANNELBINDING")),
    ("client_encoding", Some("PGCLIENTENCODING")),
    ("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    ("dbname", Some("PGDATABASE")),
    ("fallback_application_name", None),
    ("gssdelegation", Some("PGGSSDELEGATION")),
    ("gssencmode", Some("PGGSSENCMODE")),
    ("gsslib", Some("PGGSSLIB")),
    ("host", Some("PGHOST")),
    ("hostaddr", Some("PGHOSTADDR")),
    ("keepalives", None),
    ("keepalives_count", None),
    ("keepalives_idle", None),
    ("keepalives_interval", None),
    ("krbsrvname", Some("PGKRBSRVNAME")),
    ("load_balance_hosts", Some("PGLOADBALANCEHOSTS")),
    ("max_protocol_version", Some("PGMAXPROTOCOLVERSION")),
    ("min_protocol_version", Some("PGMINPROTOCOLVERSION")),
    ("oauth_client_id", None),
    ("oauth_client_secret", None),
    ("oauth_issuer", None),
    ("oauth_scope", None),
    ("options", Some("PGOPTIONS")),
    ("passfile", Some("PGPASSFILE")),
    ("password", Some("PGPASSWORD")),
    ("port", Some("PGPORT")),
    ("replication", None),
    ("require_auth", Some("PGREQUIREAUTH")),
    ("requirepeer", Some("PGREQUIREPEER")),
    ("scram_client_key", None),
    ("scram_server_key", None),
    ("service", Some("PGSERVICE")),
    ("ssl_max_protocol_version", Some("PGSSLMAXPROTOCOLVERSION")),
    ("ssl_min_protocol_version", Some("PGSSLMINPROTOCOLVERSION")),
    ("sslcert", Some("PGSSLCERT")),
    ("sslcertmode", Some("PGSSLCERTMODE")),
    ("sslcompression", Some("PGSSLCOMPRESSION")),
    ("sslcrl", Some("PGSSLCRL")),
    ("sslcrldir", Some("PGSSLCRLDIR")),
    ("sslkey", Some("PGSSLKEY")),
    ("sslmode", Some("PGSSLMODE")),
    ("sslnegotiation", Some("PGSSLNEGOTIATION")),
    ("sslpassword", None),
    ("sslrootcert", Some("PGSSLROOTCERT")),
    ("sslsni", Some("PGSSLSNI")),
    ("target_session_attrs", Some("PGTARGETSESSIONATTRS")),
    ("tcp_user_timeout", None),
    ("user", Some("PGUSER")),
];

/// Words of other drivers, of poolers and of hosting services, which change neither whom we talk to nor how securely.
const FOREIGN: [&str; 40] = [
    "ApplicationName",
    "TimeZone",
    "binary_parameters",
    "connection_limit",
    "currentSchema",
    "datestyle",
    "default_query_exec_mode",
    "extra_float_digits",
    "idle_in_transaction_session_timeout",
    "lock_timeout",
    "loginTimeout",
    "max_conns",
    "max_overflow",
    "min_conns",
    "pgbouncer",
    "pool",
    "pool_health_check_period",
    "pool_max_conn_idle_time",
    "pool_max_conn_lifetime",
    "pool_max_conns",
    "pool_min_conns",
    "pool_mode",
    "pool_size",
    "pool_timeout",
    "preferQueryMode",
    "prepareThreshold",
    "prepare_threshold",
    "prepared_statements",
    "reWriteBatchedInserts",
    "schema",
    "search_path",
    "socketTimeout",
    "socket_timeout",
    "statement_cache_mode",
    "statement_cache_size",
    "statement_timeout",
    "supa",
    "tcpKeepAlive",
    "timezone",
    "uselibpqcompat",
];

/// Ours: the schema of the database that has the leases. `schema` alone is what others call the one of their own tables.
pub(crate) const SCHEMA: &str = "locked_schema";

/// What a word of a connection string is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// A parameter of libpq, or our own.
    Known(&'static str),
    /// Another program's, of no consequence here.
    Foreign(&'static str),
    /// Nobody's that we know.
    Unknown,
}

/// Looks a word up; case matters, as in libpq.
pub(super) fn word(name: &str) -> Word {
    let of_libpq = KEYWORDS.iter().map(|(known, _)| *known);
    if let Some(known) = of_libpq.chain([SCHEMA]).find(|known| *known == name) {
        return Word::Known(known);
    }
    FOREIGN.iter().find(|foreign| **foreign == name).map_or(Word::Unknown, |foreign| Word::Foreign(foreign))
}

/// Parameters that promise something which we could not keep. Refused unless the value is what we do anyway.
pub(super) const REFUSED: [(&str, &[&str]); 10] = [
    ("gssencmode", &["", "disable", "prefer"]),
    ("oauth_client_id", &[""]),
    ("oauth_client_secret", &[""]),
    ("oauth_issuer", &[""]),
    ("replication", &["", "0", "false", "off", "no"]),
    ("require_auth", &[""]),
    ("requirepeer", &[""]),
    ("scram_client_key", &[""]),
    ("scram_server_key", &[""]),
    ("sslcertmode", &["", "allow", "disable"]),
];

/// Parameters that libpq would heed and that mean nothing here; said in a note when the string has them.
pub(super) const IDLE: [&str; 9] = [
    "client_encoding",
    "gssdelegation",
    "gsslib",
    "krbsrvname",
    "max_protocol_version",
    "min_protocol_version",
    "oauth_scope",
    "sslcompression",
    "sslpassword",
];
