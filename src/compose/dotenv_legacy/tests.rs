//! Lines as version 1 reads them.
#![forbid(unsafe_code)]

use super::*;

/// Each of these was shown to compose 1.29.2 with python-dotenv 0.21 first.
#[test]
fn lines_are_read_as_python_reads_them() {
    let own = |name: &str| matches!(name, "SET" | "B").then(|| "outside".to_owned());
    for (text, expected) in [
        ("A=1", Some("1")),
        ("A=1\nA=2\n", Some("2")),
        ("export  A=1", Some("1")),
        ("'A' = 1 ", Some("1")),
        ("A: yaml", None),
        ("A=b#c", Some("b#c")),
        ("A=b #c", Some("b")),
        ("A=#x", Some("#x")),
        ("# A=1\n", None),
        ("A=", Some("")),
        ("A='x${B}'", Some("xoutside")),
        ("A='it\\'s'", Some("it's")),
        ("A='x\\'", Some("x\\")),
        (r#"A="a\nb\"""#, Some("a\nb\"")),
        (r"A='a\nb\\'", Some(r"a\nb\")),
        ("A=\"x\" B=2\nC=1", None),
        ("A=1 2", Some("1 2")),
        ("A='x\nB=1\nA=3", Some("3")),
        ("A=$B", Some("$B")),
        ("B=file\nA=${B}", Some("file")),
        ("A=${SET}-${NONE}-${NONE:-d}-${SET:-d}", Some("outside--d-outside")),
        ("A=${NONE:x}${NONE", Some("${NONE:x}${NONE")),
        ("A\n", None),
    ] {
        let found = read(text, &own);
        let value = found.iter().rev().find(|(key, _)| key == "A").and_then(|(_, value)| value.as_deref());
        assert_eq!(value, expected, "{text:?}");
    }
}
