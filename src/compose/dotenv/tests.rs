//! Lines as version 2 reads them.
#![forbid(unsafe_code)]

use proptest::prelude::*;

use super::*;

fn value_of_a(text: &str) -> Result<Option<String>, Fault> {
    let set = |name: &str| (name == "SET").then(|| "outside".to_owned());
    let earlier = |name: &str| matches!(name, "EARLIER" | "B").then(|| "before".to_owned());
    let found = read(text, &set, &earlier)?;
    Ok(found.into_iter().rev().find(|(key, _)| key == "A").map(|(_, value)| value))
}

/// Each of these was shown to compose 5.6.1 first (`docker compose config --environment`).
#[test]
fn lines_are_read_as_compose_reads_them() {
    for (text, expected) in [
        ("A=1", Some("1")),
        ("A=1\nA=2\n", Some("2")),
        ("\u{feff}A=1\r\nB=2\r\n", Some("1")),
        ("export A=1", Some("1")),
        (" A = 1 ", Some("1")),
        ("A: yaml", Some("yaml")),
        ("A=b#c", Some("b#c")),
        ("A=b #c", Some("b")),
        ("A=#x", Some("#x")),
        ("# A=1\n", None),
        ("A=", Some("")),
        ("A=\"\"", Some("")),
        ("A='x$B'", Some("x$B")),
        ("A='it\\'s'", Some("it's")),
        (r#"A="a\nb\t\"\\""#, Some("a\nb\t\"\\")),
        (r#"A="\101\0101\08\c\q""#, Some(r"\101A\8\c\q")),
        (r#"A="\$B""#, Some("$B")),
        (r"A=\n", Some(r"\n")),
        ("A=\"two\nlines\"\n", Some("two\nlines")),
        ("A=\"x\" B=2", Some("x")),
        ("B=2\nA=$B${B}", Some("22")),
        ("A=$B", Some("before")),
        ("SET=file\nA=$SET", Some("outside")),
        ("EARLIER=file\nA=$EARLIER", Some("file")),
        ("A=${NONE:-d}", Some("d")),
        ("A\nB=1\n", None),
        ("A-B=1\nA[0]=2\nA.b=3\n9=4\n", None),
        ("A", None),
    ] {
        assert_eq!(value_of_a(text).as_ref().map(Option::as_deref), Ok(expected), "{text:?}");
    }
}

#[test]
fn a_line_that_compose_refuses_is_named_and_not_repeated() {
    for (text, expected) in [
        ("\nA b=hunter2\n", Fault::Name(2)),
        ("A=1\nA!=hunter2\n", Fault::Name(2)),
        ("export ", Fault::Name(1)),
        ("A=\"hunter2\n", Fault::Quote(1)),
        ("A=1\nB=${hunter2\n", Fault::Template(2, template::Fault::Invalid)),
        ("A=${C?hunter2}\n", Fault::Template(1, template::Fault::Required)),
    ] {
        let fault = value_of_a(text).expect_err(text);
        assert!(!fault.to_string().contains("hunter2"), "{fault}");
        assert_eq!(fault, expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in r#"[A-C=:"'\\$\{\}\-?+ #\n\r0é]{0,60}"#) {
        let _either = value_of_a(&text);
        let _any = super::super::dotenv_legacy::read(&text, &|_| None);
    }
}
