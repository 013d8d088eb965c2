//! The form of a string: ours and libpq's reading are the same, word for word.

use locked::store::postgres::address::{AddressError, parse};

use super::libpq::{self, Answer};

/// Strings as people have them, and as they get them wrong.
const STRINGS: [&str; 92] = [
    "",
    " ",
    "host=db",
    "host = db  port =\t5433",
    "host=db user='ana b' password='it\\'s' dbname=\"x\"",
    "host=db password=a\\ b",
    "host=db password=",
    "host=db password= user=ana",
    "host='db'port=5",
    "host='db",
    "host=db\\",
    "password='a\\",
    "host=db nonsense",
    "host=db nonsense=1",
    "=x",
    "host==x",
    "host=db host=other",
    "HOST=db",
    "ho st=db",
    "requiressl=1",
    "requiressl=0 host=x",
    "host=/var/run/postgresql",
    "host=@abstract",
    "host=a,b,c port=1,2,3",
    "hostaddr=127.0.0.1,::1 host=a,b",
    "user=é password='ü ö'",
    "mydb",
    "postgres://",
    "postgresql://",
    "postgres:///",
    "postgres:///db",
    "postgres://?",
    "postgres:///?",
    "postgres:///?dbname=x&host=/tmp&port=6543",
    "postgres://host",
    "postgres://host:5433",
    "postgres://host:/db",
    "postgres://host/",
    "postgres://host/db",
    "postgres://ana@host",
    "postgres://ana:pw@host:5433/db?sslmode=verify-full&application_name=x",
    "postgres://ana:@host",
    "postgres://:pw@host",
    "postgres://@host",
    "postgres://ana:p%40ss%2Fw%3A%23%3F@host",
    "postgres://ana:p@ss@host",
    "postgres://ana:p/ss@host",
    "postgres://ana:p?ss@host/db",
    "postgres://ana:p#ss@host/db",
    "postgres://ana:100%@host",
    "postgres://ana:%zz@host",
    "postgres://ana:a+b@host",
    "postgres://ana:%00@host",
    "postgres://ana:%C3%A9@host",
    "postgres://h1,h2",
    "postgres://h1:1,h2:2,h3/db",
    "postgres://h1,,h3:3",
    "postgres://,",
    "postgres://ana@h1:1,h2:2/db?target_session_attrs=read-write",
    "postgres://?host=h1,h2&port=1,2",
    "postgres://h1?host=h2",
    "postgres://[::1]",
    "postgres://[::1]:5433/db",
    "postgres://[fe80::1%25eth0]:5433/db",
    "postgres://[::1],[::2]:5/db",
    "postgres://[::1",
    "postgres://[]",
    "postgres://[::1]x",
    "postgres://::1/db",
    "postgres://%2Fvar%2Frun%2Fpostgresql/db",
    "postgres://%2Ftmp:5433/db",
    "postgres://%2Ftmp,host/db",
    "postgres://host/db?user=a@b",
    "postgres://host/db?sslmode",
    "postgres://host/db?sslmode=a=b",
    "postgres://host/db?sslmode=",
    "postgres://host/db?=x",
    "postgres://host/db?&",
    "postgres://host/db?sslmode=require&",
    "postgres://host/db?ssl=true",
    "postgres://host/db?ssl=false",
    "postgres://host/db?ssl%6Dode=require",
    "postgres://host/db?nonsense=1",
    "postgres://host/db?options=-c%20x%3D1",
    "postgres://host/db?options=-c x",
    "postgres://host/db#frag",
    "postgres://host/d%20b/c",
    "postgres://host/db?a?b=c",
    "POSTGRES://host/db",
    "jdbc:postgresql://host/db?user=ana&password=pw",
    "postgresql+psycopg2://ana:pw@host/db",
    "http://host",
];

/// Pieces that grammars stumble over.
const PIECES: [&str; 52] = [
    "postgres://",
    "postgresql://",
    "host",
    "user",
    "password",
    "port",
    "dbname",
    "sslmode",
    "requiressl",
    "ssl",
    "true",
    "options",
    "nonsense",
    "=",
    "=",
    "=",
    "&",
    "?",
    "/",
    ":",
    "@",
    ",",
    "[",
    "]",
    "'",
    "'",
    "\\",
    " ",
    " ",
    "\t",
    "\n",
    "%",
    "%2F",
    "%40",
    "%zz",
    "%00",
    "%3",
    "#",
    "+",
    "a",
    "b",
    "1",
    "5432",
    "::1",
    "é",
    "\"",
    "''",
    "= ",
    " =",
    ".",
    "-",
    "_",
];

fn ours(text: &str) -> Answer {
    match parse(text) {
        Ok(found) => Some(found.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()),
        Err(_) => None,
    }
}

/// The one intended difference: what is no UTF-8 after decoding is refused here.
fn comparable(theirs: Answer) -> Answer {
    theirs.filter(|found| !found.values().any(|value| value.contains(char::REPLACEMENT_CHARACTER)))
}

#[test]
fn every_string_is_read_as_libpq_reads_it() {
    let texts: Vec<String> = STRINGS.iter().map(|text| (*text).to_owned()).collect();
    for (text, theirs) in texts.iter().zip(libpq::parsed(&texts)) {
        assert_eq!(ours(text), comparable(theirs), "{text:?}");
    }
}

#[test]
fn strings_put_together_at_random_are_read_as_libpq_reads_them() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("small") % below
    };
    let texts: Vec<String> = (0..40_000)
        .map(|at| {
            let start = if at % 2 == 0 { PIECES[at / 2 % 2].to_owned() } else { String::new() };
            let count = 1 + next(14);
            (0..count).fold(start, |text, _| text + PIECES[next(PIECES.len())])
        })
        .collect();
    let mut read = 0;
    for (text, theirs) in texts.iter().zip(libpq::parsed(&texts)) {
        read += usize::from(theirs.is_some());
        assert_eq!(ours(text), comparable(theirs), "{text:?}");
    }
    assert!(read > 2_000, "only {read} of the strings were good ones");
}

#[test]
fn a_foreign_scheme_is_named_as_such() {
    for text in ["POSTGRES://h", "jdbc:postgresql://h/db", "postgresql+psycopg2://h", "mysql://h"] {
        assert_eq!(parse(text).expect_err(text), AddressError::Scheme, "{text}");
    }
}

#[test]
fn an_unknown_word_is_named_unless_it_may_be_part_of_a_password() {
    let unknown = |text: &str| match parse(text).expect_err(text) {
        AddressError::Unknown { name } => name,
        other => panic!("{text}: {other}"),
    };
    assert_eq!(unknown("host=db sslmodus=require").as_deref(), Some("sslmodus"));
    assert_eq!(unknown("postgres://h/db?sslmodus=require").as_deref(), Some("sslmodus"));
    assert_eq!(unknown("password=my pa=ss host=db"), None);
    assert_eq!(unknown("postgres://u:1/2?w=x@h/db"), None);
}
