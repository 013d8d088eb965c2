//! Where commands run.
#![forbid(unsafe_code)]

use super::all;

#[test]
fn cd_counts_in_its_own_shell_and_on_its_own_way() {
    all(&[
        ("cd /opt/x && a", "cd /opt/x ; a @/opt/x"),
        ("cd a; (cd b; x); y", "cd a ; cd b @a ; x @a/b ; y @a"),
        ("cd a || exit; x", "cd a ; exit ; x @a"),
        ("cd a || { echo no; exit 1; }; x", "cd a ; echo no ; exit 1 ; x @a"),
        ("cd a || x; y", "cd a ; x ; y @a|."),
        ("cd a && x; y", "cd a ; x @a ; y @a"),
        ("cd a && x && y || z", "cd a ; x @a ; y @a ; z @a"),
        ("cd a; cd ..; x", "cd a ; cd .. @a ; x"),
        ("cd a/b; cd ../c; x", "cd a/b ; cd ../c @a/b ; x @a/c"),
        ("cd ..; x", "cd .. ; x @.."),
        ("cd /; cd ..; cd a; x", "cd / ; cd .. @/ ; cd a @/ ; x @/a"),
        ("cd a; cd /b; x", "cd a ; cd /b @a ; x @/b"),
        ("cd \"$x\"; y", "cd $x ; y @?"),
        ("cd \"$x\"; cd /a; y", "cd $x ; cd /a @? ; y @/a"),
        ("cd -; x", "cd - ; x @?"),
        ("cd; x", "cd ; x @$HOME"),
        ("HOME=/h; cd; x", "[HOME=/h] ; cd ; x @/h"),
        ("read HOME; cd; x", "read HOME ; cd ; x @?"),
        ("cd ~/a; x", "cd $HOME/a ; x @$HOME/a"),
        ("cd ~/a/../..; x", "cd $HOME/a/../.. ; x @?"),
        ("cd \"$HOME\"/a && x", "cd $HOME/a ; x @$HOME/a"),
        ("cd -- a; x", "cd -- a ; x @a"),
        ("cd -P a; x", "cd -P a ; x @a"),
        ("cd -P a/..; x", "cd -P a/.. ; x @?"),
        ("cd a b; x", "cd a b ; x @?"),
        ("pushd a; x; popd; y", "pushd a ; x @a ; popd @a ; y"),
        (
            "pushd a; pushd ../b; x; pushd; y; popd; z",
            "pushd a ; pushd ../b @a ; x @b ; pushd @b ; y @a ; popd @a ; z @b",
        ),
        ("popd; x", "popd ; x @?"),
        ("cd a; cd -; x", "cd a ; cd - @a ; x"),
        ("cd -; x", "cd - ; x @?"),
        ("cd a; cd \"$OLDPWD/b\"; x", "cd a ; cd $PWD/b @a ; x @b"),
        ("D=$(pwd); cd a; cd \"$D/b\"; x", "pwd ; [D=?] ; cd a ; cd ?/b @a ; x @b"),
        ("for d in a b; do cd $d; x; cd ..; done; y", "cd a ; x @a ; cd .. @a ; cd b ; x @b ; cd .. @b ; y"),
        ("for d in a b; do cd $d; x; done; y", "cd a @? ; x @? ; cd b @? ; x @? ; y @?"),
        ("export \"$X\"; cd a; x", "export $X ; cd a ; x @a"),
        ("cd a; eval \"$(ssh-agent -s)\"; x", "cd a ; ssh-agent -s @a ; eval ? @a ; x @a"),
        ("cd a; eval \"$(echo cd b)\"; x", "cd a ; echo cd b @a ; eval ? @a ; x @?"),
        ("cd a & x", "cd a ; x"),
        ("cd a | x; y", "cd a ; x |0 ; y"),
        ("x $(cd a; y); z", "cd a ; y @a ; x ?… ; z"),
        ("x <(cd a; y)", "cd a ; y @a ; x ?"),
        ("{ cd a; x; }; y", "cd a ; x @a ; y @a"),
        ("if x; then cd a; fi; y", "x ; cd a ; y @a|."),
        ("if cd a; then x; else y; fi", "cd a ; x @a ; y"),
        ("while x; do cd a; done; y", "x @? ; cd a @? ; y @?"),
        ("for d in a b; do (cd $d && x); done; y", "cd a ; x @a ; cd b ; x @b ; y"),
        ("for d in /a /b; do cd $d; x; done", "cd /a @? ; x @/a ; cd /b @? ; x @/b"),
        ("f() { cd a; }; f; x", "f ; cd a ; x @a"),
        ("cd() { builtin cd \"$@\"; }; cd a; x", "cd a ; builtin cd a ; x @a"),
        ("command cd a; x", "command cd a ; x @a"),
        ("CDPATH=/c; cd a; x", "[CDPATH=/c] ; cd a ; x @?"),
        ("CDPATH=/c; cd ./a; x", "[CDPATH=/c] ; cd ./a ; x @a"),
        ("set -e; cd a; x", "set -e ; cd a ; x @a"),
        ("cd a; echo $PWD", "cd a ; echo $PWD…/a @a"),
        ("! cd a && x", "cd a ; x"),
        ("D=/d; cd $D/e && x", "[D=/d] ; cd /d/e ; x @/d/e"),
        ("cd a && F=b; x \"$F\"", "cd a ; [F=b] @a ; x ? @a"),
        ("cd a; . b; x", "cd a ; . b @a ; x @a"),
        ("exit; x", "exit ; x"),
        ("cd ''; x", "cd '' ; x @?"),
        ("cd .; x", "cd . ; x"),
        ("a; cd b; c; cd d; e", "a ; cd b ; c @b ; cd d @b ; e @b/d"),
    ]);
}

#[test]
fn a_function_runs_where_and_with_what_it_is_called() {
    all(&[
        ("f() { x \"$1\" \"$@\"; }; f a b", "f a b ; x a a b"),
        ("f() { x \"$@\"; }; f a 'b c'; f", "f a b·c ; x a b·c ; f ; x"),
        ("f() { x; }; cd a; f", "cd a ; f @a ; x @a"),
        ("f() { cd a || return 1; x; }; f && y; z", "f ; cd a ; return 1 ; x @a ; y @a ; z @a|."),
        ("f() { cd a; return; }; f; z", "f ; cd a ; return @a ; z @a"),
        ("die() { echo no; exit 1; }; cd a || die; x", "cd a ; die ; echo no ; exit 1 ; x @a"),
        ("f() { local F=a; x $F; }; F=b; f; y $F", "[F=b] ; f ; local F=a ; x a ; y b"),
        ("f() { F=a; }; f; y $F", "f ; [F=a] ; y a"),
        ("f() { x; f; }; f", "f ; x ; f ; x @? <? ; f @? <?"),
        ("f() { g \"$1\"; }; g() { x \"$1\"; }; f a", "f a ; g a ; x a"),
        ("f() { x; }; a | f; f | b", "a ; f |0 ; x |0 ; f ; x ; b |3-4"),
        ("f() { x \"$1\"; }; f $y", "f $y… ; x ?"),
        ("f() { x \"$F\"; }; F=a f", "[F=a] f ; x a"),
        ("f() { a; }; f() { b; }; f", "f ; b @? <? ; a @? <?"),
        ("f() { x; }; while y; do f; done", "y ; f ; x"),
        ("(f() { x; }; f)", "f ; x"),
        ("(f() { cd a; }); f; y", "f ; cd a ; y @a|."),
        ("if z; then f() { cd a; }; fi; f; y", "z ; f ; cd a ; y @a|."),
        ("mkdir -p a && cd a && x; y", "mkdir -p a ; cd a ; x @a ; y @a"),
        ("[ -d a ] && cd a; cd b; y", "[ -d a ] ; cd a ; cd b @a|. ; y @a/b|b"),
        ("trap f EXIT; f() { x; }; cd a", "trap f EXIT ; cd a ; f @? <? ; x @? <?"),
        ("trap 'rm b' EXIT; x", "trap rm·b EXIT ; x ; rm b <?"),
        ("cd a; trap 'b' 0; (cd c)", "cd a ; trap b 0 @a ; cd c @a ; b @? <?"),
    ]);
}

#[test]
fn the_working_directory_is_known_as_a_way_from_the_start() {
    all(&[
        ("x \"$PWD/a\"", "x $PWD/a"),
        ("cd \"$PWD\" && x", "cd $PWD ; x"),
        ("cd \"$PWD/a\" && x", "cd $PWD/a ; x @a"),
        ("cd a; x \"$PWD/b\"", "cd a ; x $PWD/a/b @a"),
        ("cd /a; x \"$PWD/b\"", "cd /a ; x /a/b @/a"),
        ("D=$PWD; cd a; cd \"$D\"; x", "[D=$PWD] ; cd a ; cd $PWD @a ; x"),
        ("PWD=/z; x \"$PWD\"", "[PWD=/z] ; x /z"),
    ]);
}
