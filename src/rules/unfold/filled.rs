//! The gaps in a line of GNU parallel, and what goes into them (parallel(1), "Replacement strings").
#![forbid(unsafe_code)]

use crate::rules::step::UNKNOWN;
use crate::terms::shell_quote;

/// A word that a line is run for; none where only run time knows it.
pub(super) type Given = Option<Vec<u8>>;

/// The command with these words in the place of `{}`, `{1}`, `{.}`…, or at its end.
pub(super) fn line(text: &[u8], words: &[Given]) -> Vec<u8> {
    let mut line = Vec::with_capacity(text.len() + 16);
    let (mut filled, mut at) = (false, 0);
    while at < text.len() {
        match gap(&text[at..]) {
            Some((inside, length)) => {
                line.extend(filling(inside, words));
                filled = true;
                at += length;
            }
            None => {
                line.push(text[at]);
                at += 1;
            }
        }
    }
    if !filled && !words.is_empty() {
        line.push(b' ');
        line.extend(filling(b"", words));
    }
    line
}

/// What stands between the braces that begin here, and how long they are: nothing but signs and numbers.
fn gap(text: &[u8]) -> Option<(&[u8], usize)> {
    let rest = text.strip_prefix(b"{")?;
    let end = rest.iter().take(8).position(|&byte| byte == b'}')?;
    rest[..end].iter().all(|byte| b"./#%0123456789+-".contains(byte)).then_some((&rest[..end], end + 2))
}

/// `1.` is the first word without its ending; without a number it is all of them.
fn filling(inside: &[u8], words: &[Given]) -> Vec<u8> {
    let digits = inside.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, part) = inside.split_at(digits);
    if !matches!(part, b"" | b"." | b"/" | b"//" | b"/.") {
        return vec![UNKNOWN];
    }
    let number = std::str::from_utf8(number).ok().filter(|number| !number.is_empty());
    let one = |word: &Given| word.as_ref().map_or(vec![UNKNOWN], |word| quoted(&parted(part, word)));
    match number.map(str::parse::<usize>) {
        None => words.iter().map(one).collect::<Vec<_>>().join(&b' '),
        Some(Ok(number @ 1..)) => words.get(number - 1).map(one).unwrap_or_default(),
        Some(_) => vec![UNKNOWN],
    }
}

/// The part of a word that a gap asks for.
fn parted(part: &[u8], word: &[u8]) -> Vec<u8> {
    let slash = word.iter().rposition(|&byte| byte == b'/');
    let name = slash.map_or(word, |slash| &word[slash + 1..]);
    let bare =
        |text: &[u8]| text.len() - name.len() + name.iter().rposition(|&byte| byte == b'.').unwrap_or(name.len());
    match part {
        b"." => word[..bare(word)].to_vec(),
        b"/" => name.to_vec(),
        b"/." => name[..bare(name)].to_vec(),
        b"//" => slash.map_or(&b"."[..], |slash| &word[..slash.max(1)]).to_vec(),
        _ => word.to_vec(),
    }
}

/// As a shell reads it. What only run time knows stands for itself.
pub(super) fn quoted(word: &[u8]) -> Vec<u8> {
    if word.is_empty() {
        return b"''".to_vec();
    }
    let known = word.split(|&byte| byte == UNKNOWN);
    let known = known.map(|text| if text.is_empty() { String::new() } else { shell_quote(text) }.into_bytes());
    known.collect::<Vec<_>>().join(&UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_goes_where_the_gap_is_or_to_the_end() {
        let table: [(&str, &[&str], &str); 11] = [
            ("sops -r {}", &["F"], "sops -r F"),
            ("sops edit", &["F"], "sops edit F"),
            ("cp {1} {.}.bak", &["a/b.yaml"], "cp a/b.yaml a/b.bak"),
            ("x {/} {//} {/.}", &["a/b.yaml"], "x b.yaml a b"),
            ("x {.} {//}", &["b"], "x b ."),
            ("ssh {1} restart {2}", &["web-1", "app"], "ssh web-1 restart app"),
            ("x {2/.} {3}", &["a", "b/c.d"], "x c "),
            ("x", &["a b", "c"], "x 'a b' c"),
            ("x {#} {%}", &["a"], "x \u{1a} \u{1a}"),
            ("awk '{print}'", &["F"], "awk '{print}' F"),
            ("x {}", &["web-\u{1a}"], "x web-\u{1a}"),
        ];
        for (text, words, expected) in table {
            let words: Vec<Given> = words.iter().map(|word| Some(word.as_bytes().to_vec())).collect();
            assert_eq!(String::from_utf8_lossy(&line(text.as_bytes(), &words)), expected);
        }
        assert_eq!(line(b"ssh {}", &[None]), b"ssh \x1a");
    }
}
