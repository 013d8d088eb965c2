//! Variables, as far as the script or its surroundings say them.
#![forbid(unsafe_code)]

use super::{Word, all, shown};
use crate::shell::{Surroundings, parse_in};

#[test]
fn what_was_assigned_is_substituted() {
    all(&[
        ("F=.env; sed -i s \"$F\"", "[F=.env] ; sed -i s .env"),
        ("F=a; b $F.x ${F}y", "[F=a] ; b a.x ay"),
        ("F='a b'; c $F \"$F\"", "[F=a·b] ; c a b a·b"),
        ("F='a b'; c x$F\"y\"", "[F=a·b] ; c xa by"),
        ("F='*.env'; c $F \"$F\"", "[F=*.env] ; c «*.env» *.env"),
        ("F=; c $F \"$F\" d", "[F=] ; c '' d"),
        ("F=$D/.env; c \"$F\"", "[F=$D/.env] ; c $D/.env"),
        ("F=$(a)/.env; c \"$F\" $F", "a ; [F=?/.env] ; c ?/.env ?…/.env"),
        ("F=a c \"$F\"", "[F=a] c $F"),
        ("F=a >$F", "[F=a] >?…"),
        ("export F=a; c $F", "export F=a ; c a"),
        ("export F='a b'; c \"$F\"", "export F=a·b ; c a·b"),
        ("local F=a$(b); c \"$F\"", "b ; local F=a? ; c a?"),
        ("F=a; export F; c $F", "[F=a] ; export F ; c a"),
        ("F=a; F+=b; c $F", "[F=a] ; [F+=b] ; c ab"),
        ("F=a; unset F; c \"$F\"", "[F=a] ; unset F ; c ?"),
        ("F=a; read F; c \"$F\"", "[F=a] ; read F ; c ?"),
        ("F=a; read -r -p x G F; c \"$F\"", "[F=a] ; read -r -p x G F ; c ?"),
        ("F=a; x | read F; c \"$F\"", "[F=a] ; x ; read F |1 ; c ?"),
        ("F=a; printf -v F x; c \"$F\"", "[F=a] ; printf -v F x ; c ?"),
        ("F=a; . b; c \"$F\"", "[F=a] ; . b ; c ?"),
        ("F=a; eval 'F=b'; c \"$F\"", "[F=a] ; eval F=b ; [F=b] ; c b"),
        ("F=a; eval \"$X\"; c \"$F\"", "[F=a] ; eval $X ; c ? @?"),
        ("F=a; $X b; c \"$F\"", "[F=a] ; $X… b ; c ? @?"),
        ("F=a; $X/b d; c \"$F\"", "[F=a] ; $X…/b d ; c a"),
        ("F=a; (F=b); c $F", "[F=a] ; [F=b] ; c a"),
        ("F=a; x && F=b; c \"$F\"", "[F=a] ; x ; [F=b] ; c ?"),
        ("if x; then F=a; else F=a; fi; c $F", "x ; [F=a] ; [F=a] ; c a"),
        ("if x; then F=a; else F=b; fi; c \"$F\"", "x ; [F=a] ; [F=b] ; c ?"),
        ("if x; then F=a; else exit; fi; c $F", "x ; [F=a] ; exit ; c a"),
        ("case $x in a) F=a;; esac; c \"$F\"", "[F=a] ; c ?"),
        ("F=a; while x \"$F\"; do F=b; done; c \"$F\"", "[F=a] ; x ? ; [F=b] ; c ?"),
        ("F=a; while x; do c $F; done", "[F=a] ; x ; c a"),
        ("F=a; f() { F=b; }; c $F; f; c \"$F\"", "[F=a] ; c a ; f ; [F=b] ; c b"),
        ("for f in a.env b.env; do c $f; done", "c a.env ; c b.env"),
        ("for f in a b; do for g in 1 2; do c $f$g; done; done", "c a1 ; c a2 ; c b1 ; c b2"),
        ("for f in *.env; do c \"$f\"; done", "c «*».env"),
        ("for f in a $x; do c \"$f\"; done", "c ?"),
        ("for f in a; do c; done; d \"$f\"", "c ; d ?"),
        ("L='a b'; for f in $L; do c $f; done", "[L=a·b] ; c a ; c b"),
        ("F=a.env.sops; c ${F%.sops} ${F#a.}", "[F=a.env.sops] ; c a.env env.sops"),
        ("F=a; c ${F:-b} ${F:+d} ${F-e}", "[F=a] ; c a d a"),
        ("F=; c ${F:-b}", "[F=] ; c b"),
        ("c ${F:-b} \"${F:=b}\"; d \"$F\"", "c ?… ? ; d ?"),
        ("F=1; ((F++)); c \"$F\"", "[F=1] ; c ?"),
        ("F=1; : $((F+1)); c \"$F\"", "[F=1] ; : ? ; c 1"),
        ("F=1; : $((F <= 2)) $((F == 1)); c \"$F\"", "[F=1] ; : ? ? ; c 1"),
        ("F=1; : $((F <<= 2)); c \"$F\"", "[F=1] ; : ? ; c ?"),
        ("IFS=:; F=a:b; c $F", "[IFS=:] ; [F=a:b] ; c ?…"),
        ("c ~ ~/x '~/x' a~ ~u/x", "c $HOME $HOME/x ~/x a~ ?/x"),
        ("c ~<(b) ~>f", "b ; c ~? $HOME >f"),
        ("F=~/x; c \"$F\"", "[F=$HOME/x] ; c $HOME/x"),
        ("c \"$HOME/x\" $HOME/x", "c $HOME/x $HOME…/x"),
        ("HOME=/h; c ~/x", "[HOME=/h] ; c /h/x"),
        ("c F=~/x", "c F=?/x"),
        ("P=~/a:~/b; c \"$P\"", "[P=$HOME/a:$HOME/b] ; c $HOME/a:$HOME/b"),
        ("c \"$@\" $* \"$*\" $1 \"$2\" $# $?", "c $@… $*… $* $1… $2 ?… ?…"),
        ("set -- a; c \"$1\" \"$@\"", "set -- a ; c a a"),
        ("c $RANDOM $PWD", "c ?… $PWD…"),
        ("F=a; declare -n G=F; G=b; c \"$F\"", "[F=a] ; declare -n G=F ; [G=b] ; c ?"),
        ("F=a export G=b; c \"$F\"", "[F=a] export G=b ; c ?"),
        ("A=a B=$A; c $B", "[A=a] [B=a] ; c a"),
        ("C='sops set'; $C f", "[C=sops·set] ; sops set f"),
        ("C=x; for f in a b; do $C $f; done", "[C=x] ; x a ; x b"),
        ("F=a; trap 'F=b' USR1; c \"$F\"", "[F=a] ; trap F=b USR1 ; c ? @? ; [F=b] <?"),
    ]);
}

#[test]
fn surroundings_are_known_from_the_start() {
    let variables = [("HOME", "/h"), ("F", "a b")].map(|(name, value)| (name.into(), value.into()));
    let parameters = Some(["sh", "x.env", "y z"].map(Into::into).to_vec());
    let surroundings =
        Surroundings { variables: variables.into(), parameters, unknown: Some(b'#'), ..Surroundings::default() };
    let table = [
        ("c ~/x \"$HOME\" $F \"$F\"", "c /h/x /h a b a·b"),
        ("c \"$1\" $2 \"$3\" $0", "c x.env y z '' sh"),
        ("c \"$@\"", "c x.env y·z"),
        ("c a\"$@\"b", "c ax.env y·zb"),
        ("c $@ \"$*\"", "c x.env y z x.env·y·z"),
        ("for x; do c \"$x\"; done", "c x.env ; c y·z"),
        ("for x in \"$@\"; do c \"$x\"; done", "c x.env ; c y·z"),
        ("shift; c \"$1\"", "shift ; c y·z"),
        ("c \"$G\"", "c $G"),
        ("cd && c", "cd ; c @/h"),
        ("f() { c \"$1\"; }", "c ? @? <?"),
        ("set -- 'a#' b; c \"$1\" \"$2\"", "set -- a? b ; c a? b"),
    ];
    for (script, expected) in table {
        assert_eq!(shown::script(&parse_in(script.as_bytes(), &surroundings)), expected, "{script}");
    }
}

#[test]
fn a_partly_known_word_says_what_it_could_be() {
    let word = |script: &str| super::parse(script.as_bytes()).commands.remove(0).words.remove(1);
    let table: [(&str, &str, [bool; 3]); 9] = [
        ("c a.env", "a.env", [true, true, true]),
        ("c a.env", ".env", [false, false, true]),
        ("c a$x.env", "a.env", [true, true, true]),
        ("c a$x.env", "ab.env", [true, true, true]),
        ("c a$x.env", "b.env", [false, false, true]),
        ("c a$x-b-$y.env", "a-b.env", [false, true, true]),
        ("c a$x-b-$y.env", "a1-b-2.env", [true, true, true]),
        ("c a$x", "ab", [true, true, true]),
        ("c $x.env", "x.env.bak", [false, true, false]),
    ];
    for (script, text, expected) in table {
        let word: Word = word(script);
        let text = text.as_bytes();
        let found = [word.could_be(text), word.could_start_with(text), word.could_end_with(text)];
        assert_eq!(found, expected, "{script}: {}", String::from_utf8_lossy(text));
    }
}

#[test]
fn arrays_and_parameters_are_words() {
    all(&[
        ("A=(a 'b c'); x \"${A[@]}\"", "[A=?] ; x a b·c"),
        ("A=(a); A+=(b); \"${A[@]}\" c", "[A=?] ; [A+=?] ; a b c"),
        ("A=(a b); x \"${A[*]}\" ${A[@]} $A", "[A=?] ; x a·b a b a"),
        ("declare -a A=(a b); x \"${A[@]}\"", "declare -a A=? ; x a b"),
        ("A=($(y)); x \"${A[@]}\"", "y ; [A=?] ; x ?…"),
        ("A=([k]=v); x \"${A[@]}\"", "[A=?] ; x ?…"),
        ("A=(a); x \"${A[0]}\"", "[A=?] ; x ?"),
        ("set -e; x \"$1\"", "set -e ; x $1"),
        ("set -eu -o pipefail -- a b; shift; x \"$1\"", "set -eu -o pipefail -- a b ; shift ; x b"),
        ("set a b; x $2", "set a b ; x b"),
        ("alias a='b c'; a d", "alias a=b·c ; a d ; b c d"),
        ("alias a='b; c'; a d", "alias a=b;·c ; a d ; !"),
    ]);
}

/// The variables that the last command is started with, as far as the script says it: `-` none, `?` unknown, `~` as the
/// script was started with it, `!` unsure.
#[test]
fn what_is_exported_goes_with_every_command_behind() {
    use crate::shell::{Exported, Value};
    let shown = |script: &str| {
        let commands = super::parse(script.as_bytes()).commands;
        let last = commands.last().expect("a command");
        let variables = last.environment.each().map(|(name, variable)| {
            let value = match &variable.value {
                Value::AsFound => "~".to_owned(),
                Value::Text(word) => shown::word(word),
                Value::List(words) => format!("({})", words.len()),
                Value::Unset => "-".to_owned(),
            };
            let exported = match variable.exported {
                Exported::AsFound => "~",
                Exported::Yes => "",
                Exported::No => "-",
                Exported::Unsure => "!",
            };
            format!("{exported}{}={value}", String::from_utf8_lossy(name))
        });
        variables.collect::<Vec<_>>().join(" ")
    };
    let table = [
        ("x", ""),
        ("F=a; x", "~F=a"),
        ("export F=a; x", "F=a"),
        ("export F=a && x", "F=a"),
        ("F=a; export F; x", "F=a"),
        ("export F; F=a; x", "F=a"),
        ("export F; x", "F=~"),
        ("export F=a G=b; x", "F=a G=b"),
        ("export F=$(y); x", "F=?"),
        ("declare -x F=a; x", "F=a"),
        ("typeset -x F=a; x", "F=a"),
        ("F=a; declare -x F; x", "F=a"),
        ("declare F=a; x", "~F=a"),
        ("readonly F=a; x", "~F=a"),
        ("set -a; F=a; x", "F=a"),
        ("set -o allexport; F=a; set +a; G=b; x", "F=a ~G=b"),
        ("set -ea; F=a; x", "F=a"),
        ("export F=a; unset F; x", "-F=-"),
        ("unset F; F=a; x", "-F=a"),
        ("export F=a; export -n F; x", "-F=a"),
        ("export F=a; declare +x F; x", "-F=a"),
        ("export F=a; F=b; x", "F=b"),
        ("export F=a; read F; x", "F=? ~MAPFILE=? ~OPTARG=? ~OPTIND=? ~REPLY=?"),
        ("(export F=a); x", ""),
        ("export F=a; (export F=b); x", "F=a"),
        ("export F=a | y; x", ""),
        ("y | export F=a; x", "!F=?"),
        ("y && export F=a; x", "!F=?"),
        ("F=a; y && export F; x", "!F=a"),
        ("if y; then export F=a; else export F=a; fi; x", "F=a"),
        ("if y; then export F=a; else export F=b; fi; x", "F=?"),
        ("while y; do export F=a; done; x", "!F=?"),
        ("for f in a b; do export F=$f; x; done", "F=b ~f=b"),
        ("f() { export F=a; }; f; x", "F=a"),
        ("f() { local F=a; x; }; export F=b; f; x", "F=b"),
        ("export F=a; . y; x", "F=?"),
        ("F=a; eval 'export F'; x", "F=a"),
        ("F=b export G=a; x", "~F=? G=a"),
        ("set -gx F a; x", "F=a"),
        ("set -x F a; x", "F=a"),
        ("A=(a b); x", "~A=(2)"),
    ];
    let found = table.iter().map(|(script, expected)| (script, expected, shown(script)));
    let wrong: Vec<_> = found.filter(|(_, expected, found)| *expected != found).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
