//! Whatever is wrong with a string, its password is not told.

use locked::store::postgres::address::{Endpoint, parse, read};

use super::around::Around;

/// Strings whose password is made of `hun`, `ter2` and `s3cr` with something raw between.
const STRINGS: [&str; 24] = [
    "postgres://ana:hun@ter2s3cr@h/db",
    "postgres://ana:hun/ter2s3cr@h/db",
    "postgres://ana:5432/ter2s3cr@h/db",
    "postgres://ana:hun?ter2=s3cr@h/db",
    "postgres://ana:hun/ter2?s3cr=hun@h/db",
    "postgres://ana:5/ter2?s3cr=hun@h/db",
    "postgres://ana:hun#ter2s3cr@h/db",
    "postgres://ana:hun[ter2s3cr@h/db",
    "postgres://ana:hunter2%s3cr@h/db",
    "postgres://ana:hun%00ter2s3cr@h/db",
    "postgres://ana:%ff@hunter2s3cr/db?x@y",
    "postgres://ana:hun@ter2:s3cr@h:x/db",
    "postgres://ana:x@h/db?password=hunter2&nonsense",
    "postgres://ana:x@h/db?password=hunter2=s3cr",
    "postgres://ana:x@h:hunter2@h/db",
    "jdbc:postgresql://h/db?password=hunter2",
    "mysql://ana:hunter2@h/db",
    "host=h password=hun ter2 user=s3cr",
    "host=h password=hun ter2=s3cr",
    "host=h password='hunter2 s3cr",
    "host=h password=hun 'ter2' s3cr",
    "host=h password=hunter2 sslmode=s3cr port=hunter2",
    "host=h password=x port=hunter2",
    "host=h user=ana password=hunter2 s3cr",
];

#[test]
fn no_error_and_no_debug_has_a_piece_of_the_password() {
    for text in STRINGS {
        let parsed = parse(text);
        let address = read(text, &Around::default());
        let mut said = format!("{parsed:?} {address:?}");
        match &address {
            Ok(address) => said.extend(address.endpoints.iter().map(Endpoint::to_string)),
            Err(error) => said += &format!("{error} {}", error.remedy()),
        }
        for piece in ["hun", "ter2", "s3cr"] {
            assert!(!said.contains(piece), "{text}: {said}");
        }
    }
}

#[test]
fn a_raw_at_sign_in_a_password_is_named_with_the_remedy() {
    for text in ["postgres://ana:p@ss@h/db", "postgres://ana:p/ss@h/db", "postgres://ana@acme:pw@h/db"] {
        let error = read(text, &Around::default()).expect_err(text);
        assert!(error.to_string().contains("`@`") && error.remedy().contains("%40"), "{text}: {error}");
    }
}
