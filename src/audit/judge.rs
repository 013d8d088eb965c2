//! Whether a version of a file may be where it is, by its content and by what was there before. Pure.
#![forbid(unsafe_code)]

use super::demand::{Rules, may_be_sops};
use super::finding::Wrong;
use super::seen::Seen;
use crate::canary::{self, Fault};

/// What a version comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Nothing that this is about.
    Other,
    /// As far as the content tells it is as it must be: what remains is who wrote it.
    Sound,
    /// Nobody here can read it, so that only its receipt can say that sops could.
    Odd(Fault),
    /// It is not.
    Wrong(Wrong),
}

/// Judges the version at `path`. `before` is what its parents have there, and `rules` are those of its own tree.
pub(super) fn judge(path: &[u8], now: &Seen, before: &[&Seen], rules: &Rules) -> Judgement {
    let demanded = rules.demand(path);
    let was = before.iter().any(|seen| seen.is_sops());
    let by_content = now.is_sops() && may_be_sops(path);
    if !(demanded || was || by_content) {
        return Judgement::Other;
    }
    let bad = |fault| Judgement::Wrong(Wrong::Bad(fault));
    match now {
        Seen::Passed | Seen::Ciphertext => Judgement::Other,
        Seen::Absent => Judgement::Wrong(Wrong::Unseen),
        Seen::Empty => bad(Fault::Empty),
        Seen::Plain => bad(Fault::Plaintext),
        Seen::CutOff => bad(Fault::CutOff),
        // Not looked into, but a receipt says what it was when it was.
        Seen::TooLarge | Seen::Pointer(_) => Judgement::Sound,
        // What was of this form before is of a form that sops reads.
        Seen::Odd(..) if before.iter().any(|seen| matches!(seen, Seen::Odd(..))) => Judgement::Sound,
        Seen::Odd(_, fault) => Judgement::Odd(fault.clone()),
        Seen::Broken(Fault::NothingEncrypted) if before.iter().any(|seen| bares_all(seen)) => Judgement::Sound,
        Seen::Broken(fault) => bad(fault.clone()),
        Seen::Whole(document, _) => {
            let mut documents = before.iter().filter_map(|seen| seen.document());
            if documents.any(|before| canary::is_merged(before, document)) {
                return bad(Fault::Merged);
            }
            rules.recipients(path, document).map_or_else(bad, |()| Judgement::Sound)
        }
    }
}

/// It was so before, and no command of today made it.
fn bares_all(seen: &Seen) -> bool {
    matches!(seen, Seen::Broken(Fault::NothingEncrypted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sops(values: &str, mac: &str) -> Seen {
        let meta = "sops_age__list_0__map_recipient=age1a\nsops_lastmodified=2026\nsops_version=3.11.0\n";
        Seen::of(format!("{values}{meta}sops_mac={mac}\n").as_bytes())
    }

    #[test]
    fn content_before_and_now_and_the_name_decide() {
        let value = "A=ENC[AES256_GCM,data:x,type:str]\n";
        let whole = sops(value, "ENC[1]");
        let (plain, cut) = (Seen::of(b"A=1\n"), Seen::of(value.as_bytes()));
        let other = sops(&format!("{value}B=ENC[AES256_GCM,data:y,type:str]\n"), "ENC[1]");
        let pointer = Seen::Pointer(String::new());
        let odd =
            Seen::of(b": [ broken\nA: ENC[AES256_GCM,data:x,type:str]\nsops:\n    mac: ENC[x]\n    version: 3.11.0\n");
        assert!(matches!(odd, Seen::Odd(..)), "{odd:?}");
        let table: [(&str, &Seen, &[&Seen], &str); 17] = [
            ("x.yaml", &odd, &[&whole], "Odd("),
            ("x.yaml", &odd, &[&whole, &odd], "Sound"),
            ("x.env", &plain, &[], "Other"),
            ("x.env", &plain, &[&plain], "Other"),
            ("x.env", &plain, &[&whole], "Wrong(Bad(Plaintext"),
            ("x.env.sops", &plain, &[], "Wrong(Bad(Plaintext"),
            ("x.env", &cut, &[], "Other"),
            ("x.env", &cut, &[&whole], "Wrong(Bad(CutOff"),
            ("x.env", &Seen::Empty, &[&whole], "Wrong(Bad(Empty"),
            ("x.env", &whole, &[], "Sound"),
            ("x.rs", &whole, &[], "Other"),
            ("x.rs", &whole, &[&whole], "Sound"),
            ("x.env", &other, &[&whole], "Wrong(Bad(Merged"),
            ("x.env", &other, &[&plain, &whole], "Wrong(Bad(Merged"),
            ("x.env.sops", &pointer, &[], "Sound"),
            ("x.env.sops", &Seen::Absent, &[], "Wrong(Unseen"),
            ("x.env", &Seen::Absent, &[], "Other"),
        ];
        for (path, now, before, expected) in table {
            let judged = format!("{:?}", judge(path.as_bytes(), now, before, &Rules::default()));
            assert!(judged.starts_with(expected), "{path} {now:?} {before:?}: {judged}");
        }
    }
}
