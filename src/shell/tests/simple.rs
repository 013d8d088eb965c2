//! Simple commands, lists and pipelines.
#![forbid(unsafe_code)]

use super::all;

#[test]
fn lists_and_pipelines() {
    all(&[
        ("", ""),
        ("  \t\n\n# nothing\n", ""),
        ("a", "a"),
        ("a b  c", "a b c"),
        ("a;b", "a ; b"),
        ("a\nb\n", "a ; b"),
        ("a & b &", "a ; b"),
        ("a && b || c", "a ; b ; c"),
        ("a &&\n\n b", "a ; b"),
        ("a ||# why\n b", "a ; b"),
        ("a | b", "a ; b |0"),
        ("a | b | c", "a ; b |0 ; c |1"),
        ("a |\nb", "a ; b |0"),
        ("a |& b", "a ; b |0"),
        ("! a | b", "a ; b |0"),
        ("! a && b", "a ; b"),
        ("a | { b; c; }", "a ; b |0 ; c |0"),
        ("{ a; b; } | c", "a ; b ; c |0-1"),
        ("(a) | (b)", "a ; b |0"),
        ("a | while read l; do b \"$l\"; done", "a ; read l |0 ; b ? |0"),
        ("a #b\nc", "a ; c"),
        ("a#b", "a#b"),
        ("a '#b' #c", "a #b"),
        ("a \\\n b", "a b"),
        ("a\\\nb", "ab"),
        ("a &\\\n& b", "a ; b"),
        ("# a \\\nb", "b"),
        ("a; # c ; d\nb", "a ; b"),
        ("time a b", "a b"),
        ("time -p a | b", "a ; b |0"),
        ("time -f %e a", "time -f %e a"),
        ("time; a", "a"),
        ("! time a", "a"),
        ("exec a b", "exec a b"),
        ("command a", "command a"),
        ("\\a b", "a b"),
        ("a;;b", "a ; !"),
        ("a | | b", "a ; !"),
        ("a )", "a ; !"),
        ("; a", "!"),
        ("a && ", "a ; !"),
        ("a\r\nb", "a\\r ; b"),
    ]);
}

#[test]
fn reserved_words_are_reserved_only_where_a_command_starts() {
    all(&[
        ("echo if then fi done } esac in {", "echo if then fi done } esac in {"),
        ("in", "in"),
        ("'if' a", "if a"),
        ("\\if a", "if a"),
        ("i\\\nf a; then b; fi", "a ; b"),
        ("X=1 if a", "[X=1] if a"),
        (">f if a", "if a >f"),
        ("then", "!"),
        ("a; fi", "a ; !"),
        ("{a}", "{a}"),
        ("a { b }", "a { b }"),
        ("}", "!"),
        ("iff a", "iff a"),
        ("a | if b; then c; fi", "a ; b |0 ; c |0"),
    ]);
}

#[test]
fn assignments_stand_before_the_words() {
    all(&[
        ("F=a", "[F=a]"),
        ("F=a G=b c d", "[F=a] [G=b] c d"),
        ("a F=b", "a F=b"),
        ("F+=a b", "[F+=a] b"),
        ("F=", "[F=]"),
        ("F= a", "[F=] a"),
        ("1F=a", "1F=a"),
        ("F-=a", "F-=a"),
        ("F=a*b c", "[F=a*b] c"),
        ("F={a,b} c", "[F={a,b}] c"),
        ("F=(a b) c", "[F=?] c"),
        ("F=(a # x\n $(b))", "b ; [F=?]"),
        ("F[1]=a b", "[F=a] b"),
        ("F=\"a b\" c", "[F=a·b] c"),
        ("'F'=a b", "F=a b"),
        ("F=$(a) b", "a ; [F=?] b"),
        ("declare -a F=(a b); c", "declare -a F=? ; c"),
    ]);
}
