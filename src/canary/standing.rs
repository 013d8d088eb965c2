//! What can be told of a file that lies somewhere, without the command that wrote it: in a commit, or on the way into one.
#![forbid(unsafe_code)]

use super::document::{self, CIPHERTEXT, Document};
use super::{Fault, Names, recipients};

/// Whether a file can be decrypted by those whom its creation rule names, and by no others: `age` are the rule's age
/// recipients; with `others` it names keys of other kinds as well.
///
/// # Errors
/// Recipients are missing, or were added.
pub fn fits_rule(document: &Document, age: &[String], others: bool) -> Result<(), Fault> {
    recipients::of_rule(document, age, others)
}

/// Whether `now` bears the message authentication code of `before` over other values, or with another time (which the code
/// is bound to): what a merge of text leaves behind, or a change by hand. sops will not decrypt it.
#[must_use]
pub fn is_merged(before: &Document, now: &Document) -> bool {
    let (Some(was), Some(is)) = (&before.metadata, &now.metadata) else { return false };
    let other_values = || !before.keys.holds_what(&now.keys, is.mac_only_encrypted);
    was.mac && was.seal == is.seal && (was.made != is.made || other_values())
}

/// The numbers ([`Metadata::seal`](super::document::Metadata)) of the message authentication codes that a content may bear, as a scan
/// finds them: for who looks for one among many.
pub fn seals(content: &[u8]) -> impl Iterator<Item = u64> + '_ {
    const MAC: &[u8] = b"mac";
    let after = |at: usize| &content[at + MAC.len()..];
    let places = content.windows(MAC.len()).enumerate().filter(|(_, window)| *window == MAC).map(|(at, _)| at);
    places.filter_map(move |at| {
        let rest = after(at);
        let begin = rest.iter().take(8).position(|byte| !b" \t\"':=".contains(byte))?;
        let code = rest[begin..].strip_prefix(CIPHERTEXT.as_bytes()).map(|_| &rest[begin..])?;
        let end = code.iter().position(|byte| *byte == b']')?;
        std::str::from_utf8(&code[..=end]).ok().map(document::seal_of)
    })
}

/// What a later version lacks of what `newer` had made of `base`: names, values, recipients; none where it has all of it.
/// `is_later`: it was written after `newer`, so that what it has otherwise than both was put there after that. What cannot be
/// told is lacked.
#[must_use]
pub fn lacking(now: &Document, base: &Document, newer: &Document, is_later: bool) -> Option<Names> {
    let [now_for, base_for, newer_for] = [now, base, newer].map(recipients::named);
    let is_for_as_before = newer_for != base_for && now_for == base_for;
    // First: where the data key is another one with them, every value is another one as well, and that says less.
    let added = newer_for.difference(&base_for).map(|recipient| format!("recipient {recipient}"));
    let removed = base_for.difference(&newer_for).map(|recipient| format!("the removal of recipient {recipient}"));
    let mut lacking: Vec<String> = if is_for_as_before { added.chain(removed).collect() } else { Vec::new() };
    lacking.extend(now.keys.lacking(&base.keys, &newer.keys, is_later));
    let count = lacking.len();
    (count > 0).then(|| Names::new(lacking, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::native;

    fn file(values: &str, made: &str, mac: &str) -> Document {
        let meta = format!(
            "sops_age__list_0__map_recipient=age1x\nsops_lastmodified={made}\nsops_mac={mac}\nsops_version=3.11.0\n"
        );
        native(format!("{values}{meta}").as_bytes()).expect("whole")
    }

    #[test]
    fn a_recipient_that_is_lost_is_named_before_all_values() {
        let with = |text: &str, more: &str| {
            let meta = "sops_lastmodified=1\nsops_mac=M\nsops_version=3.11.0\n";
            let own = "sops_age__list_0__map_recipient=age1x\n";
            native(format!("{text}{own}{more}{meta}").as_bytes()).expect("whole")
        };
        let value = |data: &str| format!("K0=ENC[AES256_GCM,data:{data},type:str]\n");
        let other = "sops_age__list_1__map_recipient=age1y\n";
        let (base, newer) = (with(&value("a"), ""), with(&value("b"), other));
        let lacks = |now: &Document, base: &Document, newer: &Document| {
            lacking(now, base, newer, false).expect("something is lost").to_string()
        };
        assert_eq!(lacks(&base, &base, &newer), "recipient age1y, K0");
        assert_eq!(lacks(&newer, &newer, &base), "the removal of recipient age1y, K0");
    }

    #[test]
    fn a_code_over_other_values_or_with_another_time_is_a_merge() {
        let value = |number: u32| format!("K{number}=ENC[AES256_GCM,data:{number},type:str]\n");
        let was = file(&value(1), "1", "M1");
        for (now, merged) in [
            (file(&value(1), "1", "M1"), false),
            (file(&(value(1) + "E=\n"), "1", "M1"), false),
            (file(&value(2), "2", "M2"), false),
            (file(&value(2), "1", "M2"), false),
            (file(&value(2), "1", "M1"), true),
            (file(&(value(1) + &value(2)), "1", "M1"), true),
            (file(&value(1), "2", "M1"), true),
        ] {
            assert_eq!(is_merged(&was, &now), merged, "{now:?}");
        }
    }
}
