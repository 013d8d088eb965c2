//! A private certificate authority made by the real openssl, and server certificates of every kind that people have.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory with keys and certificates: `NAME.crt` and `NAME.key`.
#[derive(Debug)]
pub(crate) struct Authority {
    directory: PathBuf,
}

/// The name that most certificates are for.
pub(crate) const HOST: &str = "db.example.test";

/// Kinds of keys, in openssl's words.
const P256: [&str; 3] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
const P384: [&str; 3] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"];
const RSA: [&str; 3] = ["rsa", "-pkeyopt", "rsa_keygen_bits:2048"];

impl Authority {
    /// Makes the authorities `ca` and `stranger`, the intermediate `middle`, and every certificate that the tests use.
    pub(crate) fn new(directory: &Path) -> Self {
        let made = Self { directory: directory.to_owned() };
        std::fs::write(made.directory.join("ca.cnf"), CONFIGURATION).expect("configuration");
        for name in ["ca", "stranger"] {
            made.own(
                name,
                &format!("/CN=the {name}"),
                &["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"],
            );
        }
        let name = format!("subjectAltName=DNS:{HOST},IP:127.0.0.1");
        made.signed("good", "/CN=good", "ca", &["basicConstraints=CA:FALSE", &name], &[]);
        made.signed("wrong-name", "/CN=other", "ca", &["subjectAltName=DNS:other.example.test,IP:192.0.2.1"], &[]);
        made.signed("wildcard", "/CN=wild", "ca", &["subjectAltName=DNS:*.example.test"], &[]);
        made.signed("common-name", &format!("/CN={HOST}"), "ca", &["basicConstraints=CA:FALSE"], &[]);
        made.signed("common-wildcard", "/CN=*.example.test", "ca", &["basicConstraints=CA:FALSE"], &[]);
        made.signed("both-names", &format!("/CN={HOST}"), "ca", &["subjectAltName=DNS:other.example.test"], &[]);
        made.signed("expired", "/CN=old", "ca", &[&name], &["-days", "-1"]);
        made.signed("revoked", "/CN=revoked", "ca", &[&name], &[]);
        made.signed("middle", "/CN=middle", "ca", &["basicConstraints=critical,CA:TRUE"], &[]);
        made.signed("leaf", "/CN=leaf", "middle", &["basicConstraints=CA:FALSE", &name], &[]);
        made.joined("chain", &["leaf", "middle"], "leaf");
        made.joined("ca-and-middle", &["ca", "middle"], "ca");
        made.joined("ca-and-stranger", &["stranger", "ca"], "ca");
        // Without any extension openssl makes version 1.
        made.signed("version1", &format!("/CN={HOST}"), "ca", &[], &[]);
        // The recipe of PostgreSQL's manual ("Creating Certificates"): it is an authority of its own.
        made.own("manual", &format!("/CN={HOST}"), &["basicConstraints=critical,CA:TRUE"]);
        made.own("self-signed", "/CN=self", &["basicConstraints=critical,CA:FALSE", &name]);
        for (name, user) in [("certuser", "certuser"), ("somebody", "somebody")] {
            made.signed(name, &format!("/CN={user}"), "ca", &["basicConstraints=CA:FALSE"], &[]);
        }
        made.signed("certuser-v1", "/CN=certuser", "ca", &[], &[]);
        made.signed("certuser-stranger", "/CN=certuser", "stranger", &["basicConstraints=CA:FALSE"], &[]);
        std::fs::copy(made.file("certuser.key"), made.file("open.key")).expect("key");
        std::fs::set_permissions(made.file("open.key"), std::fs::Permissions::from_mode(0o644)).expect("mode");
        made.revocations();
        made
    }

    /// The kinds of keys that people have beside P-256: below this authority, and whole chains of them. Not
    /// made for everybody: RSA takes its time.
    pub(crate) fn of_other_keys(&self) {
        let name = &format!("subjectAltName=DNS:{HOST},IP:127.0.0.1");
        for (kind, key) in [("rsa", RSA), ("p384", P384)] {
            self.signed_of(key, kind, "/CN=other", "ca", &["basicConstraints=CA:FALSE", name], &[]);
            let authority = format!("{kind}-ca");
            self.own_of(key, &authority, "/CN=a ca", &["basicConstraints=critical,CA:TRUE"]);
            // The signature's hash is what a login is tied to (`channel_binding`).
            self.signed_of(key, &format!("{kind}-whole"), "/CN=other", &authority, &[name], &["-sha384"]);
            let user = format!("certuser-{kind}");
            self.signed_of(key, &user, "/CN=certuser", "ca", &["basicConstraints=CA:FALSE"], &[]);
        }
    }

    /// A file of it.
    pub(crate) fn file(&self, name: &str) -> String {
        self.directory.join(name).to_str().expect("UTF-8").to_owned()
    }

    fn own(&self, name: &str, subject: &str, extensions: &[&str]) {
        self.own_of(P256, name, subject, extensions);
    }

    /// With a key of this kind.
    fn own_of(&self, kind: [&str; 3], name: &str, subject: &str, extensions: &[&str]) {
        let (key, certificate) = (format!("{name}.key"), format!("{name}.crt"));
        let mut words = vec!["req", "-x509", "-config", "ca.cnf", "-nodes", "-newkey"];
        words.extend(kind);
        words.extend(["-days", "2", "-subj", subject, "-keyout", &key, "-out", &certificate]);
        for extension in extensions {
            words.extend(["-addext", extension]);
        }
        self.openssl(&words);
    }

    fn signed(&self, name: &str, subject: &str, by: &str, extensions: &[&str], more: &[&str]) {
        self.signed_of(P256, name, subject, by, extensions, more);
    }

    /// With a key of this kind.
    fn signed_of(&self, kind: [&str; 3], name: &str, subject: &str, by: &str, extensions: &[&str], more: &[&str]) {
        let file = |end: &str| format!("{name}.{end}");
        let (key, request, text, certificate) = (file("key"), file("csr"), file("ext"), file("crt"));
        let mut words = vec!["req", "-new", "-config", "ca.cnf", "-nodes", "-newkey"];
        words.extend(kind);
        words.extend(["-subj", subject, "-keyout", &key, "-out", &request]);
        self.openssl(&words);
        let (authority, authority_key) = (format!("{by}.crt"), format!("{by}.key"));
        let mut words =
            vec!["x509", "-req", "-in", &request, "-CA", &authority, "-CAkey", &authority_key, "-out", &certificate];
        words.extend(more);
        if !more.contains(&"-days") {
            words.extend(["-days", "2"]);
        }
        if !extensions.is_empty() {
            std::fs::write(self.directory.join(&text), extensions.join("\n")).expect("extensions");
            words.extend(["-extfile", &text]);
        }
        self.openssl(&words);
    }

    fn joined(&self, name: &str, certificates: &[&str], key: &str) {
        let read = |name: &str| std::fs::read_to_string(self.file(name)).expect("file");
        let text: String = certificates.iter().map(|one| read(&format!("{one}.crt"))).collect();
        std::fs::write(self.file(&format!("{name}.crt")), text).expect("joined");
        std::fs::copy(self.file(&format!("{key}.key")), self.file(&format!("{name}.key"))).expect("key");
    }

    /// `ca.crl` takes `revoked` back, `empty.crl` nothing.
    fn revocations(&self) {
        std::fs::write(self.file("index.txt"), "").expect("index");
        std::fs::write(self.file("crlnumber"), "01\n").expect("number");
        self.openssl(&["ca", "-config", "ca.cnf", "-gencrl", "-out", "empty.crl"]);
        self.openssl(&["ca", "-config", "ca.cnf", "-revoke", "revoked.crt"]);
        self.openssl(&["ca", "-config", "ca.cnf", "-gencrl", "-out", "ca.crl"]);
    }

    fn openssl(&self, words: &[&str]) {
        let output = Command::new("openssl").current_dir(&self.directory).args(words).output().expect("openssl runs");
        assert!(output.status.success(), "openssl {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

const CONFIGURATION: &str = "\
[req]
distinguished_name = dn
[dn]
[ca]
default_ca = own
[own]
database = index.txt
crlnumber = crlnumber
certificate = ca.crt
private_key = ca.key
default_md = sha256
default_crl_days = 2
";
