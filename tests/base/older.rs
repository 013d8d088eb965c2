//! Whose plaintext is of an older version than its session has read last: what a look in between, another session or an
//! open edit that moved must not hide. And the ordinary days on which nobody is stopped.

use std::path::Path;

use super::stage::{At, FILE, Stage, ends, next, says, text};
use crate::world::ends::until;

/// What somebody does: session and line. `$F` is the file, `$P` and `$Q` are places for plaintext.
type Deed = (u32, &'static str);

const READS: Deed = (1, "locked sops decrypt $F > $P");
const SETS: Deed = (2, "locked sops set $F '[\"kb\"]' 1");
/// The value alone is another one then.
const SETS_A_VALUE: Deed = (2, "locked sops set $F '[\"first\"]' '\"two\"'");
const LOOKS: Deed = (1, "locked sops decrypt $F | grep -q first");
const IN_PLACE: &str = "cat $P > $F; echo 'own: 1' >> $F; locked -n sops encrypt -i $F";
const APART: &str = "echo 'own: 1' >> $P; locked -n sops encrypt --filename-override x.yaml --output $F $P";
const AGAIN: &str = "echo 'again: 1' >> $P; locked -n sops encrypt --filename-override x.yaml --output $F $P";
const OPENS: Deed = (1, "locked -n sops decrypt -i $F");
/// The edit is over, and its plaintext lies elsewhere.
const MOVES_ITS_EDIT: Deed = (1, "locked -n sops decrypt -i $F; cat $F > $P; git checkout -q -- $F");

/// A file of its own for every story, in a checkout that has it committed.
fn told(stories: &[(&str, &[Deed])], ends_with: i32, sound: impl Fn(&Stage, &Path, &str, &str)) {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let names: Vec<String> = (0..stories.len()).map(|at| format!("secrets/f{at}.yaml")).collect();
    for name in &names {
        std::fs::copy(a.join(FILE), a.join(name)).expect("copied");
    }
    stage.commit(&a, "files");
    says(stage.locked(9, &a).arg("adopt").args(&names), 0);
    for (story_at, ((story, deeds), name)) in stories.iter().zip(&names).enumerate() {
        for (at, (session, line)) in deeds.iter().enumerate() {
            let line = format!("F={name}; P=../plain-${{F##*/}}; Q=../other-${{F##*/}}; {line}");
            let status = if at + 1 == deeds.len() { ends_with } else { 0 };
            let output = stage.line(*session, &a, &line).output().expect("it runs");
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{story}, {line}: {said}");
            if at + 1 == deeds.len() {
                sound(&stage, &a.join(name), story, &said);
            } else if line.contains("git checkout") {
                let resource = format!("sops:f{story_at}");
                let is_free = || stage.world.status().iter().all(|lease| lease["resource"] != *resource);
                until("the edit is over", || is_free().then_some(()));
            }
        }
    }
}

#[test]
fn what_was_read_before_a_newer_version_is_refused_whatever_was_done_between() {
    const STORIES: &[(&str, &[Deed])] = &[
        ("a look at the newest", &[READS, SETS, LOOKS, (1, IN_PLACE)]),
        ("nothing is changed in it", &[READS, SETS, LOOKS, (1, "cat $P > $F; locked -n sops encrypt -i $F")]),
        ("only a value is another one", &[READS, SETS_A_VALUE, LOOKS, (1, IN_PLACE)]),
        (
            "a look at one value",
            &[READS, SETS, (1, "locked sops decrypt --extract '[\"kb\"]' $F > /dev/null"), (1, IN_PLACE)],
        ),
        ("both by a pipe", &[(1, "it=$(locked sops decrypt $F); echo \"$it\" > $P"), SETS, LOOKS, (1, IN_PLACE)]),
        (
            "both by a program",
            &[
                (1, "locked sops exec-file $F \"cat {} > $P\""),
                SETS,
                (1, "locked sops exec-file $F true"),
                (1, IN_PLACE),
            ],
        ),
        (
            "what was made of it, after a look",
            &[
                READS,
                SETS,
                LOOKS,
                (
                    1,
                    "sed s/one/two/ $P > $Q; P=$Q; echo 'own: 1' >> $P; locked -n sops encrypt --filename-override x.yaml --output $F $P",
                ),
            ],
        ),
        ("another session, apart", &[READS, SETS, (3, APART)]),
        ("another session, by value", &[READS, SETS_A_VALUE, (3, APART)]),
        ("another session, in place", &[READS, SETS, (3, IN_PLACE)]),
        (
            "another session, redirected",
            &[READS, SETS, (3, "locked -n sops encrypt --filename-override x.yaml $P > $F")],
        ),
        ("another session that holds it", &[READS, SETS, (3, "locked acquire sops:$(basename $F .yaml)"), (3, APART)]),
        (
            "another session, what was encrypted aside",
            &[
                READS,
                SETS,
                (1, "locked -n sops encrypt --filename-override x.yaml --output $F.own.yaml $P"),
                (3, "locked -n cp $F.own.yaml $F"),
            ],
        ),
        ("put over its own open edit", &[READS, SETS, OPENS, (1, IN_PLACE)]),
        ("the same where a value was changed", &[READS, SETS_A_VALUE, OPENS, (1, IN_PLACE)]),
        ("over its own open edit, by another hand", &[(3, "locked sops decrypt $F > $P"), SETS, OPENS, (1, IN_PLACE)]),
        ("encrypted into its own open edit", &[READS, SETS, OPENS, (1, APART)]),
        ("an open edit that moved, apart", &[MOVES_ITS_EDIT, SETS, (1, APART)]),
        ("an open edit that moved and came back", &[MOVES_ITS_EDIT, SETS, (1, IN_PLACE)]),
    ];
    told(STORIES, 74, |_, _, story, said| {
        assert!(said.contains("of an older version") || said.contains("changed since"), "{story}: {said}");
    });
}

#[test]
fn what_came_by_a_pipe_is_seen_when_it_has_come() {
    const PIPED: &str =
        "{ cat $P; echo 'own: 1'; } | locked -n sops encrypt --filename-override x.yaml --output $F /dev/stdin";
    const STORIES: &[(&str, &[Deed])] = &[
        ("a key", &[READS, SETS, LOOKS, (1, PIPED)]),
        ("a value", &[READS, SETS_A_VALUE, LOOKS, (1, PIPED)]),
        ("another session", &[READS, SETS, (3, PIPED)]),
    ];
    told(STORIES, 72, |stage, file, story, said| {
        assert!(said.contains("an older version was put over the newest one"), "{story}: {said}");
        ends(stage.locked(3, file.parent().expect("directory")).arg("restore").arg(file), 0);
        let plain = stage.world.decrypted(file, "yaml");
        assert!(plain.contains("kb: 1") || plain.contains("first: two"), "{story}: {plain}");
    });
    const BY_A_PIPE: Deed = (
        1,
        "it=$(locked sops decrypt $F | grep -v own); { echo \"$it\"; echo 'own: 1'; } | \
         locked -n sops encrypt --filename-override x.yaml --output $F /dev/stdin",
    );
    const FRESH: &[(&str, &[Deed])] = &[
        (
            "read just now",
            &[
                READS,
                SETS,
                (
                    1,
                    "locked sops decrypt $F > $Q; P=$Q; { cat $P; echo 'own: 1'; } | locked -n sops encrypt --filename-override x.yaml --output $F /dev/stdin",
                ),
            ],
        ),
        ("by a pipe alone, and again", &[READS, BY_A_PIPE, SETS, BY_A_PIPE]),
        (
            "put together",
            &[
                READS,
                SETS,
                (
                    1,
                    "{ locked sops decrypt $F; echo 'own: 1'; } > $Q; cat $Q | locked -n sops encrypt --filename-override x.yaml --output $F /dev/stdin",
                ),
            ],
        ),
    ];
    told(FRESH, 0, |_, _, story, said| assert_eq!(said, "", "{story}"));
}

#[test]
fn on_ordinary_days_nobody_is_stopped() {
    const FRESH: &str =
        "it=$(locked sops decrypt $F); { echo \"$it\"; echo 'own: 1'; } > $F; locked -n sops encrypt -i $F";
    const STORIES: &[(&str, &[Deed])] = &[
        ("the newest", &[READS, (1, APART)]),
        ("again after somebody else", &[READS, (1, APART), SETS, READS, (1, AGAIN)]),
        ("a look long ago, and a fresh edit in place", &[LOOKS, SETS, (1, FRESH)]),
        ("the same where a value was changed", &[LOOKS, SETS_A_VALUE, (1, FRESH)]),
        ("old plaintext that lies about, and a fresh edit", &[READS, SETS_A_VALUE, (1, FRESH)]),
        (
            "a key that somebody has just put in is taken out again",
            &[
                SETS,
                READS,
                (1, "sed /kb/d $P > $Q; cat $Q > $P; locked -n sops encrypt --filename-override x.yaml --output $F $P"),
            ],
        ),
        (
            "the plaintext is renamed",
            &[
                LOOKS,
                SETS,
                READS,
                (
                    1,
                    "mv $P $Q; P=$Q; echo 'own: 1' >> $P; locked -n sops encrypt --filename-override x.yaml --output $F $P",
                ),
            ],
        ),
        ("one place for two sessions, the newest last", &[READS, SETS, (3, "locked sops decrypt $F > $P"), (3, APART)]),
        (
            "an open edit beside plaintext that lies about",
            &[
                READS,
                (3, "locked sops decrypt $F > $Q"),
                SETS,
                OPENS,
                (1, "echo 'own: 1' >> $F; locked -n sops encrypt -i $F"),
            ],
        ),
        (
            "an open edit after a look",
            &[LOOKS, SETS, (1, "locked -n sops decrypt -i $F; echo 'own: 1' >> $F; locked -n sops encrypt -i $F")],
        ),
    ];
    told(STORIES, 0, |stage, file, story, said| {
        assert!(!said.contains("REFUSED"), "{story}: {said}");
        let plain = stage.world.decrypted(file, "yaml");
        assert!(plain.contains("own: 1") != story.contains("taken out"), "{story}: {plain}");
    });
}

#[test]
fn the_printed_line_leads_to_the_newest_and_takes_no_older_plaintext_along() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    stage.sets(9, &a, "CHAIN");
    let plain = stage.dir("plain.yaml");
    stage.follows(1, &a, &format!("locked sops decrypt {FILE} > {}", plain.display()));
    stage.sets(2, &a, "B1");
    let over = format!("cp {} {FILE}; locked -n sops encrypt -i {FILE}", plain.display());
    for _ in 0..2 {
        let said = says(&mut stage.line(1, &a, &over), 74);
        // What it prints is followed, and then the same is tried again.
        stage.follows(1, &a, &next(&said));
        std::fs::remove_file(a.join(".git/secrets-app.yaml.plain")).expect("put aside");
    }
    assert_eq!(stage.keys(&a), ["first", "CHAIN", "B1"]);
}

/// What an edit lacks may be meant to go, and nobody can tell that from older plaintext: its session says so.
#[test]
fn older_plaintext_over_an_open_edit_has_two_ways_out() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let opened = || {
        stage.follows(1, &a, &format!("locked sops decrypt {FILE} > ../p.yaml"));
        stage.sets(2, &a, "B1");
        stage.follows(1, &a, &format!("locked -n sops decrypt -i {FILE}; cp ../p.yaml {FILE}"));
        says(stage.locked(1, &a).args(["-n", "sops", "encrypt", "-i", FILE]), 74)
    };
    let said = opened();
    assert!(said.contains("if what it lacks is to go, with --accept-stale"), "{said}");
    stage.follows(1, &a, &next(&said));
    assert_eq!(stage.keys(&a), ["first", "B1"]);
    std::fs::remove_file(a.join(".git/secrets-app.yaml.plain")).expect("put aside");
    until("the edit is over", || stage.world.status().is_empty().then_some(()));
    ends(stage.locked(2, &a).args(["-n", "sops", "unset", FILE, "[\"B1\"]"]), 0);
    opened();
    let said = says(stage.locked(1, &a).args(["-n", "--accept-stale", "sops", "encrypt", "-i", FILE]), 0);
    assert!(said.contains("going on with --accept-stale, which is recorded"), "{said}");
    assert_eq!((stage.keys(&a), stage.world.status().len()), (vec!["first".to_owned()], 0));
}

#[test]
fn the_first_read_on_a_machine_is_noted_too() {
    let stage = Stage::new(At::Here);
    let a = stage.clone("a", &[]);
    let state = stage.dir("cold/state");
    let line = |session: u32, line: &str| {
        let mut command = stage.line(session, &a, line);
        command.env("LOCKED_STATE_DIR", &state);
        command
    };
    ends(&mut line(1, &format!("locked sops decrypt {FILE} > ../p.yaml")), 0);
    ends(&mut line(2, &format!("locked sops set {FILE} '[\"kb\"]' 1")), 0);
    let said =
        says(&mut line(1, &format!("locked -n sops encrypt --filename-override x.yaml --output {FILE} ../p.yaml")), 74);
    assert!(said.contains("of an older version"), "{said}");
    until("the key stays", || stage.keys(&a).contains(&"kb".to_owned()).then_some(()));
}
