//! What every place of a line wants.

use std::ffi::OsString;

use super::line::{More, Names, Wanted, wanted};

/// The answer to a line; the word behind the last space is being typed.
fn asked(line: &str) -> Wanted {
    let words: Vec<OsString> = line.split(' ').skip(1).map(OsString::from).collect();
    wanted(&words, &crate::cli::definition(), &|which| match which {
        Names::Held => vec!["sops:held".to_owned()],
        Names::Known => vec!["sops:held".to_owned(), "zone:KNOWN".to_owned()],
    })
}

fn offered(line: &str) -> (Vec<String>, More) {
    match asked(line) {
        Wanted::Offers(offers, more) => (offers.into_iter().map(|offer| offer.value).collect(), more),
        Wanted::Command(at) => panic!("{line}: a command at {at}"),
    }
}

#[test]
fn behind_the_program_s_name_the_word_is_the_program_s() {
    for (line, at) in [
        ("locked sops ", 0),
        ("locked sops set f", 0),
        ("locked -n sops ", 1),
        ("locked -r a:b sops ", 2),
        ("locked --ttl=5s -vr a:b sops --", 3),
        ("locked -- status ", 1),
        ("locked -n -- status --j", 2),
        ("locked run sops ", 1),
        ("locked -n run -- status ", 3),
        ("locked explain --json -- sops ", 3),
        ("locked explain sops -", 1),
    ] {
        assert_eq!(asked(line), Wanted::Command(at), "{line}");
    }
}

#[test]
fn every_place_has_its_offers() {
    let cases: [(&str, &[&str], More); 19] = [
        ("locked rel", &["release"], More::Programs),
        ("locked -n hist", &["history"], More::Programs),
        ("locked ./d", &[], More::Programs),
        ("locked -- rel", &[], More::Programs),
        ("locked run sop", &[], More::Programs),
        ("locked --renew", &["--renew-deadline"], More::Nothing),
        ("locked -r ", &["sops:held", "zone:KNOWN"], More::Nothing),
        ("locked --resource=z", &["--resource=zone:KNOWN"], More::Nothing),
        ("locked --report ", &[], More::Files),
        ("locked --ttl ", &[], More::Nothing),
        ("locked release ", &["sops:held"], More::Nothing),
        ("locked acquire sops:held z", &["zone:KNOWN"], More::Nothing),
        ("locked release --as f", &["failed"], More::Nothing),
        ("locked release --as failed sops:", &["sops:held"], More::Nothing),
        ("locked store mo", &["move"], More::Nothing),
        ("locked status --js", &["--json"], More::Nothing),
        ("locked config show gh.fol", &["gh.follow"], More::Nothing),
        ("locked completions fi", &["fish"], More::Nothing),
        ("locked restore s", &[], More::Files),
    ];
    for (line, offers, more) in cases {
        assert_eq!(offered(line), (offers.iter().map(ToString::to_string).collect(), more), "{line}");
    }
    assert!(offered("locked help re").0.contains(&"restore".to_owned()));
    assert!(offered("locked ").0.contains(&"status".to_owned()));
    assert!(offered("locked -").0.contains(&"-r".to_owned()));
}
