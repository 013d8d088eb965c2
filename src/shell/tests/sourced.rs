//! Files that a script reads in.
#![forbid(unsafe_code)]

use super::shown;
use crate::shell::{Directory, Script, Sourced, Surroundings, Word, parse, parse_seeing};

const FILES: [(&str, &str); 9] = [
    ("./list", "one\ntwo\n"),
    ("./lines", "cd d\na\n"),
    ("./vars", "F=one"),
    ("vars", "F=one"),
    ("./go", "cd sub"),
    ("./fn", "f() { a \"$1\"; }; g() { b; }"),
    ("./ret", "F=one; return; F=two; c"),
    ("./args", "b \"$1\""),
    ("./self", ". ./self; . ./self"),
];

fn read(script: &str) -> Script {
    let reads = |_: &Directory, file: &Word| match file.known() {
        Some(b"./gone" | b"gone") => Sourced::Missing,
        name => match FILES.iter().find(|(own, _)| name == Some(own.as_bytes())) {
            Some((_, text)) => Sourced::Text(text.as_bytes().to_vec()),
            None => Sourced::Unseen,
        },
    };
    parse_seeing(script.as_bytes(), &Surroundings::default(), &reads, &|_, _| None)
}

/// `%` at the end: it is not known what stands in a file.
#[test]
fn what_stands_in_them_runs_where_they_are_read_in() {
    for (script, expected) in [
        (". ./vars; a \"$F\"", ". ./vars ; [F=one] ; a one"),
        ("source -- ./vars; a \"$F\"", "source -- ./vars ; [F=one] ; a one"),
        ("cd d; . ./go; a", "cd d ; . ./go @d ; cd sub @d ; a @d/sub"),
        (". ./fn; f x; a", ". ./fn ; f x ; a x ; a"),
        (". ./fn; a", ". ./fn ; a"),
        (". ./fn; . ./fn; f x", ". ./fn ; . ./fn ; f x ; a x"),
        (". ./ret; a \"$F\"", ". ./ret ; [F=one] ; return ; [F=two] ; c ; a one"),
        (". ./args x; a \"$1\"", ". ./args x ; b x ; a $1"),
        (". ./gone; a \"$F\"", ". ./gone ; a $F"),
        ("[ -f vars ] && . ./vars; a \"$F\"", "[ -f vars ] ; . ./vars ; [F=one] ; a one"),
        ("test -r vars && set -a && . ./vars; a \"$F\"", "test -r vars ; set -a ; . ./vars ; [F=one] ; a one"),
        ("[[ -f vars ]] && . ./vars; a \"$F\"", ". ./vars ; [F=one] ; a one"),
        ("[ -f gone ] && . ./gone; a \"$F\"", "[ -f gone ] ; . ./gone ; a $F"),
        ("[ -n \"$X\" ] && . ./vars; a \"$F\"", "[ -n $X ] ; . ./vars ; [F=one] ; a ?"),
        ("F=x; . ./unseen; a \"$F\"", "[F=x] ; . ./unseen ; a ? %"),
        ("cd d; . ./unseen; a", "cd d ; . ./unseen @d ; a @d %"),
        (". \"$X\"; a", ". $X ; a %"),
        ("echo F=x > vars; . ./vars; a \"$F\"", "echo F=x >vars ; . ./vars ; a ? %"),
        ("cp b vars; . ./vars; a \"$F\"", "cp b vars ; . ./vars ; a ? %"),
        ("cat vars; . ./vars; a \"$F\"", "cat vars ; . ./vars ; [F=one] ; a one"),
    ] {
        let found = read(script);
        let unread = if found.unread { " %" } else { "" };
        assert_eq!(format!("{}{unread}", shown::script(&found)), expected, "{script}");
    }
}

#[test]
fn a_loop_goes_through_the_lines_of_a_file() {
    for (script, expected) in [
        ("while read -r f; do a \"$f\"; done < list", "<list ; read -r f <0.0 ; a one <0.0 ; a two <0.0"),
        ("cat list | while read -r f; do a \"$f\"; done", "cat list ; read -r f |0 ; a one |0 ; a two |0"),
        ("for f in $(cat list); do a \"$f\"; done", "cat list ; a one ; a two"),
        ("for f in $(<./list); do a $f; done", "<./list ; a one ; a two"),
        (
            "while read -r l; do eval \"$l\"; done < lines; b",
            "<lines ; read -r l @? <0.0 ; eval cd·d <0.0 ; cd d <0.0 ; eval a @d <0.0 ; a @d <0.0 ; b @?",
        ),
        (
            "while read -r l; do [ -n \"$l\" ] || continue; a \"$l\"; done < list",
            "<list ; read -r l <0.0 ; [ -n one ] <0.0 ; continue <0.0 ; a one <0.0 ; [ -n two ] <0.0 ; continue <0.0 ; a two <0.0",
        ),
        ("cp b list; while read -r f; do a \"$f\"; done < list", "cp b list ; <list ; read -r f <1.0 ; a ? <1.0"),
        ("while read -r l; do eval \"$l\"; done < gone", "<gone ; read -r l @? <0.0 ; eval ? @? <0.0 ; !"),
        ("x | while read -r l; do a \"$l\"; done", "x ; read -r l |0 ; a ? |0"),
    ] {
        assert_eq!(shown::script(&read(script)), expected, "{script}");
    }
}

#[test]
fn one_that_reads_itself_in_ends() {
    let found = read(". ./self; a");
    assert!(found.unread && found.complete && found.commands.len() < 200, "{}", found.commands.len());
    assert_eq!(found.commands.last().map(|last| shown::word(&last.words[0])).as_deref(), Some("a"));
}

#[test]
fn where_nobody_reads_them_that_is_said() {
    for (script, unread) in [("a; b", false), (". ./vars", true), ("f() { . ./vars; }", true), ("source", false)] {
        assert_eq!(parse(script.as_bytes()).unread, unread, "{script}");
    }
}
