//! SQL without what only looks like it: comments and texts in quotes. It is read as PostgreSQL reads it (its manual,
//! "Lexical Structure"): nested comments, `''` within a text, `E'…'` with backslashes, `$tag$…$tag$`.
//!
//! What stands between dollar quotes stays: it is nearly always the body of a function or of `DO`, and that is SQL. Names
//! in double quotes stay, without the quotes. Where a quote is never closed, everything behind it stays: what cannot be
//! told is taken for SQL, and then too much is held rather than too little.
#![forbid(unsafe_code)]

/// Bodies within bodies beyond this are left as they are.
const DEEPEST: usize = 16;

/// The statements alone. Comments and texts become one space.
#[must_use]
pub fn bare_sql(sql: &[u8]) -> Vec<u8> {
    let mut bare = Vec::with_capacity(sql.len());
    strip(sql, 0, &mut bare);
    bare
}

/// Files that psql is told to read by a line of its own (`\i FILE`, `\ir FILE`), in their order; whether they are
/// relative to the file at hand.
#[must_use]
pub fn included(sql: &[u8]) -> Vec<(Vec<u8>, bool)> {
    let mut found = Vec::new();
    for line in sql.split(|&byte| byte == b'\n') {
        let mut words = line.trim_ascii().splitn(2, |byte| byte.is_ascii_whitespace());
        let relative = match words.next() {
            Some(b"\\i" | b"\\include") => false,
            Some(b"\\ir" | b"\\include_relative") => true,
            _ => continue,
        };
        let name = words.next().unwrap_or_default().trim_ascii();
        let quoted = name.strip_prefix(b"'").and_then(|name| name.strip_suffix(b"'"));
        let name = quoted.unwrap_or(name);
        if !name.is_empty() {
            found.push((name.to_vec(), relative));
        }
    }
    found
}

/// What a place in SQL opens.
enum Opened<'a> {
    /// Nothing.
    Nothing,
    /// So much that only looks like SQL.
    Other(usize),
    /// So much of a line of psql's own.
    Line(usize),
    /// Dollar quotes: what stands in them, and the length with them.
    Body(&'a [u8], usize),
    /// Something that is never closed.
    Forever,
}

fn strip(sql: &[u8], depth: usize, bare: &mut Vec<u8>) {
    let mut at = 0;
    while at < sql.len() {
        match opened(sql, at) {
            Opened::Nothing => {
                bare.extend(Some(sql[at]).filter(|&byte| byte != b'"'));
                at += 1;
            }
            Opened::Other(length) => {
                bare.push(b' ');
                at += length;
            }
            Opened::Line(length) => {
                bare.extend_from_slice(&sql[at..at + length]);
                at += length;
            }
            Opened::Body(body, length) if depth < DEEPEST => {
                bare.push(b' ');
                strip(body, depth + 1, bare);
                bare.push(b' ');
                at += length;
            }
            Opened::Body(..) | Opened::Forever => {
                bare.extend_from_slice(&sql[at..]);
                return;
            }
        }
    }
}

fn opened(sql: &[u8], at: usize) -> Opened<'_> {
    let rest = &sql[at..];
    let line = || rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let closed = |length: Option<usize>| length.map_or(Opened::Forever, Opened::Other);
    match rest {
        // `\echo it's` opens no text.
        [b'\\', ..] if begins_a_line(sql, at) => Opened::Line(line()),
        [b'-', b'-', ..] => Opened::Other(line()),
        [b'/', b'*', ..] => closed(comment(rest)),
        [b'\'', ..] => closed(text(rest, has_escapes(sql, at))),
        [b'$', ..] if at == 0 || !is_of_a_name(sql[at - 1]) => dollars(rest),
        _ => Opened::Nothing,
    }
}

/// `E'…'`, where the E is no end of a name.
fn has_escapes(sql: &[u8], at: usize) -> bool {
    at > 0 && sql[at - 1].eq_ignore_ascii_case(&b'e') && !(at > 1 && is_of_a_name(sql[at - 2]))
}

fn begins_a_line(sql: &[u8], at: usize) -> bool {
    sql[..at].iter().rev().take_while(|&&byte| byte != b'\n').all(u8::is_ascii_whitespace)
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

/// How long the comment is; none when it is never closed.
fn comment(sql: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at + 1 < sql.len() {
        match &sql[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// How long the text is, its quotes included; none when it is never closed.
fn text(sql: &[u8], escapes: bool) -> Option<usize> {
    let mut at = 1;
    while at < sql.len() {
        match sql[at] {
            b'\\' if escapes => at += 2,
            b'\'' if sql.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn dollars(sql: &[u8]) -> Opened<'_> {
    let Some(close) = sql[1..].iter().position(|&byte| byte == b'$') else { return Opened::Nothing };
    let tag = &sql[..close + 2];
    let name = &tag[1..=close];
    if !name.iter().all(|&byte| is_of_a_name(byte)) || name.first().is_some_and(u8::is_ascii_digit) {
        return Opened::Nothing;
    }
    let body = &sql[tag.len()..];
    let length = body.windows(tag.len()).position(|window| window == tag);
    length.map_or(Opened::Forever, |length| Opened::Body(&body[..length], length + 2 * tag.len()))
}

#[cfg(test)]
mod tests;
