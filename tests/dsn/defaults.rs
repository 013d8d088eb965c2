//! String, service, variables, password file: who wins is what libpq says.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use locked::store::postgres::address::{Address, AddressError, Note, SslMode, read};

use super::around::Around;
use super::libpq;

/// A service file and a password file, really there, for libpq and us.
struct Files {
    directory: tempfile::TempDir,
}

const SERVICES: &str = "# ours\n\n[other]\nhost=wrong\n\n  [prod]  \nhost=10.255.255.1\nport=7000\nuser=service\ndbname=of service\n\
                        sslmode=require\nhost=second\n[prod2]\nhost=wrong\n";
const PASSWORDS: &str = "# comment\n10.255.255.1:7000:of service:service:by line\nh\\:1:*:*:*:never\n\\*:*:*:*:star\n\
                         10.255.255.2:*:d\\\\b:*:back\\\\slash\\:colon:rest\n10.255.255.3:5432:db:ana:\n*:6000:*:x:first\n*:*:*:*:last\n";

impl Files {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let files = Self { directory };
        for (name, text) in [("services", SERVICES), ("passwords", PASSWORDS)] {
            std::fs::write(files.path(name), text).expect(name);
            std::fs::set_permissions(files.path(name), std::fs::Permissions::from_mode(0o600)).expect("mode");
        }
        files
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    fn variables(&self, more: &[(&str, &str)]) -> BTreeMap<String, String> {
        let files = [("PGSERVICEFILE", self.path("services")), ("PGPASSFILE", self.path("passwords"))];
        let files = files.map(|(name, value)| (name.to_owned(), value));
        files.into_iter().chain(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))).collect()
    }
}

fn ours(text: &str, variables: &BTreeMap<String, String>) -> Address {
    let around = Around { variables: variables.clone(), ..Around::default() };
    read(text, &around).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_string_wins_over_the_service_and_the_service_over_variables() {
    let files = Files::new();
    let all = [
        ("PGHOST", "10.255.255.9"),
        ("PGPORT", "1"),
        ("PGUSER", "env"),
        ("PGDATABASE", "envdb"),
        ("PGSSLMODE", "disable"),
    ];
    let table: [(&str, &[(&str, &str)]); 16] = [
        ("user=x", &[]),
        ("user=x dbname=y", &all),
        ("", &all),
        ("service=prod", &all),
        ("service=prod port=9 user=x", &all),
        ("postgres://ana@/db?service=prod", &all),
        ("user=x", &[("PGSERVICE", "prod")]),
        ("user=x host=10.255.255.2", &[("PGSERVICE", "prod"), ("PGPASSWORD", "envpw")]),
        ("user=x password=own host=10.255.255.2", &[("PGPASSWORD", "envpw")]),
        ("user=x host=10.255.255.2 dbname='d\\\\b'", &[]),
        ("user=ana host=10.255.255.3 dbname=db", &[]),
        ("user=x host=10.255.255.3 port=6000", &[]),
        ("user=x hostaddr=10.255.255.2 dbname='d\\\\b'", &[]),
        ("user=x hostaddr=10.255.255.2 host=10.255.255.1 dbname='d\\\\b'", &[]),
        ("user=x host=10.255.255.3 port=6000", &[("PGREQUIRESSL", "1")]),
        ("user=x host=10.255.255.3", &[("PGPASSWORD", ""), ("PGSSLMODE", "verify-ca"), ("PGREQUIRESSL", "1")]),
    ];
    for (text, more) in table {
        let variables = files.variables(more);
        let address = ours(text, &variables);
        let theirs = libpq::completed(text, &variables);
        let told = |key: &str| theirs.get(key).cloned().unwrap_or_default();
        assert_eq!(address.user, told("user"), "{text:?} {more:?}");
        assert_eq!(address.protection.mode.name(), told("sslmode"), "{text:?} {more:?}");
        assert_eq!(address.endpoints[0].port.to_string(), told("port"), "{text:?} {more:?}");
        let name = if theirs.contains_key("dbname") { told("dbname") } else { told("user") };
        assert_eq!(address.database, name, "{text:?} {more:?}");
        let password = address.endpoints[0].password.as_ref().map(|secret| secret.reveal().to_owned());
        assert_eq!(password.unwrap_or_default(), told("(password)"), "{text:?} {more:?}");
        let host = if told("host").is_empty() { told("hostaddr") } else { told("host") };
        if !host.is_empty() {
            assert!(address.endpoints[0].to_string().starts_with(&host), "{text:?} {more:?}: {}", address.endpoints[0]);
        }
    }
}

#[test]
fn every_variable_stands_in_for_its_parameter() {
    let around = Around::default()
        .with("PGHOST", "h")
        .with("PGHOSTADDR", "127.0.0.1")
        .with("PGAPPNAME", "app")
        .with("PGCONNECT_TIMEOUT", "7")
        .with("PGTARGETSESSIONATTRS", "primary")
        .with("PGCHANNELBINDING", "require")
        .with("PGOPTIONS", "-c a=b")
        .with("PGSSLMODE", "verify-full")
        .with("PGSSLROOTCERT", "/ca")
        .with("PGSSLCERT", "/cert")
        .with("PGSSLKEY", "/key")
        .with("PGSSLCRL", "/crl");
    let address = read("", &around).expect("address");
    assert_eq!(address.endpoints[0].to_string(), "h:5432");
    assert_eq!((address.application_name.as_deref(), address.options.as_deref()), (Some("app"), Some("-c a=b")));
    assert_eq!(address.connect_timeout.map(|time| time.as_secs()), Some(7));
    assert_eq!((address.target.name(), address.protection.mode), ("primary", SslMode::VerifyFull));
    assert_eq!(address.protection.roots.as_deref(), Some("/ca"));
    let paths = [&address.protection.certificate, &address.protection.key, &address.protection.revoked];
    assert_eq!(
        paths.map(|path| path.as_ref().and_then(|path| path.to_str())),
        [Some("/cert"), Some("/key"), Some("/crl")]
    );
}

#[test]
fn services_are_looked_for_at_home_and_then_in_the_systems_directory() {
    let around = Around::at("/home/ana")
        .file("/home/ana/.pg_service.conf", 0o644, "[mine]\nhost=at-home\n")
        .file("/sys/pg_service.conf", 0o644, "[mine]\nhost=wrong\n[theirs]\nhost=of-system\npgbouncer=true\n")
        .with("PGSYSCONFDIR", "/sys");
    assert_eq!(read("service=mine", &around).expect("mine").endpoints[0].to_string(), "at-home:5432");
    let theirs = read("service=theirs", &around).expect("theirs");
    assert_eq!(
        (theirs.endpoints[0].to_string(), theirs.notes),
        ("of-system:5432".into(), vec![Note::Foreign("pgbouncer")])
    );
    let error = read("service=none", &around).expect_err("none");
    assert!(error.to_string().contains("/home/ana/.pg_service.conf, /sys/pg_service.conf"), "{error}");
    for (text, line) in
        [("[s]\nhost=h\nnonsense", 3), ("[s]\nservice=t", 2), ("[s]\n\nsecret=hunter2", 3), ("[s]\nldap://x", 2)]
    {
        let around = Around::at("/h").file("/h/.pg_service.conf", 0o644, text).with("PGSYSCONFDIR", "/sys");
        let error = read("service=s", &around).expect_err(text);
        assert!(matches!(error, AddressError::ServiceFile { line: Some(at), .. } if at == line), "{error}");
        assert!(!error.to_string().contains("hunter2"));
    }
    let missing = Around::default().with("PGSERVICEFILE", "/nowhere/at/all");
    assert!(read("service=s", &missing).expect_err("missing").to_string().contains("not there"));
}

#[test]
fn a_password_file_that_others_can_read_is_ignored_with_a_note() {
    for (mode, used) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o644, false)] {
        let around = Around::at("/h").file("/h/.pgpass", mode, "*:*:*:*:hunter2\n");
        let address = read("host=h", &around).expect("address");
        assert_eq!(address.endpoints[0].password.is_some(), used, "{mode:o}");
        assert_eq!(address.notes.is_empty(), used, "{mode:o}");
        assert!(!format!("{address:?}").contains("hunter2"));
        if !used {
            assert!(address.notes[0].to_string().contains("chmod 600 /h/.pgpass"), "{}", address.notes[0]);
        }
    }
    let asked = Around::at("/h").file("/h/.pgpass", 0o644, "*:*:*:*:x");
    let notes = read("host=h password=own", &asked).expect("address").notes;
    assert!(notes.is_empty(), "who has a password does not look for one");
}

#[test]
fn each_host_has_its_own_password_and_sockets_are_localhost() {
    let text = "a:1:*:*:one\nb:*:*:*:two\r\nlocalhost:*:*:*:sock\n/tmp/x:*:*:*:other\n";
    let around = Around::at("/h").file("/h/.pgpass", 0o600, text);
    let passwords = |text: &str| {
        let address = read(text, &around).expect("address");
        address.endpoints.into_iter().map(|one| one.password.map(|it| it.reveal().to_owned())).collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(passwords("host=a,b,c port=1,2,3"), [some("one"), some("two"), None]);
    assert_eq!(passwords("host=/tmp/x"), [some("other")]);
    assert_eq!(passwords(""), [some("sock")]);
}
