//! Notes that are left, found, carried on and swept away.

use super::*;

#[test]
fn what_was_left_is_found_by_file_and_by_plaintext_and_goes_on_to_what_was_made_of_it() {
    let place = tempfile::tempdir().expect("place");
    let env = |name: &str| (name == "LOCKED_STATE_DIR").then(|| place.path().join("state").into_os_string());
    let state = StateDir::open(&env).expect("state");
    let session = |number: u128| SessionId(uuid::Uuid::from_u128(number));
    let digest = |text: &str| Digest::of(text.as_bytes());
    let [file, other, plain] = ["/r/a.sops", "/r/b.sops", "/tmp/a"].map(Path::new);
    leave(&state, session(1), file, Some(plain), &digest("1"), 1_000, How::Read);
    leave(&state, session(1), file, Some(plain), &digest("2"), 2_000, How::Read);
    leave(&state, session(2), file, None, &digest("1"), 3_000, How::Read);
    leave(&state, session(2), other, None, &digest("3"), 3_000, How::Read);
    fs::write(state.path().join(PLACE).join("nonsense"), "x").expect("written");
    let seen = |notes: Vec<Note>| {
        let mut seen: Vec<_> = notes.into_iter().map(|note| (note.session, note.version)).collect();
        seen.sort();
        seen
    };
    let now = Notes::of(&state, 10_000);
    assert_eq!(seen(now.of_file(file)), [(session(1), digest("2")), (session(2), digest("1"))]);
    assert_eq!(seen(now.of_plaintext(plain)), [(session(1), digest("2"))], "the newest, once");
    assert_eq!(seen(now.of_plaintext(file)), []);
    let note = &now.of_plaintext(plain)[0];
    assert!(note.is_of(file) && !note.is_of(other));
    let apart = Path::new("/tmp/b");
    now.carry(note, apart);
    assert_eq!(seen(now.of_plaintext(plain)), [(session(1), digest("2"))], "it stays where it is, too");
    assert_eq!(seen(now.of_plaintext(apart)), [(session(1), digest("2"))]);
    // What was encrypted aside has been put over the file: so is what it came from.
    now.made(session(1), file, Some(apart), &digest("4"));
    assert_eq!(seen(now.of_plaintext(plain)), [(session(1), digest("4"))]);
    assert_eq!(seen(now.of_plaintext(apart)), [(session(1), digest("4"))]);
    assert!(now.of_plaintext(plain).iter().all(|note| note.how == How::Made));
    // A reading again is one; a program that was run with it takes nothing from what was read.
    leave(&state, session(1), file, Some(plain), &digest("5"), 11_000, How::Read);
    leave(&state, session(2), file, None, &digest("6"), 11_000, How::Run);
    let mut of_two = now.of_file(file);
    of_two.retain(|note| note.session == session(2));
    assert_eq!(seen(of_two), {
        let mut both = [(session(2), digest("1")), (session(2), digest("6"))];
        both.sort();
        both
    });
    // Nor does a look; with the encrypting both are done.
    leave(&state, session(2), file, None, &digest("7"), 12_000, How::Read);
    let of_two = |notes: &Notes| {
        let mut of_two = seen(notes.of_file(file));
        of_two.retain(|(whose, _)| *whose == session(2));
        of_two
    };
    assert_eq!(of_two(&now).len(), 3);
    now.made(session(2), file, None, &digest("8"));
    assert_eq!(of_two(&now), [(session(2), digest("8"))]);
    // However old it is, it is a base.
    let later = Notes::of(&state, 11_000 + 20 * 24 * 60 * 60 * 1000);
    assert_eq!(seen(later.of_plaintext(plain)), [(session(1), digest("5"))]);
    now.sweep();
    assert_eq!(seen(now.of_file(other)).len(), 1, "fresh files stay");
}
