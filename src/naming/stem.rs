//! The stem: what is left of a file's name when everything is taken away that only says how it is stored.
#![forbid(unsafe_code)]

/// Says "encrypted".
pub(super) const MARKERS: &[&str] = &[".sops", ".enc", ".encrypted", ".crypt", ".age"];

/// Says which format.
const FORMATS: &[&str] = &[".env", ".yaml", ".yml", ".json", ".ini", ".toml", ".txt", ".bin", ".conf", ".properties"];

/// Names that a repository has in many directories, one for each thing it configures.
const GENERIC: &[&str] = &["secrets", "secret", "env", "creds", "credentials", "default", "values", "config", "main"];

/// What is left of a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stem {
    /// The rest; never empty for a name that is not.
    pub(super) rest: Vec<u8>,
    /// It says too little alone: the directory has to come along.
    pub(super) generic: bool,
}

/// The stem of a base name. `monitoring.env.sops`, `monitoring.enc.yaml` and the plaintext `monitoring.env` beside them have
/// one: they are stations of one secret.
pub(super) fn of(base: &[u8]) -> Stem {
    let (rest, shown) = strip(base);
    if rest.is_empty() {
        return Stem { rest: shown.to_vec(), generic: true };
    }
    let rest = without_inner_markers(rest);
    let generic = rest.starts_with(b".") || GENERIC.iter().any(|name| rest.eq_ignore_ascii_case(name.as_bytes()));
    Stem { rest, generic }
}

/// Does any suffix of this base name say "encrypted"?
pub(super) fn bears_marker(base: &[u8]) -> bool {
    base.split(|&byte| byte == b'.').skip(1).any(is_marker)
}

/// Takes suffixes off the right end, in any order, as often as there are any. When nothing is left, the second value names
/// the file: its innermost format (`.env` for `.env.sops` and `.sops.env` alike), or else its innermost marker.
fn strip(base: &[u8]) -> (&[u8], &[u8]) {
    let (mut rest, mut marker, mut format) = (base, None, None);
    while let Some(dot) = rest.iter().rposition(|&byte| byte == b'.') {
        let suffix = &rest[dot..];
        if is_one_of(suffix, MARKERS) {
            marker = Some(suffix);
        } else if is_one_of(suffix, FORMATS) {
            format = Some(suffix);
        } else {
            break;
        }
        rest = &rest[..dot];
    }
    (rest, format.or(marker).unwrap_or(base))
}

/// `x.sops.prod` is `x.prod`, as its plaintext `x.prod.yaml` is. The first part is a name, never a marker.
fn without_inner_markers(rest: &[u8]) -> Vec<u8> {
    let mut parts = rest.split(|&byte| byte == b'.');
    let mut kept = parts.next().unwrap_or_default().to_vec();
    for part in parts.filter(|part| !is_marker(part)) {
        kept.push(b'.');
        kept.extend_from_slice(part);
    }
    kept
}

fn is_marker(part: &[u8]) -> bool {
    MARKERS.iter().any(|marker| part.eq_ignore_ascii_case(&marker.as_bytes()[1..]))
}

fn is_one_of(suffix: &[u8], list: &[&str]) -> bool {
    list.iter().any(|known| suffix.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_store_a_secret_gives_one_stem() {
        for (name, rest) in [
            ("x.env.sops", "x"),
            ("x.sops.env", "x"),
            ("x.enc.env", "x"),
            ("x.enc.yaml", "x"),
            ("x.sops.yaml", "x"),
            ("x.sops.json", "x"),
            ("x.env.sops.yaml", "x"),
            ("x.env.encrypted", "x"),
            ("x.json.crypt", "x"),
            ("x.age", "x"),
            ("x.toml.age.sops", "x"),
            ("x.ENV.SOPS", "x"),
            ("x.env", "x"),
            ("x", "x"),
            ("prod.yaml", "prod"),
            ("X.yml", "X"),
            ("n8n-bms4.env.sops", "n8n-bms4"),
            ("a.b.ini", "a.b"),
            ("x.sops.prod.yaml", "x.prod"),
            ("secrets-encrypted.yaml", "secrets-encrypted"),
            ("-i", "-i"),
            ("sops.env", "sops"),
            ("a b\n.env", "a b\n"),
        ] {
            assert_eq!(of(name.as_bytes()), Stem { rest: rest.into(), generic: false }, "{name:?}");
        }
    }

    #[test]
    fn a_name_that_says_too_little_is_generic() {
        for (name, rest) in [
            (".env", ".env"),
            (".env.sops", ".env"),
            (".env.enc", ".env"),
            (".enc.env", ".env"),
            (".sops.env", ".env"),
            (".env.sops.yaml", ".env"),
            (".env.prod.enc", ".env.prod"),
            (".env.sops.prod", ".env.prod"),
            (".sops", ".sops"),
            (".enc.sops", ".enc"),
            ("secrets.yaml", "secrets"),
            ("Secrets.enc.yaml", "Secrets"),
            ("secret", "secret"),
            ("env.sops", "env"),
            ("creds.json.enc", "creds"),
            ("credentials.ini", "credentials"),
            ("default.yaml", "default"),
            ("values.sops.yml", "values"),
            ("config.toml", "config"),
            ("main.env", "main"),
        ] {
            assert_eq!(of(name.as_bytes()), Stem { rest: rest.into(), generic: true }, "{name:?}");
        }
    }

    #[test]
    fn a_marker_counts_among_the_suffixes_only() {
        for name in ["x.sops", "x.ENC.env", ".env.age", ".enc.env", "x.env.crypt", "x.encrypted.yaml"] {
            assert!(bears_marker(name.as_bytes()), "{name}");
        }
        for name in ["sops", "sops.env", "x.env", "x.sopsy", ".env", "enc.yaml"] {
            assert!(!bears_marker(name.as_bytes()), "{name}");
        }
    }
}
