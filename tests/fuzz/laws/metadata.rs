//! The laws of who reads SOPS files without a key. Of any bytes: every reader comes to an end, and those who look at them in
//! passing say what those say who read them whole. Of what sops writes: the four formats of one content are one content,
//! with the same metadata, the same flaw, the same names and the same counts.

use locked::canary::document::{self, Document, Format, Metadata};
use locked::canary::{Fault, Kind, has_encrypted_value, native, plain_names, sniff};
use locked::naming::is_sops;

use super::input::Input;
use super::written::{Tree, Written};

/// Each of them.
pub(crate) const FORMATS: [Format; 4] = [Format::Dotenv, Format::Ini, Format::Json, Format::Yaml];

/// The laws hold for these bytes, as they are and as choices of what to write.
pub(crate) fn hold(bytes: &[u8]) {
    of_any_bytes(bytes);
    of_what_sops_writes(&Written::by(&mut Input::new(bytes)));
    of_trees(&Tree::by(&mut Input::new(bytes), 0));
}

fn of_any_bytes(bytes: &[u8]) {
    let kind = sniff(bytes);
    let _names = plain_names(bytes, &FORMATS);
    for format in FORMATS {
        let Ok(document) = document::read_as(bytes, format) else { continue };
        let keys = &document.keys;
        assert!(keys.lost_in(keys).is_empty(), "nothing is lost against itself");
        assert!(keys.holds_what(keys, false) && keys.holds_what(keys, true), "it holds what it holds");
        assert_eq!(keys.paths().count(), keys.len(), "every key has a path");
        assert_eq!(keys.is_empty(), keys.paths().next().is_none());
    }
    match native(bytes) {
        Ok(document) => {
            assert_eq!(kind, Kind::Sops(document.format), "whole, and it looks like something else");
            assert_eq!(document.metadata.as_ref().and_then(Metadata::flaw), None, "whole, with a flaw");
            assert_eq!(document::read(bytes).as_ref(), Ok(&document), "whole, and read otherwise");
            let as_it_stands = !bytes.contains(&b'\\');
            let any = document.encrypted > 0 && as_it_stands;
            assert!(!any || has_encrypted_value(bytes), "a value is encrypted, and none is");
        }
        Err(Fault::Empty) => assert_eq!(kind, Kind::Empty),
        Err(Fault::Plaintext | Fault::CutOff) => assert_eq!(kind, Kind::Plain),
        Err(Fault::Metadata(_) | Fault::Unreadable(_) | Fault::NothingEncrypted) => {
            assert!(matches!(kind, Kind::Sops(_)), "a broken SOPS file looks like {kind:?}");
        }
        Err(_) => {}
    }
}

fn of_what_sops_writes(written: &Written) {
    let read = FORMATS.map(|format| (format, read(&written.text(format), format)));
    let (_, first) = &read[0];
    for (format, document) in &read {
        assert_eq!(document.metadata, first.metadata, "{format}: {}", written.text(*format));
        assert_eq!(document.encrypted, first.encrypted, "{format}");
        assert_eq!(document.plaintext, first.plaintext, "{format}");
        let metadata = document.metadata.as_ref().expect("metadata");
        assert_eq!(metadata.flaw(), written.flaw(), "{format}: {}", written.text(*format));
        let text = written.text(*format);
        assert_eq!(metadata.flaw().map(Fault::Metadata), written.fault_of(native(text.as_bytes())), "{format}: {text}");
        assert!(is_sops(text.as_bytes()), "who names files takes it for plaintext: {text}");
        for name in written.names() {
            assert!(document.keys.has_name(name), "{format} has no {name:?}: {text}");
        }
    }
    // A JSON text that is cut anywhere is whole nowhere.
    let json = written.text(Format::Json);
    let cut = json.len() * written.cut / 256;
    assert!(native(&json.as_bytes()[..cut]).is_err(), "cut, and whole: {}", &json[..cut]);
}

fn read(text: &str, format: Format) -> Document {
    let document = document::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(document.format, format, "{text}");
    document
}

fn of_trees(tree: &Tree) {
    let (json, yaml) = (format!("{{\"a\": {}}}", tree.json()), format!("a:{}", tree.yaml(1)));
    let [of_json, of_yaml] = [(&json, Format::Json), (&yaml, Format::Yaml)].map(|(text, format)| {
        document::read_as(text.as_bytes(), format).unwrap_or_else(|error| panic!("{error}: {text}")).keys
    });
    assert!(of_json.paths().eq(of_yaml.paths()), "{json}\n{yaml}");
    assert!(of_json.holds_what(&of_yaml, false), "{json}\n{yaml}");
    assert!(of_json.lost_in(&of_yaml).is_empty() && of_yaml.lost_in(&of_json).is_empty());
}
