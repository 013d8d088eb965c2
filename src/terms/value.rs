//! Words that may carry a secret by their form.
#![forbid(unsafe_code)]

/// May this word of a command line carry a secret? An assignment (`KEY=value`) or a URL with a user part may, wherever it
/// stands. Such a word is not repeated and gives nothing its name.
#[must_use]
pub fn may_hold_a_secret(word: &[u8]) -> bool {
    word.contains(&b'=') || has_user_part(word)
}

/// `scheme://user@host`, `user:password@host`.
fn has_user_part(word: &[u8]) -> bool {
    let Some(at) = word.iter().rposition(|&byte| byte == b'@') else { return false };
    word[..at].contains(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_and_urls_with_a_user_may_and_file_names_may_not() {
        for word in ["KEY=hunter2", "--password=x", "=", "https://u:p@h/x", "https://token@h", "u:p@h", "a:b@c/d.yaml"]
        {
            assert!(may_hold_a_secret(word.as_bytes()), "{word}");
        }
        for word in ["", "x", "secrets/x.env.sops", "me@host.yaml", "C:/x/y.yaml", "https://h/x", "a:b", "x@y:z"] {
            assert!(!may_hold_a_secret(word.as_bytes()), "{word}");
        }
    }
}
