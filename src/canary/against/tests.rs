#![forbid(unsafe_code)]

use super::*;
use crate::rules::Asked;

const VALUE: &str = "ENC[AES256_GCM,data:x,type:str]";
const MINE: &str = "sops_age__list_0__map_recipient=age1mine\n";
const PGP: &str = "sops_pgp__list_0__map_fp=F00\n";
const REST: &str =
    "sops_lastmodified=2026\nsops_mac=ENC[]\nsops_unencrypted_suffix=_unencrypted\nsops_version=3.11.0\n";

fn dotenv(keys: &str, recipients: &str, rest: &str) -> String {
    let values: String = keys.split_whitespace().map(|key| format!("{key}={VALUE}\n")).collect();
    values + recipients + rest
}

fn judged(before: &str, after: &str, path: &str, expect: &Expect) -> Option<Fault> {
    let after = document::read(after.as_bytes()).expect("readable");
    check(&Before::of(Some(before.as_bytes())), &after, Path::new(path), expect).err()
}

fn expect(change: Option<Change>, asked: Asked) -> Expect {
    Expect { change, via: Via::InPlace, asked, rule_recipients: None }
}

fn plain(change: Change) -> Expect {
    expect(Some(change), Asked::default())
}

#[test]
fn a_version_that_is_cut_is_seen_unless_it_was_so_before() {
    let whole = dotenv("A", MINE, REST);
    let cut = whole.replace("3.11.0", "3.11");
    let flaw = Some(Fault::Metadata(Flaw::VersionCut));
    assert_eq!(judged(&whole, &cut, "x", &plain(Change::Set)), flaw);
    assert_eq!(judged(&whole, &whole.replace("3.11.0", "3.11."), "x", &plain(Change::Set)), flaw);
    assert_eq!(
        judged(&cut, &cut.replace("A=", "B="), "x", &plain(Change::Edit)).filter(|fault| Some(fault) == flaw.as_ref()),
        None
    );
    assert_eq!(judged(&whole, &whole.replace("3.11.0", "4.0.0-rc.1"), "x", &plain(Change::Set)), None);
}

#[test]
fn the_rule_that_chooses_what_is_encrypted_stays() {
    let ready = dotenv("A", MINE, REST);
    let none = ready.replace("sops_unencrypted_suffix=_unencrypted\n", "");
    let other = ready.replace("_unencrypted\n", "_unen\n");
    assert!(matches!(judged(&ready, &other, "x", &plain(Change::Set)), Some(Fault::RuleChanged(_))));
    assert!(matches!(judged(&ready, &none, "x", &plain(Change::Edit)), Some(Fault::RuleChanged(_))));
    assert_eq!(judged(&none, &ready, "x", &plain(Change::Set)), None, "sops adds the ready one");
}

#[test]
fn other_kinds_of_keys_change_only_when_rotate_was_told_to() {
    let (two, one) = (dotenv("A", &format!("{MINE}{PGP}"), REST), dotenv("A", MINE, REST));
    for change in [Change::Set, Change::Edit, Change::Rotate] {
        assert!(matches!(judged(&two, &one, "x", &plain(change)), Some(Fault::RecipientsDropped(_))), "{change:?}");
    }
    let told = Asked { changes_other_keys: true, ..Asked::default() };
    assert_eq!(judged(&two, &one, "x", &expect(Some(Change::Rotate), told)), None);
    assert_eq!(judged(&two, &one, "x", &plain(Change::UpdateKeys)), None, "the rule is not known");
}

#[test]
fn a_format_that_was_asked_for_is_no_flip() {
    let before = dotenv("A", MINE, REST);
    let meta = "\"age\": [{\"recipient\": \"age1mine\"}], \"lastmodified\": \"2026\", \"mac\": \"x\", \
                \"unencrypted_suffix\": \"_unencrypted\", \"version\": \"3.11.0\"";
    let json = format!("{{\"A\": \"{VALUE}\", \"sops\": {{{meta}}}}}");
    assert!(matches!(judged(&before, &json, "x.env", &plain(Change::Set)), Some(Fault::FormatFlip { .. })));
    let asked = Asked { output_type: Some("json".into()), ..Asked::default() };
    assert_eq!(judged(&before, &json, "x.env", &expect(Some(Change::Set), asked)), None);
    let typed = Asked { input_type: Some("dotenv".into()), ..Asked::default() };
    let encrypt = expect(Some(Change::Encrypt), typed);
    assert!(matches!(judged("A=1\n", &json, "x.env.sops", &encrypt), Some(Fault::FormatFlip { .. })));
    assert_eq!(judged("A=1\n", &json, "x.json", &encrypt), None, "the name asks for JSON");
}

#[test]
fn keys_of_a_plaintext_are_counted_and_never_named() {
    let after = dotenv("A", MINE, REST);
    let fault = judged("A=1\nTOKEN_hunter2=2\n", &after, "x.env", &plain(Change::Encrypt)).expect("a key is gone");
    assert!(matches!(&fault, Fault::KeysLost(names) if names.count() == 1));
    assert!(!format!("{fault} {fault:?}").contains("hunter2"));
}

#[test]
fn an_unknown_change_may_do_what_an_edit_may() {
    let before = dotenv("A B", MINE, REST);
    let unknown = expect(None, Asked::default());
    assert_eq!(judged(&before, &dotenv("B C", MINE, REST), "x", &unknown), None);
    assert!(matches!(judged(&before, &dotenv("C", MINE, REST), "x", &unknown), Some(Fault::AllKeysLost(_))));
}
