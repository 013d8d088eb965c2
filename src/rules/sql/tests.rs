use super::*;

fn bare(sql: &str) -> String {
    let bare = String::from_utf8(bare_sql(sql.as_bytes())).expect("text");
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_only_looks_like_sql_is_gone() {
    let table = [
        ("select 1 -- grant\n; x", "select 1 ; x"),
        ("-- grant", ""),
        ("/* grant */ select 1", "select 1"),
        ("/* a /* grant */ revoke */ select 1", "select 1"),
        ("select/**/1", "select 1"),
        ("select 'grant all' as x", "select as x"),
        ("select 'it''s a grant', 2", "select , 2"),
        (r"select E'it\'s a grant', 2", "select E , 2"),
        (r"select 'a\', grant", "select , grant"),
        // The end of a name is no mark of a text with backslashes.
        (r"select 1 as cute'x\' grant", "select 1 as cute grant"),
        ("select '-- no comment' grant", "select grant"),
        ("select '/*' , grant, '*/'", "select , grant,"),
        ("alter table \"expense\".\"employees\" add x int", "alter table expense.employees add x int"),
        ("select 1 - -1", "select 1 - -1"),
        ("select $1, $2 grant", "select $1, $2 grant"),
        ("select a$b$c, grant from x where y$b$", "select a$b$c, grant from x where y$b$"),
    ];
    for (sql, expected) in table {
        assert_eq!(bare(sql), expected, "{sql}");
    }
}

#[test]
fn the_body_of_a_function_is_sql() {
    assert_eq!(bare("do $$ begin grant select on x to y; end $$; z"), "do begin grant select on x to y; end ; z");
    assert_eq!(bare("as $f$ -- grant\n execute 'revoke' $f$ z"), "as execute z");
    // A quote that the body leaves open ends with it.
    assert_eq!(bare("do $$ don't $$; grant"), "do don't ; grant");
    assert_eq!(bare("do $a$ x $b$ grant $b$ $a$"), "do x grant");
}

#[test]
fn what_is_never_closed_hides_nothing() {
    for sql in ["x /* grant", "x 'grant", "x $$ grant", "x $tag$ grant $other$", "x E'\\' grant", "x /* /* */ grant"] {
        assert!(bare(sql).ends_with("grant") || sql.contains("other"), "{sql}: {}", bare(sql));
        assert!(bare(sql).contains("grant"), "{sql}");
    }
}

#[test]
fn lines_of_psql_itself_open_nothing() {
    assert_eq!(bare("\\echo it's\ngrant x;\n\\echo done's"), "\\echo it's grant x; \\echo done's");
    assert_eq!(bare("select 1 \\gexec\n"), "select 1 \\gexec");
}

#[test]
fn files_that_are_read_as_well_are_named() {
    let sql =
        "\\i a.sql\nselect 1;\n  \\ir sub/b.sql  \n\\include 'c d.sql'\n\\echo \\i no.sql\n\\include_relative e\n\\i\n";
    let found: Vec<_> = included(sql.as_bytes());
    let found: Vec<(&str, bool)> =
        found.iter().map(|(name, relative)| (std::str::from_utf8(name).expect("text"), *relative)).collect();
    assert_eq!(found, [("a.sql", false), ("sub/b.sql", true), ("c d.sql", false), ("e", true)]);
}

/// Input made to be read again and again. With a scan per sign a megabyte of it takes hours, which the bound on the whole
/// suite catches.
#[test]
fn a_megabyte_of_anything_is_read_once() {
    for unit in ["/*", "E'\\'", "$a$b", "'", "\"", "--", "$", "\\ ", "$a$", "*/"] {
        let sql = unit.repeat((1 << 20) / unit.len());
        assert!(bare_sql(sql.as_bytes()).len() <= sql.len() + 2 * DEEPEST, "{unit}");
    }
    let tags: String = (0..100_000).map(|number| format!("$t{number}$")).collect();
    assert!(bare_sql(tags.as_bytes()).len() <= tags.len());
}
