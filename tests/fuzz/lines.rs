//! Command lines that nobody wrote: for the bounded run (tests/fuzz.rs), and for the figures of tests/bench.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use super::random::Random;

/// Words that mean something to some program, from the cases, and words that mean nothing.
pub(crate) fn vocabulary() -> Vec<OsString> {
    let mut words: Vec<OsString> = known().into_iter().flatten().map(OsString::from).collect();
    words.sort();
    words.dedup();
    let odd: [&[u8]; 20] = [
        b"",
        b"-",
        b"--",
        b"---",
        b"-=",
        b"--=x",
        b"-\xff",
        b"\xff\xfe=",
        b"'",
        b"\"",
        b"$(",
        b"`",
        b"<<",
        b"<<E\n",
        b"((((",
        b"{",
        b"a=b",
        b"\x1a",
        b"sh -c 'sh -c \"sh -c x\"'",
        b"ssh h ssh h ssh h rm .env",
    ];
    words.extend(odd.map(|word| OsString::from_vec(word.to_vec())));
    words
}

/// The command lines of the cases: what people and agents type.
pub(crate) fn known() -> Vec<Vec<String>> {
    let files = [
        include_str!("../cases/docker.jsonl"),
        include_str!("../cases/gh.jsonl"),
        include_str!("../cases/launchers.jsonl"),
        include_str!("../cases/ssh.jsonl"),
    ];
    let argv = |line| {
        let case: serde_json::Value = serde_json::from_str(line).expect("a case");
        serde_json::from_value(case["argv"].clone()).expect("its words")
    };
    files.into_iter().flat_map(str::lines).map(argv).collect()
}

/// Words in any order, a few of them with bytes that nobody typed.
pub(crate) fn any(random: &mut Random, words: &[OsString]) -> Vec<OsString> {
    let mut line: Vec<OsString> = (0..=random.below(9)).map(|_| words[random.below(words.len())].clone()).collect();
    if random.percent(20) {
        // A few bytes of one word are others.
        let at = random.below(line.len());
        let mut bytes = std::mem::take(&mut line[at]).into_vec();
        for _ in 0..random.below(4) {
            let place = random.below(bytes.len() + 1);
            bytes.insert(place, u8::try_from(random.below(255) + 1).expect("a byte"));
        }
        line[at] = OsString::from_vec(bytes);
    }
    line
}

/// Lines that end with a word of 1 MiB, one for each of its shapes behind each of these beginnings.
pub(crate) fn with_a_mebibyte() -> impl Iterator<Item = Vec<OsString>> {
    const PROGRAMS: [&str; 9] = ["sops", "sh", "ssh", "docker", "gh", "env", "scp", "sed", "true"];
    const BEFORE: [&[&str]; 4] = [&[], &["-c"], &["host"], &["set", "f"]];
    let begun = PROGRAMS.iter().flat_map(|program| BEFORE.iter().map(move |before| (program, before)));
    begun.flat_map(|(program, before)| {
        of_a_mebibyte().into_iter().map(move |word| {
            let mut line: Vec<OsString> = [program].into_iter().chain(*before).map(OsString::from).collect();
            line.push(word);
            line
        })
    })
}

/// Words of 1 MiB that mean something to one reader or another.
pub(crate) fn of_a_mebibyte() -> Vec<OsString> {
    let shapes = ["x", "-", "a=b ", "(", "$(", "'\"", "sops -e -i f;", "/", "../", "h:x", "secret", "a\n"];
    shapes.iter().map(|shape| OsString::from(shape.repeat((1 << 20) / shape.len()))).collect()
}
