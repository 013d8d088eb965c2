//! Is this content SOPS? A quick look for the metadata that sops writes in each of its formats; whether it is sound is the
//! canary's question. When in doubt the answer is yes: the question is asked before a file is overwritten.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

/// Does the content bear the marks of a SOPS file: JSON (also what sops calls binary) with a top-level `sops`; dotenv with
/// `sops_version=` or `sops_mac=`; INI with `[sops]`; YAML with a top-level `sops:`.
#[must_use]
pub fn is_sops(content: &[u8]) -> bool {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    if content.trim_ascii_start().starts_with(b"{") {
        return match serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(content) {
            Ok(object) => object.contains_key("sops"),
            // Cut short, or YAML in flow style.
            Err(_) => content.windows(6).any(|window| window == b"\"sops\"") || lines(content).any(marks),
        };
    }
    lines(content).any(marks)
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|byte| matches!(byte, b'\n' | b'\r'))
}

fn marks(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    [&b"sops:"[..], b"\"sops\":", b"'sops':", b"sops :", b"sops_version=", b"sops_mac="]
        .iter()
        .any(|mark| line.starts_with(mark))
        || line == b"[sops]"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plaintext_and_look_alikes_are_not_sops() {
        for content in [
            "",
            "A=1\nsops=no\n",
            "# sops_mac=x\n",
            "a: 1\nb:\n  sops:\n    mac: x\n",
            "{\"a\": {\"sops\": 1}}",
            "[sopsy]\na = 1\n",
        ] {
            assert!(!is_sops(content.as_bytes()), "{content:?}");
        }
    }

    #[test]
    fn a_damaged_file_still_shows_what_it_was() {
        for content in
            ["{\"a\": \"ENC[\", \"sops\": {", "\u{feff}a: ENC[x]\r\nsops:\r\n  mac: x", "[sops]\r\n", "sops_mac=x"]
        {
            assert!(is_sops(content.as_bytes()), "{content:?}");
        }
    }
}
