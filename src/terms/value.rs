//! Words that may carry a secret by their form.
#![forbid(unsafe_code)]

/// May this word of a command line carry a secret? An assignment (`KEY=value`), a URL with a user part, or a key or token
/// of a known make may, wherever it stands. Such a word is not repeated and gives nothing its name.
#[must_use]
pub fn may_hold_a_secret(word: &[u8]) -> bool {
    word.contains(&b'=') || has_user_part(word) || is_token(word)
}

/// `scheme://user@host`, `user:password@host`.
pub(super) fn has_user_part(word: &[u8]) -> bool {
    let Some(at) = word.iter().rposition(|&byte| byte == b'@') else { return false };
    word[..at].contains(&b':')
}

/// Where the `=` of an assignment stands in a word of prose; `=>`, `==` and a lonely `=` assign nothing.
pub(super) fn assigns(word: &str) -> Option<usize> {
    let at = word.find('=')?;
    let value = &word[at + 1..];
    (value.starts_with(['\'', '"']) || value.chars().any(char::is_alphanumeric)).then_some(at)
}

/// How keys and tokens begin whose makers gave them a beginning to be found by, and how many letters follow at least. age's
/// identities (C2SP `age.md`, also of plugins), then the forms that secret scanners know: GitHub, GitLab, Slack, Stripe, npm,
/// Vault, and those that begin with `sk-`.
const MAKES: [(&[u8], usize); 20] = [
    (b"AGE-SECRET-KEY-", 16),
    (b"AGE-PLUGIN-", 16),
    (b"ghp_", 20),
    (b"gho_", 20),
    (b"ghu_", 20),
    (b"ghs_", 20),
    (b"ghr_", 20),
    (b"github_pat_", 20),
    (b"glpat-", 16),
    (b"xoxb-", 16),
    (b"xoxp-", 16),
    (b"xapp-", 16),
    (b"sk_live_", 16),
    (b"rk_live_", 16),
    (b"sk_test_", 16),
    (b"npm_", 30),
    (b"hvs.", 20),
    (b"hvb.", 20),
    (b"sk-", 20),
    (b"eyJ", 60),
];

/// Does this word have a key or token of a known make in it?
pub(super) fn is_token(word: &[u8]) -> bool {
    let begins = |at: &usize| *at == 0 || !word[at - 1].is_ascii_alphanumeric();
    (0..word.len()).filter(begins).any(|at| {
        let is_of = |make: &[u8], least| {
            let rest = word[at..].get(make.len()..).filter(|_| word[at..make.len() + at].eq_ignore_ascii_case(make));
            rest.is_some_and(|rest| is_random(make, rest, least))
        };
        MAKES.iter().any(|&(make, least)| is_of(make, least))
    })
}

/// Enough letters of a token follow. Bech32 is of one case; the rest is told from names (`sk-learn-…`) by its mixture.
fn is_random(make: &[u8], rest: &[u8], least: usize) -> bool {
    let of_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let letters: Vec<u8> = rest.iter().take_while(of_token).copied().collect();
    let has = |is: fn(&u8) -> bool| letters.iter().any(is);
    let one_case = make.starts_with(b"AGE-") || make.starts_with(b"xox");
    letters.len() >= least
        && has(u8::is_ascii_digit)
        && (one_case || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_urls_with_a_user_and_keys_may_and_file_names_may_not() {
        let key = format!("AGE-SECRET-KEY-1{}", "QZ".repeat(29));
        let low = format!("x/{}.yaml", key.to_lowercase());
        for word in ["KEY=hunter2", "--password=x", "=", "https://u:p@h/x", "https://token@h", "u:p@h", "a:b@c/d.yaml"]
            .into_iter()
            .chain([&*key, &*low, "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "sk-ant-api03-aB3dE5gH7jK9mN1pQ3sT"])
        {
            assert!(may_hold_a_secret(word.as_bytes()), "{word}");
        }
        for word in ["", "x", "secrets/x.env.sops", "me@host.yaml", "C:/x/y.yaml", "https://h/x", "a:b", "x@y:z"]
            .into_iter()
            .chain([
                "age-secret-key-1.yaml",
                "task-aB3dE5gH7jK9mN1pQ3sT5",
                "sk-learn-models-2024-of-march",
                "ghp_short",
            ])
            .chain(["npm_config_cache_of_the_whole_machine", "age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgp"])
        {
            assert!(!may_hold_a_secret(word.as_bytes()), "{word}");
        }
    }

    /// As many letters as its make has at least, a digit among them, and both cases where its make has both.
    #[test]
    fn a_token_is_told_from_a_name_by_its_letters() {
        for (word, is) in [
            ("xoxb-1abcdefghijklmno", true),
            ("xoxb-1abcdefghijklmn", false),
            ("xoxb-abcdefghijklmnop", false),
            ("sk_live_1abcdefghIJKLMNO", true),
            ("sk_live_1ABCDEFGHIJKLMNO", false),
            ("sk_live_1abcdefghijklmno", false),
            ("sk_live_.abcdefghIJKLMNO", false),
            ("sk_live_1-._abcdefIJKLMN", true),
            ("sk_live_1abcdefg/IJKLMNO", false),
            ("x:sk_live_1abcdefghIJKLMNO", true),
            ("xsk_live_1abcdefghIJKLMNO", false),
        ] {
            assert_eq!(is_token(word.as_bytes()), is, "{word}");
        }
    }

    #[test]
    fn an_assignment_has_something_to_assign() {
        for (word, at) in
            [("a=b", Some(1)), ("=b", Some(0)), ("a='", Some(1)), ("a=\"", Some(1)), ("a=>", None), ("a=", None)]
        {
            assert_eq!(assigns(word), at, "{word}");
        }
        assert_eq!([assigns("=="), assigns("ab"), assigns("a==b")], [None, None, Some(1)]);
    }
}
