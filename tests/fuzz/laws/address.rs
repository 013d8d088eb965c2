//! The laws of connection strings. What is printed in either form is read as it was meant; a password is in no error, note or
//! `Debug`, however it is written and whatever stands behind it; and the password file gives what was written into it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use locked::store::postgres::address::{Endpoint, Look, Surroundings, parse, read};

use super::input::Input;

/// Signs that mean something in one form or the other, and some that mean nothing. No letter of [`SECRET`] is among them.
const SIGNS: &str = "@/:?#[]%&=+ '\\,;abz05é";
/// Two pieces of a password, which nothing else has.
const SECRET: [&str; 2] = ["QQX", "XQQ"];
const KEYS: [&str; 12] = [
    "host",
    "port",
    "dbname",
    "user",
    "password",
    "sslmode",
    "connect_timeout",
    "application_name",
    "options",
    "hostaddr",
    "sslrootcert",
    "target_session_attrs",
];

/// The laws hold for these bytes, as they are and as choices of what to write.
pub(crate) fn hold(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _read = (parse(text), read(text, &Nowhere::default()));
    }
    what_is_printed_is_read(&mut Input::new(bytes));
    a_password_is_not_told(&mut Input::new(bytes));
    a_password_file_is_heeded(&mut Input::new(bytes));
}

fn what_is_printed_is_read(input: &mut Input<'_>) {
    let mut meant = BTreeMap::new();
    for key in KEYS {
        if input.one_in(2) {
            meant.insert(key, format!("a{}", input.text(6, SIGNS)));
        }
    }
    for text in [uri(&meant), pairs(&meant)] {
        let found = parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let as_meant = found.iter().eq(meant.iter().map(|(key, value)| (*key, value.as_str())));
        assert!(as_meant, "{text}: {:?}", found.iter().collect::<Vec<_>>());
        assert!(!found.doubtful(), "{text}: everything is encoded");
    }
}

fn uri(meant: &BTreeMap<&str, String>) -> String {
    let encoded = |key: &str| meant.get(key).map(|value| encode(value));
    let mut text = "postgresql://".to_owned();
    if let Some(user) = encoded("user").or(encoded("password").map(|_| String::new())) {
        text += &user;
        if let Some(password) = encoded("password") {
            text += &format!(":{password}");
        }
        text.push('@');
    }
    // Lists stay lists only where there are as many of both; else one of them goes behind the question mark.
    text += &encoded("host").unwrap_or_default();
    if let Some(port) = encoded("port") {
        text += &format!(":{port}");
    }
    if let Some(database) = encoded("dbname") {
        text += &format!("/{database}");
    }
    let rest = meant.iter().filter(|(key, _)| !["user", "password", "host", "port", "dbname"].contains(key));
    for (at, (key, value)) in rest.enumerate() {
        text += &format!("{}{key}={}", if at == 0 { '?' } else { '&' }, encode(value));
    }
    text
}

fn encode(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        let plain = byte.is_ascii_alphanumeric() || byte == b'+';
        let _infallible = if plain { write!(text, "{}", char::from(byte)) } else { write!(text, "%{byte:02X}") };
        text
    })
}

fn pairs(meant: &BTreeMap<&str, String>) -> String {
    let one =
        |(key, value): (&&str, &String)| format!("{key} = '{}'", value.replace('\\', "\\\\").replace('\'', "\\'"));
    meant.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn a_password_is_not_told(input: &mut Input<'_>) {
    let form = input.below(3);
    let [one, two] = SECRET;
    let between = input.text(3, SIGNS);
    let rest = String::from_utf8_lossy(input.rest()).replace(['Q', 'X'], "q");
    let text = match form {
        0 => format!("postgres://u:{one}{between}{two}@{rest}"),
        1 => format!("password={one}{between}{two} {rest}"),
        _ => format!("host=h user=u password='{one}{between}{two}' {rest}"),
    };
    let address = read(&text, &Nowhere::default());
    let mut told = format!("{:?} {address:?}", parse(&text));
    match &address {
        Ok(address) => {
            told.extend(address.endpoints.iter().map(Endpoint::to_string));
            told.extend(address.notes.iter().map(ToString::to_string));
        }
        Err(error) => told += &format!("{error} {}", error.remedy()),
    }
    assert!(!SECRET.iter().any(|piece| told.contains(piece)), "{text}: {told}");
}

fn a_password_file_is_heeded(input: &mut Input<'_>) {
    const LETTERS: &str = "ab.-:\\* é";
    let [host, database, user] = [0; 3].map(|_| format!("h{}", input.text(4, LETTERS)));
    let password = format!("p{}", input.text(6, LETTERS));
    let escaped = |text: &str| text.replace('\\', "\\\\").replace(':', "\\:");
    let fields = [&host, "5433", &database, &user, &password].map(escaped);
    // What stands before it names another host, or is a comment, or says too little.
    let others: String =
        (0..input.below(4)).map(|_| format!("{}{}\n", input.pick(&["#", "zz:", ""]), input.text(8, "z:\\"))).collect();
    let text = format!("{others}{}\n", fields.join(":"));
    let around = Nowhere { passfile: Some(text.clone()) };
    let meant = [("host", host), ("port", "5433".to_owned()), ("dbname", database), ("user", user)];
    let address = read(&pairs(&meant.into_iter().collect()), &around).expect("an address");
    let found = address.endpoints[0].password.as_ref().map(|found| found.reveal());
    assert_eq!(found, Some(password.as_str()), "{text:?}");
}

/// A machine with nothing but, maybe, a password file.
#[derive(Default)]
struct Nowhere {
    passfile: Option<String>,
}

impl Surroundings for Nowhere {
    fn variable(&self, _name: &str) -> Option<OsString> {
        None
    }

    fn home(&self) -> Option<PathBuf> {
        Some("/home/ana".into())
    }

    fn account(&self) -> Option<String> {
        Some("ana".to_owned())
    }

    fn look(&self, path: &Path) -> io::Result<Look> {
        self.read(path).map(|_| Look { plain: true, mode: 0o600, of_root: false })
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let passfile = self.passfile.as_ref().filter(|_| path == Path::new("/home/ana/.pgpass"));
        passfile.map(|text| text.clone().into_bytes()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
