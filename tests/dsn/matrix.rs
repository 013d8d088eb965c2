//! What `sslmode` and its companions do against every kind of server: as psql does it, or for a reason that is written
//! here.

use std::path::Path;
use std::time::Duration;

use locked::store::postgres::address::read;
use locked::store::postgres::tls::connect;

use super::around::Around;
use super::cluster::{Cluster, own};

/// How a connection ends.
enum End {
    /// It stands, with TLS.
    Tls,
    /// It stands, without TLS.
    Plain,
    /// It does not; our reason has this in it.
    No(&'static str),
}
use End::{No, Plain, Tls};

/// What psql does.
enum Psql {
    /// The same.
    Same,
    /// Something else: `t`, `f` or nothing, and why we do not follow.
    Differs(Option<&'static str>, &'static str),
}
use Psql::{Differs, Same};

type Row = (&'static str, &'static str, End, Psql);

const NO_ISSUER: &str = "of no authority that we were given";

/// The server's certificate (`off`: no TLS, `@1.2`: at most that version) · what the string adds to host, address, port
/// and database (`{ca}` is the authority's directory) · how it ends for us · for psql.
#[rustfmt::skip]
const MATRIX: [Row; 116] = [
    ("good", "sslmode=disable", Plain, Same),
    ("good", "sslmode=allow", Plain, Same),
    ("good", "", Tls, Same),
    ("good", "sslmode=prefer", Tls, Same),
    ("good", "sslmode=require", Tls, Same),
    ("good", "sslmode=verify-ca", No("needs a root certificate"), Same),
    ("good", "sslmode=verify-full", No("needs a root certificate"), Same),
    ("good", "sslmode=require sslrootcert={ca}/ca.crt", Tls, Same),
    ("good", "sslmode=verify-ca sslrootcert={ca}/ca.crt", Tls, Same),
    ("good", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("good", "sslmode=verify-full sslrootcert={ca}/ca-and-stranger.crt", Tls, Same),
    ("good", "sslmode=verify-full sslrootcert={ca}/stranger.crt", No(NO_ISSUER), Same),
    ("good", "sslmode=verify-ca sslrootcert={ca}/stranger.crt", No(NO_ISSUER), Same),
    ("good", "sslmode=require sslrootcert={ca}/stranger.crt", No(NO_ISSUER), Same),
    ("good", "sslmode=prefer sslrootcert={ca}/stranger.crt", Plain, Same),
    ("good", "sslmode=allow sslrootcert={ca}/stranger.crt", Plain, Same),
    ("good", "sslmode=verify-full sslrootcert={ca}/none.crt", No("cannot be read"), Same),
    ("good", "sslmode=require sslrootcert={ca}/none.crt", No("cannot be read"), Differs(Some("t"), "psql verifies nothing then and does not say so")),
    ("good", "sslmode=require sslrootcert={ca}/ca.key", No("no certificate in it"), Same),
    ("good", "sslmode=require sslrootcert={ca}/ca.cnf", No("no certificate in it"), Same),
    ("good", "sslmode=verify-full sslrootcert=system", No(""), Same),
    ("good", "sslmode=require sslrootcert=system", No("since sslrootcert is system"), Differs(Some("t"), "psql 15 takes it for a file's name; 16 refuses as we do")),
    ("good", "host=wrong.example.test sslmode=verify-full sslrootcert={ca}/ca.crt", No("not for wrong.example.test, but for db.example.test, 127.0.0.1"), Same),
    ("good", "host=wrong.example.test sslmode=verify-ca sslrootcert={ca}/ca.crt", Tls, Same),
    ("good", "host=127.0.0.1 sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("good", "host='' sslmode=verify-full sslrootcert={ca}/ca.crt", No("needs the server's name"), Same),
    ("good", "host='' sslmode=verify-ca sslrootcert={ca}/ca.crt", Tls, Same),
    ("good", "sslsni=0 sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("good", "sslmode=verify-full sslrootcert={ca}/ca.crt sslcrl={ca}/ca.crl", Tls, Same),
    ("good", "sslmode=verify-full sslrootcert={ca}/ca.crt sslcrl={ca}/none.crl", No("cannot be read"), Differs(Some("t"), "psql looks at no revocations then and does not say so")),
    ("good", "user=scram password=hunter2 sslmode=require channel_binding=require", Tls, Same),
    ("good", "user=scram password=hunter2 sslmode=require channel_binding=disable", Tls, Same),
    ("good", "user=scram password=hunter2 sslmode=disable channel_binding=require", No("the login at"), Same),
    ("good", "user=postgres sslmode=require channel_binding=require", No("the login at"), Same),
    ("good", "user=scram password=wrong-hunter2 sslmode=require", No("28P01"), Same),
    ("good", "user=scram sslmode=require", No("wants a password"), Same),
    ("good", "dbname=none sslmode=require", No("3D000"), Same),
    ("good", "user=onlyssl sslmode=disable", No("28000"), Same),
    ("good", "user=onlyssl sslmode=allow", Tls, Same),
    ("good", "user=onlyssl sslmode=prefer", Tls, Same),
    ("good", "user=nossl sslmode=require", No("28000"), Same),
    ("good", "user=nossl sslmode=prefer", Plain, Same),
    ("good", "user=nossl sslmode=allow", Plain, Same),
    ("good", "user=certuser sslmode=require", No("28000"), Same),
    ("good", "user=certuser sslmode=require sslcert={ca}/certuser.crt sslkey={ca}/certuser.key", Tls, Same),
    ("good", "user=certuser sslmode=verify-full sslrootcert={ca}/ca.crt sslcert={ca}/certuser.crt sslkey={ca}/certuser.key", Tls, Same),
    ("good", "user=certuser sslmode=require sslcert={ca}/certuser-v1.crt sslkey={ca}/certuser-v1.key", Tls, Same),
    ("good", "user=certuser sslmode=require sslcert={ca}/somebody.crt sslkey={ca}/somebody.key", No("28000"), Same),
    ("good", "user=certuser sslmode=require sslcert={ca}/certuser-stranger.crt sslkey={ca}/certuser-stranger.key", No("client certificate"), Same),
    ("good", "user=certuser sslmode=require sslcert={ca}/certuser.crt sslkey={ca}/somebody.key", No("is not the key of the certificate"), Same),
    ("good", "user=certuser sslmode=require sslcert={ca}/certuser.crt sslkey={ca}/open.key", No("mode 0644"), Same),
    ("good", "user=certuser sslmode=require sslcert={ca}/certuser.crt", No("sslkey is missing"), Same),
    ("good", "user=certuser sslmode=require sslcert={ca}/certuser.crt sslkey={ca}/none.key", No("cannot be read"), Same),
    ("good", "sslmode=require sslcert={ca}/none.crt", No("cannot be read"), Differs(Some("t"), "psql goes on without a certificate and does not say so")),
    ("good", "host={socket} hostaddr= '' sslmode=disable", Plain, Same),
    ("good", "host={socket} hostaddr='' sslmode=require", Plain, Same),
    ("good", "host={socket} hostaddr='' sslmode=verify-full", Plain, Same),
    ("good", "pgbouncer=true sslmode=require", Tls, Differs(None, "psql knows no words of other programs")),
    ("wrong-name", "sslmode=verify-full sslrootcert={ca}/ca.crt", No("but for other.example.test, 192.0.2.1"), Same),
    ("wrong-name", "sslmode=verify-ca sslrootcert={ca}/ca.crt", Tls, Same),
    ("wrong-name", "sslmode=require sslrootcert={ca}/ca.crt", Tls, Same),
    ("wildcard", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("wildcard", "host=a.b.example.test sslmode=verify-full sslrootcert={ca}/ca.crt", No("but for *.example.test"), Same),
    ("common-name", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("common-wildcard", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("both-names", "sslmode=verify-full sslrootcert={ca}/ca.crt", No("but for other.example.test"), Same),
    ("expired", "sslmode=require", Tls, Same),
    ("expired", "sslmode=require sslrootcert={ca}/ca.crt", No("has expired"), Same),
    ("expired", "sslmode=verify-full sslrootcert={ca}/ca.crt", No("has expired"), Same),
    ("revoked", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("revoked", "sslmode=verify-full sslrootcert={ca}/ca.crt sslcrl={ca}/empty.crl", Tls, Same),
    ("revoked", "sslmode=verify-ca sslrootcert={ca}/ca.crt sslcrl={ca}/ca.crl", No("is revoked"), Same),
    ("leaf", "sslmode=verify-full sslrootcert={ca}/ca.crt", No(NO_ISSUER), Same),
    ("leaf", "sslmode=verify-full sslrootcert={ca}/ca-and-middle.crt", Tls, Same),
    ("leaf", "sslmode=verify-full sslrootcert={ca}/middle.crt", Tls, Differs(None, "OpenSSL wants the root itself; what was given by name is trusted here")),
    ("chain", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("chain", "sslmode=verify-full sslrootcert={ca}/ca.crt sslcrl={ca}/ca.crl", No("no list of revocations"), Same),
    ("version1", "sslmode=require", Tls, Same),
    ("version1", "user=scram password=hunter2 sslmode=require channel_binding=require", Tls, Same),
    ("version1", "sslmode=verify-ca sslrootcert={ca}/ca.crt", No("version 1"), Differs(Some("t"), "the TLS library verifies no certificate of version 1")),
    ("version1@1.2", "sslmode=require", Tls, Same),
    ("manual", "sslmode=require", Tls, Same),
    ("manual", "sslmode=verify-full sslrootcert={ca}/manual.crt", Tls, Same),
    ("manual", "sslmode=verify-ca sslrootcert={ca}/ca.crt", No("CA:TRUE"), Same),
    ("manual", "host=wrong.example.test sslmode=verify-full sslrootcert={ca}/manual.crt", No("but for db.example.test"), Same),
    ("self-signed", "sslmode=verify-full sslrootcert={ca}/self-signed.crt", Tls, Same),
    ("self-signed", "sslmode=require sslrootcert={ca}/ca.crt", No(NO_ISSUER), Same),
    ("rsa", "sslmode=require", Tls, Same),
    ("rsa", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("rsa", "user=scram password=hunter2 sslmode=verify-full sslrootcert={ca}/ca.crt channel_binding=require", Tls, Same),
    ("rsa", "user=certuser sslmode=require sslcert={ca}/certuser-rsa.crt sslkey={ca}/certuser-rsa.key", Tls, Same),
    ("rsa@1.2", "sslmode=require", Tls, Same),
    ("rsa@1.2", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("rsa@1.2", "user=scram password=hunter2 sslmode=verify-full sslrootcert={ca}/ca.crt channel_binding=require", Tls, Same),
    ("rsa@1.2", "user=certuser sslmode=require sslcert={ca}/certuser-rsa.crt sslkey={ca}/certuser-rsa.key", Tls, Same),
    ("rsa-whole", "sslmode=verify-full sslrootcert={ca}/rsa-ca.crt", Tls, Same),
    ("rsa-whole", "user=scram password=hunter2 sslmode=verify-full sslrootcert={ca}/rsa-ca.crt channel_binding=require", Tls, Same),
    ("rsa-whole", "host=wrong.example.test sslmode=verify-full sslrootcert={ca}/rsa-ca.crt", No("not for wrong.example.test"), Same),
    ("rsa-whole", "sslmode=verify-full sslrootcert={ca}/ca.crt", No(NO_ISSUER), Same),
    ("p384", "sslmode=require", Tls, Same),
    ("p384", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("p384", "user=scram password=hunter2 sslmode=verify-full sslrootcert={ca}/ca.crt channel_binding=require", Tls, Same),
    ("p384", "user=certuser sslmode=require sslcert={ca}/certuser-p384.crt sslkey={ca}/certuser-p384.key", Tls, Same),
    ("p384@1.2", "sslmode=require", Tls, Same),
    ("p384@1.2", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("p384@1.2", "user=scram password=hunter2 sslmode=verify-full sslrootcert={ca}/ca.crt channel_binding=require", Tls, Same),
    // Up to TLS 1.2 a server takes client keys of its own curve alone (`ssl_ecdh_curve`).
    // The server closes the wire as soon as it has sent its alert, so that our next word may meet a closed door instead.
    ("p384@1.2", "user=certuser sslmode=require sslcert={ca}/certuser-p384.crt sslkey={ca}/certuser-p384.key", No("[error performing TLS handshake: "), Same),
    ("p384-whole", "sslmode=verify-full sslrootcert={ca}/p384-ca.crt", Tls, Same),
    ("p384-whole", "user=scram password=hunter2 sslmode=verify-full sslrootcert={ca}/p384-ca.crt channel_binding=require", Tls, Same),
    ("p384-whole", "host=wrong.example.test sslmode=verify-full sslrootcert={ca}/p384-ca.crt", No("not for wrong.example.test"), Same),
    ("p384-whole", "sslmode=verify-full sslrootcert={ca}/ca.crt", No(NO_ISSUER), Same),
    ("good@1.2", "sslmode=verify-full sslrootcert={ca}/ca.crt", Tls, Same),
    ("good@1.2", "sslmode=require ssl_min_protocol_version=TLSv1.3", No("no version of TLS"), Same),
    ("off", "sslmode=prefer", Plain, Same),
    ("off", "sslmode=require", No("does not support TLS"), Same),
    ("off", "sslmode=verify-full sslrootcert={ca}/ca.crt", No("does not support TLS"), Same),
];

/// Whether this session is encrypted.
pub(super) const QUESTION: &str = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";

/// Connects as we do, in a world with this home. `t` with TLS, `f` without.
pub(super) fn ours(text: &str, home: &Path) -> Result<String, String> {
    let around = Around { home: Some(home.to_owned()), ..Around::default() };
    let address = read(text, &around).map_err(|error| format!("{error} next: {}", error.remedy()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(async {
        let link = connect(&address, &around, Duration::from_secs(30)).await;
        let link = link.map_err(|error| format!("{error} next: {}", error.remedy()))?;
        let _driver = tokio::spawn(link.connection);
        let answer = link.client.simple_query(QUESTION).await.expect("answer");
        let row = answer.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        Ok(row.unwrap_or_default().to_owned())
    })
}

#[test]
fn every_mode_and_certificate_ends_as_with_psql_or_for_a_written_reason() {
    let mut cluster = Cluster::start();
    cluster.authority.of_other_keys();
    own(Path::new(&cluster.authority.file("")));
    let mut shown = "good";
    let mut wrong = Vec::new();
    for (server, more, end, theirs) in MATRIX {
        if server != shown {
            cluster.present(server);
            shown = server;
        }
        let text = format!(
            "host=db.example.test hostaddr=127.0.0.1 user=postgres dbname=postgres port={} {more}",
            cluster.port
        );
        let text = text
            .replace("{ca}", cluster.authority.file("").trim_end_matches('/'))
            .replace("{socket}", &cluster.socket());
        let (we, psql) = (ours(&text, &cluster.home()), cluster.psql(&text, &cluster.home(), QUESTION));
        let as_meant = match &end {
            Tls => we.as_deref() == Ok("t"),
            Plain => we.as_deref() == Ok("f"),
            No(why) => we.as_ref().is_err_and(|said| said.contains(why) && said.contains(" next: ")),
        };
        let meant = match theirs {
            Same => we.as_deref().ok(),
            Differs(answer, why) => {
                assert!(!why.is_empty(), "{server} · {more}");
                answer
            }
        };
        let told = we.as_ref().is_err_and(|said| said.contains("hunter2"));
        // The library's outermost words alone help nobody.
        let cause = |said: &String| said.split_once(" [error ").is_some_and(|(_, chain)| chain.contains(": "));
        let unchained = we.as_ref().is_err_and(|said| said.starts_with("TLS with ") && !cause(said));
        if !as_meant || psql.as_deref().ok() != meant || told || unchained {
            wrong.push(format!("{server} · {more}\n  we:   {we:?}\n  psql: {psql:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), MATRIX.len(), wrong.join("\n"));
}
