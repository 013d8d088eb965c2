//! The flows of the playbook, decrypt–modify–write–encrypt, by two sessions on one file in every order of their steps:
//! nobody who was told "ok" loses a change, and when they meet somebody is refused.

use std::path::{Path, PathBuf};

use super::stage::{At, Stage, ends, on_either_store, says, text};

on_either_store! {
    in_place,
    with_plaintext_of_one_s_own,
}

/// How somebody goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// The plaintext is written over the file, which is then encrypted in place.
    InPlace,
    /// Everybody has plaintext of his own, and encrypts it to the file by `--output`.
    Apart,
    /// The same with the shell: `sops encrypt plain > file`.
    Redirected,
    /// Both use one place for the plaintext.
    Shared,
    /// Plaintext of his own is encrypted to a file of his own, which is then moved over the file.
    Moved,
    /// A copy of the file is changed, and copied over it.
    Copied,
    /// `decrypt -i`, and `encrypt -i`.
    OpenEdit,
    /// `sops set`.
    Set,
}

/// Reads it, and remembers what was read.
const READ: &str = r#""$1" sops decrypt "$2" > "$plain" && cp "$plain" "$read""#;

impl Flow {
    /// What is done, one after the other. What somebody does with files of his own alone is no step of its own.
    fn steps(self) -> &'static [&'static str] {
        match self {
            Self::InPlace => &[
                r#"it=$("$1" sops decrypt "$2") && echo "$it" > "$read""#,
                r#"{ cat "$read"; echo "$key: 1"; } > "$2""#,
                r#""$1" -n sops encrypt -i "$2""#,
            ],
            Self::Apart => &[
                READ,
                r#"echo "$key: 1" >> "$plain"; "$1" -n sops encrypt --filename-override x.yaml --output "$2" "$plain""#,
            ],
            Self::Redirected => &[
                READ,
                r#"echo "$key: 1" >> "$plain"; "$1" -n sops encrypt --filename-override x.yaml "$plain" > "$2""#,
            ],
            Self::Shared => &[
                READ,
                r#"{ cat "$read"; echo "$key: 1"; } > "$plain""#,
                r#""$1" -n sops encrypt --filename-override x.yaml --output "$2" "$plain""#,
            ],
            Self::Moved => &[
                READ,
                r#"echo "$key: 1" >> "$plain"; "$1" -n sops encrypt --filename-override x.yaml --output "$own" "$plain""#,
                r#""$1" -n mv "$own" "$2""#,
            ],
            Self::Copied => {
                &[r#"cp "$2" "$own" && "$1" -n sops set "$own" "[\"$key\"]" 1"#, r#""$1" -n cp "$own" "$2""#]
            }
            Self::OpenEdit => {
                &[r#""$1" -n sops decrypt -i "$2""#, r#"echo "$key: 1" >> "$2""#, r#""$1" -n sops encrypt -i "$2""#]
            }
            Self::Set => &[r#""$1" -n sops set "$2" "[\"$key\"]" 1"#],
        }
    }
}

/// What may come between the first and the last step of one who encrypts what was read: another one's change, always, and a
/// look of his own, or none. Then the last step is somebody else's, who has read nothing: an agent that was resumed.
const BETWEEN: [(&str, bool); 2] = [("bl", false), ("b", true)];

/// Every order of these.
fn permutations(of: &str) -> Vec<String> {
    if of.is_empty() {
        return vec![String::new()];
    }
    let begun = |at: usize| {
        let (one, rest) = (&of[at..=at], format!("{}{}", &of[..at], &of[at + 1..]));
        permutations(&rest).into_iter().map(move |rest| format!("{one}{rest}"))
    };
    let mut all: Vec<String> = (0..of.len()).flat_map(begun).collect();
    all.sort();
    all.dedup();
    all
}

/// Every order of so many steps of `a` and of `b`.
fn orders(a: usize, b: usize) -> Vec<String> {
    if a == 0 || b == 0 {
        return vec!["a".repeat(a) + &"b".repeat(b)];
    }
    let begun = |who: &str, rest: Vec<String>| rest.into_iter().map(|rest| format!("{who}{rest}")).collect::<Vec<_>>();
    [begun("a", orders(a - 1, b)), begun("b", orders(a, b - 1))].concat()
}

/// One who goes through the steps.
struct Actor<'a> {
    stage: &'a Stage,
    flow: Flow,
    session: u32,
    key: char,
    file: &'a Path,
    done: usize,
    /// How it went; none before the last step.
    ended: Option<i32>,
}

impl<'a> Actor<'a> {
    fn new(stage: &'a Stage, file: &'a Path, flow: Flow, session: u32, key: char) -> Self {
        Self { stage, flow, session, key, file, done: 0, ended: None }
    }

    fn beside(&self, what: &str) -> PathBuf {
        self.file.with_file_name(format!("{what}-{}", self.file.file_name().and_then(|it| it.to_str()).expect("UTF-8")))
    }

    fn step(&mut self) {
        let (place, steps) = (self.file.parent().expect("directory"), self.flow.steps());
        let line = steps[self.done];
        self.done += 1;
        if self.ended.is_some() {
            return;
        }
        let locked = self.stage.locked(self.session, place);
        let mut command = self.stage.world.command("sh");
        for (name, value) in locked.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        let plain = if self.flow == Flow::Shared { "plain".to_owned() } else { format!("plain-{}", self.key) };
        command
            .env("key", self.key.to_string())
            .env("plain", self.beside(&plain))
            .env("read", self.beside(&format!("read-{}", self.key)))
            .env("own", self.beside(&format!("own-{}", self.key)));
        command.current_dir(place).args(["-c", line, "sh"]).arg(locked.get_program()).arg(self.file);
        let output = command.output().expect("it runs");
        let status = output.status.code().expect("a status");
        // Another one's plaintext may lie there, of which sops makes nothing.
        let said = text(&output.stderr);
        let ours = said.contains("REFUSED: ") || said.contains("BLOCKED: ");
        assert!(status == 0 || ours == [74, 75].contains(&status), "{:?} {line}: {status}: {said}", self.flow);
        if status != 0 || self.done == steps.len() {
            self.ended = Some(status);
        }
    }
}

/// `one` and `other` meet in every order of their steps.
fn every_order(at: At, one: Flow, other: Flow) {
    let stage = Stage::new(at);
    let place = stage.clone("a", &[]);
    let (first, second) = (one.steps().len(), other.steps().len());
    // With one flow the other half is the same with other names.
    let orders = orders(first, second).into_iter().filter(|order| one != other || order.starts_with('a'));
    let files: Vec<(String, PathBuf)> = orders
        .map(|order| {
            let file = place.join(format!("{order}.yaml"));
            std::fs::copy(place.join(super::stage::FILE), &file).expect("copied");
            (order, file)
        })
        .collect();
    // There is a chain: that is how files live.
    says(stage.locked(9, &place).arg("adopt").args(files.iter().map(|(_, file)| file)), 0);
    for (order, file) in &files {
        let actor = |flow: Flow, session: u32, key: char| Actor::new(&stage, file, flow, session, key);
        let (mut a, mut b) = (actor(one, 1, 'a'), actor(other, 2, 'b'));
        for who in order.chars() {
            if who == 'a' { a.step() } else { b.step() }
        }
        let fine: Vec<_> = [&a, &b].into_iter().filter(|it| it.ended == Some(0)).map(|it| it.key).collect();
        let [whole, halves] = ["a".repeat(first), "b".repeat(second)];
        let serial = *order == format!("{whole}{halves}") || *order == format!("{halves}{whole}");
        let told = format!("{one:?} and {other:?} {order}: ok for {fine:?}");
        assert_eq!(fine.len() == 2, serial, "{told}");
        let plain = newest(&stage, &place, file);
        for key in fine.iter().map(|key| format!("{key}: 1")).chain(["first: one".to_owned()]) {
            assert!(plain.contains(&key), "{told}: {plain}");
        }
    }
}

/// One goes his way and another sets a key between: nobody who has read before that gets it past, by a look at what is
/// newer or by another hand.
fn with_a_look_or_another_hand(flow: Flow) {
    let stage = Stage::new(At::Here);
    let place = stage.clone("a", &[]);
    let mut orders = Vec::new();
    for (between, by_another) in BETWEEN {
        let inner = format!("{}{between}", "a".repeat(flow.steps().len() - 2));
        let last = if by_another { 'c' } else { 'a' };
        orders.extend(permutations(&inner).into_iter().map(|inner| format!("a{inner}{last}")));
    }
    let files: Vec<PathBuf> = orders.iter().map(|order| place.join(format!("{order}.yaml"))).collect();
    for file in &files {
        std::fs::copy(place.join(super::stage::FILE), file).expect("copied");
    }
    says(stage.locked(9, &place).arg("adopt").args(&files), 0);
    for (order, file) in orders.iter().zip(&files) {
        let actor = |flow: Flow, session: u32, key: char| Actor::new(&stage, file, flow, session, key);
        let (mut a, mut b) = (actor(flow, 1, 'a'), actor(Flow::Set, 2, 'b'));
        for who in order.chars() {
            match who {
                'b' => b.step(),
                // A file in which plaintext lies shows nothing, and nobody is stopped.
                'l' => drop(stage.locked(1, &place).args(["sops", "decrypt"]).arg(file).output().expect("it runs")),
                'c' => {
                    a.session = 3;
                    a.step();
                }
                _ => a.step(),
            }
        }
        let fine = |actor: &Actor<'_>| actor.ended == Some(0);
        // Where plaintext lay in the file already, nothing could be set in it.
        assert!(!(fine(&a) && fine(&b)), "{flow:?} {order}: ok for both");
        let plain = newest(&stage, &place, file);
        for actor in [&a, &b].into_iter().filter(|it| fine(it)) {
            assert!(plain.contains(&format!("{}: 1", actor.key)), "{flow:?} {order}: {plain}");
        }
    }
}

/// What the file holds; where somebody's plaintext or an emptied file lies over it, what `restore` brings back.
fn newest(stage: &Stage, place: &Path, file: &Path) -> String {
    let is_sops = std::fs::read_to_string(file).is_ok_and(|content| content.contains("ENC["));
    if !is_sops {
        ends(stage.locked(9, place).args(["restore", "--from", "proven"]).arg(file), 0);
    }
    stage.world.decrypted(file, "yaml")
}

fn in_place(at: At) {
    every_order(at, Flow::InPlace, Flow::InPlace);
}

fn with_plaintext_of_one_s_own(at: At) {
    every_order(at, Flow::Apart, Flow::Apart);
}

#[test]
fn with_a_redirection() {
    every_order(At::Here, Flow::Redirected, Flow::Redirected);
}

#[test]
fn with_one_place_for_the_plaintext() {
    every_order(At::Here, Flow::Shared, Flow::Shared);
}

#[test]
fn with_a_file_that_is_moved_over_it() {
    every_order(At::Here, Flow::Moved, Flow::Moved);
}

#[test]
fn with_a_copy_that_is_copied_back() {
    every_order(At::Here, Flow::Copied, Flow::Copied);
}

#[test]
fn as_open_edits() {
    every_order(At::Here, Flow::OpenEdit, Flow::OpenEdit);
}

#[test]
fn with_a_look_between_or_by_another_hand() {
    for flow in [Flow::InPlace, Flow::Apart, Flow::Redirected, Flow::Moved] {
        with_a_look_or_another_hand(flow);
    }
}

#[test]
fn each_in_his_own_way() {
    for (one, other) in [
        (Flow::InPlace, Flow::Set),
        (Flow::InPlace, Flow::Apart),
        (Flow::OpenEdit, Flow::Set),
        (Flow::OpenEdit, Flow::Apart),
        (Flow::Moved, Flow::Set),
        (Flow::Moved, Flow::Copied),
        (Flow::Copied, Flow::Set),
    ] {
        every_order(At::Here, one, other);
    }
}
