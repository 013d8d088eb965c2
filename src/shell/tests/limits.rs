//! Arbitrary bytes: no panic, no end of the stack, no more than linear time.
#![forbid(unsafe_code)]

use super::{Script, parse};
use crate::shell::LONGEST;

/// What scripts are made of, so that random ones reach far.
const PIECES: [&str; 78] = [
    "a",
    "b",
    "F=",
    "$F",
    "${F",
    "}",
    "${F:-",
    "${F%",
    "$(",
    ")",
    "`",
    "\\`",
    "'",
    "\"",
    "\\",
    "\n",
    " ",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "(",
    "((",
    "))",
    "$((",
    "<",
    ">",
    ">>",
    "<<E",
    "<<-E",
    "<<'E'",
    "\nE\n",
    "<<<",
    ">&",
    "&>",
    "2>",
    "{fd}>",
    "<(",
    ">(",
    "{",
    "{ ",
    " }",
    "if ",
    "then ",
    "else ",
    "elif ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case x in ",
    "esac",
    "[[ ",
    " ]]",
    "f() ",
    "function f ",
    "coproc ",
    "time ",
    "! ",
    "#",
    "$'",
    "$\"",
    "*",
    "?",
    "[",
    "]",
    ",",
    "..",
    "~",
    "@(",
    "cd a",
    "eval '",
    "trap '",
    "\0",
    "\u{e9}",
];

/// xorshift64: the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

#[test]
fn no_text_makes_it_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let mut script: Vec<u8> =
            (0..random.below(24)).flat_map(|_| PIECES[random.below(PIECES.len())].bytes()).collect();
        for _ in 0..random.below(3) {
            if !script.is_empty() {
                let at = random.below(script.len());
                script[at] = random.below(256) as u8;
            }
        }
        drop(parse(&script));
    }
}

/// Every prefix of a script that uses everything.
#[test]
fn a_script_may_end_anywhere() {
    let script = "f() { cd a || exit; }; for x in a b; do case $x in a|b) y \"${x:-'$(z)'}\" <<E >f 2>&1;; esac; done\n$(w)\nE\n\
        if [[ a =~ b ]]; then ((x++)); v=$((1+`u`)) {fd}>>g t <(s) $'q\\x41' @(a|b) {c,d}; fi & coproc r; eval 'p'; ~/o";
    assert!(parse(script.as_bytes()).complete);
    for end in 0..script.len() {
        drop(parse(&script.as_bytes()[..end]));
    }
}

#[test]
fn nesting_has_a_bound() {
    for (opening, closing) in [
        ("(", ")"),
        ("$(", ")"),
        ("{ ", "; }"),
        ("if a; then ", "; fi"),
        ("a \"$(", ")\""),
        ("${x:-", "}"),
        ("((", "))"),
        ("$((", "))"),
        ("<(", ")"),
        ("f() ", ""),
        ("coproc ", ""),
        ("x=(", ")"),
        ("@(", ")"),
        ("case x in y) ", ";; esac"),
        ("while a; do ", "; done"),
        ("eval eval ", ""),
        ("a <<E\n$(", ")\nE\n"),
        ("! ", ""),
        ("$((", ""),
        ("a=$(( (", ""),
        ("{", "}"),
        ("[", "]"),
        ("{a,", "}"),
        ("`", "`"),
        ("\"", "\""),
        ("for x in y; do ", "; done"),
        ("a|", ""),
    ] {
        let shallow = [opening.repeat(5), "a".to_owned(), closing.repeat(5)].concat();
        drop(parse(shallow.as_bytes()));
        let count = LONGEST / (opening.len() + closing.len() + 1);
        let deep = [opening.repeat(count), "a".to_owned(), closing.repeat(count)].concat();
        drop(parse(deep.as_bytes()));
        drop(parse(opening.repeat(LONGEST / opening.len()).as_bytes()));
    }
    let nested = |depth: usize| parse(["{ ".repeat(depth), "a".to_owned(), "; }".repeat(depth)].concat().as_bytes());
    assert!(nested(60).complete);
    assert!(!nested(70).complete);
}

/// Texts for which a careless reader takes quadratic or exponential time: then it does not end in time.
#[test]
fn time_is_bounded_for_texts_that_are_made_to_waste_it() {
    let repeated = [
        "(( # '\na) )\n",
        "((a) b\n",
        "$(( ' ",
        "a=$a$a;",
        "a=xxxxxxxx;a=$a$a$a$a$a;",
        "x&&a=1||b=2;",
        "cd a;",
        "cd a&&",
        "a[",
        "{a,",
        "[",
        "for x in a b c d e f;do ",
        "for x in a b;do x $x;done;",
        "a\\\n",
        "<<E ",
        "a <<E\n",
        "a <<E;",
        "f(){ a=$b;};f;",
        "while a;do ",
        "if a;then b=1;fi;",
        "`",
        "\\`",
        "\\",
        "${a",
        "${a:-",
        "$a",
        "\"$a\"",
        "a|",
        "eval a;",
        "trap a 1;",
        "case x in a)b=1;esac;",
        "(a=1;b=2);",
        "a=1 ",
        "export a=$a;",
        "x $(",
        "!",
        "! ",
        "&\\\n",
        "while a;do b=$b$b;done;",
        "a1=1;b=$a1$a1;",
        "eval 'a=$a$a';",
        "{ ",
        "a~",
        ":~",
        "F=~:",
        "$(a)",
        "<(a)",
        "a\n",
        "é",
        "<<-E\n\t",
        "\\\n",
    ];
    for piece in repeated {
        ends_for(piece.repeat(LONGEST / 2 / piece.len()));
        ends_for(["(( a=x; \"", &piece.repeat(LONGEST / 8 / piece.len())].concat());
    }
    // Very many variables, and very many words for a loop with a long text.
    let many: String = (0..20_000).map(|at| format!("v{at}=x&&a;")).collect();
    ends_for(many);
    let rounds = format!("for x in {}; do c <<E; done\n{}\nE\n", "a ".repeat(50_000), "x".repeat(100_000));
    ends_for(rounds);
}

/// Parses on a thread of its own, so that what does not end is a failure. The bound is no measure of speed.
fn ends_for(script: String) {
    let (done, is_done) = std::sync::mpsc::channel();
    let head: String = script.chars().take(40).collect();
    std::thread::spawn(move || {
        drop(parse(script.as_bytes()));
        done.send(())
    });
    is_done.recv_timeout(std::time::Duration::from_secs(100)).unwrap_or_else(|_| panic!("it does not end: {head}…"));
}

#[test]
fn of_too_long_a_script_nothing_is_said() {
    let nothing = Script::default();
    assert_eq!(parse(&b"a\n".repeat(512 * 1024)), nothing);
    assert_eq!(parse(&vec![b' '; LONGEST + 1]), nothing);
    assert!(parse(&vec![b' '; LONGEST]).complete);
}

#[test]
fn a_nul_is_not_understood() {
    assert!(!parse(b"a \0 b").complete);
}
