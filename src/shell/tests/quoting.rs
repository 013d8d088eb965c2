//! Words: quotes, expansions, patterns.
#![forbid(unsafe_code)]

use super::all;

#[test]
fn quotes_are_taken_off() {
    all(&[
        ("a 'b c' \"d e\" f\\ g", "a b·c d·e f·g"),
        ("a '' \"\" ''b", "a '' '' b"),
        ("a 'b'\"c\"d\\e", "a bcde"),
        ("a \"b\\\"c\\\\d\\$e\\`f\\gh\"", "a b\"c\\d$e`f\\gh"),
        ("a \"b\\\nc\" 'd\\\ne'", "a bc d\\⏎e"),
        ("a 'b\nc'", "a b⏎c"),
        ("a $'b\\nc\\x41\\101\\u00e9\\'d'", "a b⏎cAA\\xc3\\xa9'd"),
        ("a \"$'b'\"", "a $'b'"),
        ("a $\"b c\"", "a b·c"),
        ("a $'b\\0c'", "a ?"),
        ("a \"it's\" b", "a it's b"),
        ("a $ \"$\" $% b$", "a $ $ $% b$"),
        ("a 'b", "a ; !"),
        ("a \"b", "a b ; !"),
        ("a \\", "a \\"),
        ("a \"b'c\" d", "a b'c d"),
    ]);
}

#[test]
fn what_is_substituted_runs_too() {
    all(&[
        ("a $(b c) d", "b c ; a ?… d"),
        ("a \"$(b c)\" d", "b c ; a ? d"),
        ("a `b c` d", "b c ; a ?… d"),
        ("a \"`b \"c d\"`\"", "b c·d ; a ?"),
        ("a `b \\`c\\`` d", "c ; b ?… ; a ?… d"),
        ("a $(b $(c $(d)))", "d ; c ?… ; b ?… ; a ?…"),
        ("a $(b; c | d)", "b ; c ; d |1 ; a ?…"),
        ("$(a) b", "a ; ?… b"),
        ("a x$(b)y", "b ; a x?…y"),
        ("a <(b c) >(d)", "b c ; d |? ; a ? ?"),
        ("a < <(b)", "b ; a <?"),
        ("a > >(b)", "b |? ; a >?"),
        ("a $(<f)", "<f ; a ?…"),
        ("a $(# b )\nc)", "c ; a ?…"),
        ("a $(case x in x) b;; esac) c", "b ; a ?… c"),
        ("a $(case x in (x) b;; esac) c", "b ; a ?… c"),
        ("a \"$(b \"c $(d \"e\")\")\"", "d e ; b c·? ; a ?"),
        ("a $(b ')' \")\" \\)) c", "b ) ) ) ; a ?… c"),
        ("a ${x:-$(b)}", "b ; a ?…"),
        ("a \"${x:-\"$(b)\"}\" c", "b ; a ? c"),
        ("a ${x:=`b`}", "b ; a ?…"),
        ("a ${x/$(b)/c}", "b ; a ?…"),
        ("a ${x[$(b)]}", "b ; a ?…"),
        ("a ${!x} ${#x} ${x@Q} ${x:1:2}", "a ?… ?… ?… ?…"),
        ("a $((1 + $(b)))", "b ; a ?"),
        ("a $((1 + (2 * 3))) b", "a ? b"),
        ("a $(( b ) ) c", "b ; a ?… c"),
        ("a $( (b) ) c", "b ; a ?… c"),
        ("a $((b); (c)) d", "b ; c ; a ?… d"),
        ("a ${ b; } c", "b ; a ?… c ; !"),
        ("a $[1+1] b", "a ?«[1+1]» b"),
        ("a $(b", "b ; a ?… ; !"),
        ("a `b", "a ; !"),
        ("a ${b", "a ?… ; !"),
        ("a '$(b)' \\$(", "a $(b) $ ; !"),
        ("a \\$b \\`c\\`", "a $b `c`"),
        ("a =(b)", "b ; a ?"),
        ("a \"${x:-'}'}\" b", "a ?'} b ; !"),
        ("a ${x:-'}'} b", "a ?… b"),
        ("a ${x%'}'} b", "a ?… b"),
    ]);
}

#[test]
fn patterns_are_marked_and_lists_in_braces_are_words() {
    all(&[
        ("a *.env b?c", "a «*».env b«?»c"),
        ("a '*' \\* \"*\"", "a * * *"),
        ("a [ab].env", "a «[ab]».env"),
        ("[ -f a ] && b", "[ -f a ] ; b"),
        ("a [b b] []", "a [b b] []"),
        ("a x.{env,bak}", "a x.env x.bak"),
        ("a {1..3} {a} {} {a,b", "a 1 2 3 {a} {} {a,b"),
        ("a {a,{b,c}}d", "a ad bd cd"),
        ("a F{,.bak} F{.bak,}", "a F F.bak F.bak F"),
        ("a {09..11} {a..c} {3..1} {1..9..4} {a..} {1..$n}", "a 09 10 11 a b c 3 2 1 1 5 9 {a..} ?…"),
        ("a {a,b}{1,2} {,x} {a{b} {x,*.y}", "a a1 a2 b1 b2 x {a{b} x «*».y"),
        ("a {1..9999}", "a «{1..9999}»"),
        ("x={a,b} a \"{a,b}\" > f{1,2}", "[x={a,b}] a {a,b} >f{1,2}"),
        ("a '{a,b}' \\{a,b}", "a {a,b} {a,b}"),
        ("a {$(b),c}", "b ; a ?… c"),
        ("a @(b|c).env !(d)", "a «@(b|c)».env «!(d)»"),
        ("find . -exec a {} \\; -o b {} +", "find . -exec a {} ; -o b {} +"),
        ("a x,y", "a x,y"),
    ]);
}
