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
        ("F=a; . b; c \"$F\"", "[F=a] ; . b ; c ? @?"),
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
        ("F=a; f() { F=b; }; c $F; f; c \"$F\"", "[F=a] ; [F=b] @? <? ; c a ; f ; c ?"),
        ("for f in a.env b.env; do c $f; done", "c a.env ; c b.env"),
        ("for f in a b; do for g in 1 2; do c $f$g; done; done", "c a1 ; c a2 ; c b1 ; c b2"),
        ("for f in *.env; do c \"$f\"; done", "c ?"),
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
        ("set -- a; c \"$1\" \"$@\"", "set -- a ; c ? ?…"),
        ("c $RANDOM $PWD", "c ?… $PWD…"),
        ("F=a; declare -n G=F; G=b; c \"$F\"", "[F=a] ; declare -n G=F ; [G=b] @? ; c ? @?"),
        ("F=a export G=b; c \"$F\"", "[F=a] export G=b ; c ?"),
        ("A=a B=$A; c $B", "[A=a] [B=a] ; c a"),
        ("C='sops set'; $C f", "[C=sops·set] ; sops set f"),
        ("C=x; for f in a b; do $C $f; done", "[C=x] ; x a ; x b"),
        ("F=a; trap 'F=b' USR1; c \"$F\"", "[F=a] ; trap F=b USR1 ; [F=b] @? <? ; c ? @?"),
    ]);
}

#[test]
fn surroundings_are_known_from_the_start() {
    let variables = [("HOME", "/h"), ("F", "a b")].map(|(name, value)| (name.into(), value.into()));
    let parameters = Some(["sh", "x.env", "y z"].map(Into::into).to_vec());
    let surroundings = Surroundings { variables: variables.into(), parameters };
    let table = [
        ("c ~/x \"$HOME\" $F \"$F\"", "c /h/x /h a b a·b"),
        ("c \"$1\" $2 \"$3\" $0", "c x.env y z '' sh"),
        ("c \"$@\"", "c x.env y·z"),
        ("c a\"$@\"b", "c ax.env y·zb"),
        ("c $@ \"$*\"", "c x.env y z x.env·y·z"),
        ("for x; do c \"$x\"; done", "c x.env ; c y·z"),
        ("for x in \"$@\"; do c \"$x\"; done", "c x.env ; c y·z"),
        ("shift; c \"$1\"", "shift ; c ?"),
        ("c \"$G\"", "c $G"),
        ("cd && c", "cd ; c @/h"),
        ("f() { c \"$1\"; }", "c ? @? <?"),
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
