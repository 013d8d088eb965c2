//! Redirections and here-documents.
#![forbid(unsafe_code)]

use super::{all, parse, shown};

#[test]
fn redirections_of_every_kind() {
    all(&[
        ("a >f", "a >f"),
        ("a > f b", "a b >f"),
        (">f a", "a >f"),
        (">f", ">f"),
        ("a>f", "a >f"),
        ("a 2>f", "a 2>f"),
        ("a 2 >f", "a 2 >f"),
        ("a2>f", "a2 >f"),
        ("a 12>>f", "a 12>>f"),
        ("a >>f <g", "a >>f <g"),
        ("a >|f", "a >|f"),
        ("a <>f", "a <>f"),
        ("a &>f", "a &>f"),
        ("a &>>f", "a &>>f"),
        ("a >&f", "a &>f"),
        ("a >f 2>&1", "a >f 2>&1"),
        ("a >&2", "a 1>&2"),
        ("a 2>&-", "a 2>&-"),
        ("a 3>&1-", "a 3>&1-"),
        ("a <&3", "a 0>&3 <?"),
        ("a {fd}>f", "a {fd}>f"),
        ("a {fd} >f", "a {fd} >f"),
        ("a >$x", "a >$x…"),
        ("a >\"$x\"", "a >$x"),
        ("a >\"x y\"", "a >x·y"),
        ("a >$(b)", "b ; a >?…"),
        ("a >*.f", "a >«*».f"),
        ("a >", "a >'' ; !"),
        ("a > ; b", "a >'' ; !"),
        ("{ a; b; } >f", ">f ; a ; b"),
        ("(a) <f", "<f ; a <0.0"),
        ("while a; do b; done <f", "<f ; a <0.0 ; b <0.0"),
        ("for x in y; do b; done 2>f", "2>f ; b"),
        ("if a; then b; fi >>f", ">>f ; a ; b"),
        ("a | b <f", "a ; b <f"),
        ("a <<<b", "a <<<b"),
        ("a <<<\"b $x\" c", "a c <<<b·$x"),
        ("a <<< $(b)", "b ; a <<<?"),
        ("exec <f; a", "exec <f ; a <0.0"),
        ("exec 3>f; a >&3", "exec 3>f ; a 1>&3"),
    ]);
}

#[test]
fn here_documents() {
    all(&[
        ("a <<E\nb\nE\nc", "a <<b⏎ ; c"),
        ("a <<E b\nc\nE\n", "a b <<c⏎"),
        ("a <<E | b\nc\nE\nd", "a <<c⏎ ; b |0 ; d"),
        ("a <<E <<F\n1\nE\n2\nF\nb", "a <<1⏎ <<2⏎ ; b"),
        ("a <<E; b <<F\n1\nE\n2\nF\n", "a <<1⏎ ; b <<2⏎"),
        ("a <<-E\n\t\tb\n\tE\nc", "a <<b⏎ ; c"),
        ("a <<E\nx $(b) y\nE\n", "b ; a <<x·?·y⏎"),
        ("a <<E\n`b`\nE\n", "b ; a <<?⏎"),
        ("a <<'E'\n$(b) $x\nE\n", "a <<$(b)·$x⏎"),
        ("a <<\\E\n$(b)\nE\n", "a <<$(b)⏎"),
        ("a <<\"E\"\n`b`\nE\n", "a <<`b`⏎"),
        ("a <<E\n'$(b)' \"$x\" \\$y\nE\n", "b ; a <<'?'·\"$x\"·$y⏎"),
        ("a <<E\nit's \"\nE\nb", "a <<it's·\"⏎ ; b"),
        ("a <<E\nb\\\nE\nE\nc", "a <<bE⏎ ; c"),
        ("a <<E\nE\nb", "a <<'' ; b"),
        ("a <<E\nb", "a <<b"),
        ("a <<E", "a <<'' ; !"),
        ("a <<E && b\nc\nE\nd", "a <<c⏎ ; b ; d"),
        ("a $(b <<E\nc\nE\n) d", "b <<c⏎ ; a ?… d"),
        ("a $(b <<E\nit's )\nE\n) d", "b <<it's·)⏎ ; a ?… d"),
        ("a <<E $(b\nc)\nd\nE\nf", "b ; c ; a ?… <<d⏎ ; f"),
        ("a $(b <<E)\nc\nE\n", "b <<'' ; a ?… ; c ; E ; !"),
        ("if a <<E; then\nb\nE\nc; fi", "a <<b⏎ ; c"),
        ("while a; do b; done <<E\nc\nE\n", "<<c⏎ ; a <0.0 ; b <0.0"),
        ("a <<'E F'\nb\nE F\nc", "a <<b⏎ ; c"),
        ("a <<$x\nb\n$x\n", "a <<'' ; !"),
        ("a <<E\n${x:-$(b)}\nE\n", "b ; a <<?⏎"),
        ("a <<E\n$(b\nE\n", "b ; a <<? ; !"),
        ("ssh h <<E\nsops set f\nE", "ssh h <<sops·set·f⏎"),
        ("F=x; a <<E\n$F\nE", "[F=x] ; a <<x⏎"),
    ]);
}

#[test]
fn the_text_that_a_command_reads_is_at_hand() {
    let table = [
        ("bash <<E\na\nE", 0, Some("a⏎")),
        ("bash <<<a", 0, Some("a")),
        ("bash <<E <f\na\nE", 0, None),
        ("bash <f <<E\na\nE", 0, Some("a⏎")),
        ("{ bash; } <<E\na\nE", 1, Some("a⏎")),
        ("bash 3<<E\na\nE", 0, None),
        ("bash 0<<E\na\nE", 0, Some("a⏎")),
        ("a | bash", 1, None),
    ];
    for (script, command, expected) in table {
        let found = parse(script.as_bytes());
        let text = found.text_for(&found.commands[command]).map(shown::word);
        assert_eq!(text.as_deref(), expected, "{script}");
    }
}
