//! A bounded run of the laws (tests/fuzz/laws) over bytes that are nearly right: samples with a few bytes changed, cut out, doubled
//! or taken from another one. The same for ever, from a seed.

use crate::counted::allocated_by;
use crate::differential::random::Random;

use super::laws::{address, answers, metadata, told};
use super::rounds;

/// One of the samples, or noise, and then a few changes.
fn nearly(random: &mut Random, samples: &[Vec<u8>]) -> Vec<u8> {
    let byte = |random: &mut Random| u8::try_from(random.below(256)).expect("a byte");
    let mut bytes = match random.percent(25) {
        true => (0..random.below(120)).map(|_| byte(random)).collect(),
        false => samples[random.below(samples.len())].clone(),
    };
    for _ in 0..random.below(5) {
        let from = random.below(bytes.len() + 1);
        let to = (from + random.below(12)).min(bytes.len());
        let piece: Vec<u8> = match random.below(5) {
            0 => Vec::new(),
            1 => bytes[from..to].repeat(2),
            2 => vec![byte(random)],
            3 => SIGNS[random.below(SIGNS.len())].into(),
            _ => {
                let other = &samples[random.below(samples.len())];
                let at = random.below(other.len().max(1));
                other[at..(at + random.below(40)).min(other.len())].to_vec()
            }
        };
        bytes.splice(from..to, piece);
    }
    bytes
}

/// Pieces that mean something to one reader or another.
const SIGNS: [&str; 16] = [
    "\n",
    "\r\n",
    "\u{1b}[2J",
    "\u{202e}",
    "\0",
    "\"",
    "'",
    "[sops]\n",
    "sops:\n",
    "\nsops_mac=",
    "\\n",
    "-9",
    "null",
    "99999999999999999999",
    answers::SECRET,
    "@",
];

fn each(seed: u64, count: u64, samples: &[Vec<u8>], hold: impl Fn(&[u8])) {
    samples.iter().for_each(|sample| hold(sample));
    for round in 0..count {
        hold(&nearly(&mut Random::new(seed, round), samples));
    }
}

/// A file of each format, as the real sops (3.11.0) wrote it.
fn files() -> Vec<Vec<u8>> {
    ["a.env", "a.ini", "a.json", "a.yaml"]
        .map(|name| std::fs::read(format!("{}/{name}", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/samples"))))
        .map(|content| content.expect("a sample"))
        .to_vec()
}

#[test]
fn the_laws_of_sops_files_hold_for_what_is_nearly_one() {
    for file in files() {
        assert!(locked::canary::native(&file).is_ok(), "a sample is whole: {}", String::from_utf8_lossy(&file));
    }
    each(7, rounds(), &files(), metadata::hold);
}

fn strings() -> Vec<Vec<u8>> {
    include_str!("samples/addresses.txt").lines().map(|line| line.as_bytes().to_vec()).collect()
}

#[test]
fn the_laws_of_connection_strings_hold_for_what_is_nearly_one() {
    each(8, rounds(), &strings(), address::hold);
}

/// Each line a verb and an answer to it, as our functions give it.
fn said() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("samples/answers.txt").lines().map(|line| line.split_once('\t').expect("a verb and its answer"))
}

#[test]
fn the_laws_of_a_server_s_answers_hold_for_what_is_nearly_one() {
    for (verb, text) in said() {
        answers::answered(verb, text).unwrap_or_else(|error| panic!("{verb}: {text}: {error}"));
    }
    let samples: Vec<Vec<u8>> = said().map(|(verb, text)| answers::asking(verb, text)).collect();
    each(9, rounds(), &samples, answers::hold);
}

/// Whoever answers in the server's place may have other columns: that is an error, and ends nobody.
#[test]
fn an_answer_of_another_form_is_an_error() {
    for (verb, answered) in answers::answered_by_a_number() {
        assert!(answered.is_err(), "{verb}");
    }
}

#[test]
fn the_laws_of_what_others_tell_hold_for_what_is_nearly_right() {
    let samples: Vec<Vec<u8>> = include_str!("samples/told.txt").lines().map(|line| line.as_bytes().to_vec()).collect();
    each(10, rounds(), &samples, told::hold);
}

/// What reads a text may copy it a few times, never as often as it is long.
#[test]
fn what_is_sixteen_times_as_long_takes_sixteen_times_as_much() {
    let shapes = [
        "A=1\n",
        "sops_mac=x\n",
        "[a]\n",
        "k = v\n",
        "k = \"\"\"\n",
        "k = a\\\n",
        "{\"a\":",
        "[",
        "- ",
        "a:\n",
        "a: b\n",
        "? ",
        "&a ",
        "'",
        "\"",
        "|\n ",
        "ENC[AES256_GCM,data:x]\n",
        "host=a ",
        "h,",
        "a='",
        "\\",
        "%41",
        "&port=1",
        "@",
        "/",
        "[::1],",
        "postgres://a:b@",
    ];
    for shape in shapes {
        let took = |length: usize| {
            let text = shape.repeat(length / shape.len());
            let whole = format!("postgres://u@{text}");
            let all = || {
                let _kind = locked::canary::sniff(text.as_bytes());
                for format in metadata::FORMATS {
                    let _document = locked::canary::document::read_as(text.as_bytes(), format);
                }
                let _strings = [&text, &whole].map(|text| locked::store::postgres::address::parse(text));
            };
            allocated_by(all).1.max(1 << 16)
        };
        let (short, long) = (took(1 << 12), took(1 << 16));
        assert!(long < short * 24, "{shape:?}: {short} bytes for 4 KiB, {long} for 64 KiB");
    }
}
