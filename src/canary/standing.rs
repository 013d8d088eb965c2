//! What can be told of a file that lies somewhere, without the command that wrote it: in a commit, or on the way into one.
#![forbid(unsafe_code)]

use super::document::Document;
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

/// What a later version lacks of what `newer` had made of `base`: names, values, recipients; none where it has all of it.
/// `is_later`: it was written after `newer`, so that what it has otherwise than both was put there after that. What cannot be
/// told is lacked.
#[must_use]
pub fn lacking(now: &Document, base: &Document, newer: &Document, is_later: bool) -> Option<Names> {
    let [now_for, base_for, newer_for] = [now, base, newer].map(recipients::named);
    let is_for_as_before = newer_for != base_for && now_for == base_for;
    let mut lacking = now.keys.lacking(&base.keys, &newer.keys, is_later);
    lacking.extend(is_for_as_before.then(|| "its recipients".to_owned()));
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
