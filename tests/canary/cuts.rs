//! Half-written files: sops truncates, then writes once, so a kill or a full disk leaves any beginning of the file.

use locked::canary::{Kind, Verdict, sniff};
use locked::rules::Change;

use super::stage::{STORES, Stage};

/// Cuts spread over the whole file, each judged by all layers. The last few bytes close brackets and lines; without
/// these alone sops reads the file as before.
#[test]
fn no_cut_passes() {
    for (name, kind, plaintext, _) in STORES {
        let stage = Stage::encrypted(name, kind, plaintext);
        let whole = stage.before.clone().expect("before");
        // INI writes its metadata in any order; the wrapped key, when it comes last, ends in an escaped line end.
        let kept = whole.trim_ascii_end();
        let kept = kept.strip_suffix(b"\\n").unwrap_or(kept);
        let end = kept.iter().rposition(|byte| byte.is_ascii_alphanumeric()).expect("content");
        for cut in (0..24).map(|step| end * step / 24).chain(end - 40..=end) {
            stage.write(&whole[..cut]);
            let verdict = stage.look(Change::Set);
            assert!(matches!(verdict, Verdict::Bad(_)), "{name} cut at {cut} of {}: {verdict:?}", whole.len());
        }
    }
}

#[test]
fn a_file_written_behind_itself_does_not_pass() {
    for (name, kind, plaintext, _) in STORES {
        let stage = Stage::encrypted(name, kind, plaintext);
        let whole = stage.text();
        stage.write(whole.clone() + &whole);
        assert!(matches!(stage.look(Change::Edit), Verdict::Bad(_)), "{name}");
    }
}

/// A shorter version over a longer one, without truncation. (Not INI: the rest of a line is one more key there, and
/// sops does not mind.)
#[test]
fn a_file_with_the_tail_of_another_does_not_pass() {
    for (name, kind, plaintext, index) in STORES.into_iter().filter(|(_, kind, ..)| *kind != "ini") {
        let stage = Stage::encrypted(name, kind, plaintext);
        let short = stage.text();
        stage.set(index, "\"a long value that makes the file longer than it was before\"");
        let long = stage.text();
        assert!(matches!(sniff(long.as_bytes()), Kind::Sops(_)));
        stage.write(short.clone() + &long[short.len()..]);
        assert!(matches!(stage.look(Change::Edit), Verdict::Bad(_)), "{name}");
    }
}
