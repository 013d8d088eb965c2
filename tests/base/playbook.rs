//! The flow of the playbook, decrypt–modify–write–encrypt, by two sessions on one file in every order of their steps: nobody
//! who was told "ok" loses a change, and when they meet somebody is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::stage::{At, Stage, text};

/// Every order of so many steps of two, `a` beginning; the other half is the same with other names.
fn orders(steps: usize) -> Vec<String> {
    let mut orders = vec!["a".to_owned()];
    for _ in 1..2 * steps {
        let more = |order: String| ["a", "b"].map(|who| format!("{order}{who}"));
        orders = orders.into_iter().flat_map(more).collect();
    }
    orders.retain(|order| order.matches('a').count() == steps);
    orders
}

/// How they go about it.
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
}

/// One who goes through the steps.
struct Actor<'a> {
    stage: &'a Stage,
    flow: Flow,
    session: u32,
    key: String,
    file: PathBuf,
    read: String,
    done: usize,
    /// How it went; none before the last step.
    ended: Option<i32>,
}

impl Actor<'_> {
    fn plain(&self) -> PathBuf {
        let name = if self.flow == Flow::Shared { "shared".to_owned() } else { format!("of-{}", self.key) };
        self.file.with_file_name(format!("{name}-{}", self.file.file_name().and_then(|it| it.to_str()).expect("UTF-8")))
    }

    fn shell(&self, line: &str) -> std::process::Output {
        let place = self.file.parent().expect("directory");
        let mut command = self.stage.locked(self.session, place);
        let locked = command.get_program().to_owned();
        let environment: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command = self.stage.world.command("sh");
        for (name, value) in environment {
            command.env(&name, value.unwrap_or_default());
        }
        command.current_dir(place).arg("-c").arg(line).arg("sh").arg(locked).arg(&self.file).arg(self.plain());
        command.output().expect("it runs")
    }

    fn step(&mut self) {
        let step = self.done;
        self.done += 1;
        if self.ended.is_some() {
            return;
        }
        let in_place = self.flow == Flow::InPlace;
        let output = match step {
            0 if in_place => self.shell("\"$1\" sops decrypt \"$2\""),
            0 => self.shell("\"$1\" sops decrypt \"$2\" > \"$3\" && cat \"$3\""),
            1 => {
                let target = if in_place { self.file.clone() } else { self.plain() };
                std::fs::write(target, format!("{}{}: 1\n", self.read, self.key)).expect("plaintext");
                return;
            }
            _ => self.shell(match self.flow {
                Flow::InPlace => "\"$1\" -n sops encrypt -i \"$2\"",
                Flow::Apart | Flow::Shared => {
                    "\"$1\" -n sops encrypt --filename-override x.yaml --output \"$2\" \"$3\""
                }
                Flow::Redirected => "\"$1\" -n sops encrypt --filename-override x.yaml \"$3\" > \"$2\"",
            }),
        };
        match (step, output.status.code()) {
            (0, Some(0)) => self.read = text(&output.stdout),
            // The other one's plaintext lies there: sops cannot decrypt it.
            (0, _) => self.ended = Some(1),
            (_, status) => {
                self.ended = status;
                if status != Some(0) {
                    assert_eq!(status, Some(74), "{}", text(&output.stderr));
                }
            }
        }
    }
}

fn every_order(flow: Flow) {
    let stage = Stage::new(At::Here);
    let place = stage.clone("a", &[]);
    // Who writes plaintext of his own writes it for nobody else: no step to be put between others.
    let own = matches!(flow, Flow::Apart | Flow::Redirected);
    for order in orders(if own { 2 } else { 3 }) {
        let file = stage.world.encrypted(&format!("{order}.yaml"), "first: 1\n", "yaml");
        let file = place.join(file.file_name().expect("name"));
        std::fs::copy(stage.world.work().join(format!("{order}.yaml")), &file).expect("copied");
        // There is a chain: that is how files live.
        let set = ["-n", "sops", "set", file.to_str().expect("UTF-8"), "[\"chain\"]", "1"];
        super::stage::ends(stage.locked(9, &place).args(set), 0);
        let actor = |session: u32, key: &str| Actor {
            stage: &stage,
            flow,
            session,
            key: key.to_owned(),
            file: file.clone(),
            read: String::new(),
            done: 0,
            ended: None,
        };
        let mut actors = BTreeMap::from([('a', actor(1, "a")), ('b', actor(2, "b"))]);
        for who in order.chars() {
            let actor = actors.get_mut(&who).expect("an actor");
            actor.step();
            if own && actor.done == 1 {
                actor.step();
            }
        }
        let fine: Vec<_> = actors.values().filter(|it| it.ended == Some(0)).map(|it| it.key.clone()).collect();
        let serial = order.trim_start_matches('a').trim_start_matches('b').is_empty();
        assert_eq!(fine.len() == 2, serial, "{flow:?} {order}: ok for {fine:?}");
        let plain = newest(&stage, &place, &file);
        for key in &fine {
            assert!(plain.contains(&format!("{key}: 1")), "{flow:?} {order}: {key} was told ok: {plain}");
        }
        assert!(plain.contains("chain: 1"), "{flow:?} {order}: {plain}");
    }
}

/// What the file holds; where somebody's plaintext or an emptied file lies over it, what `restore` brings back.
fn newest(stage: &Stage, place: &Path, file: &Path) -> String {
    let is_sops = std::fs::read_to_string(file).is_ok_and(|content| content.contains("ENC["));
    if !is_sops {
        super::stage::ends(stage.locked(9, place).args(["restore", "--from", "proven"]).arg(file), 0);
    }
    stage.world.decrypted(file, "yaml")
}

#[test]
fn in_place() {
    every_order(Flow::InPlace);
}

#[test]
fn with_plaintext_of_one_s_own() {
    every_order(Flow::Apart);
}

#[test]
fn with_a_redirection() {
    every_order(Flow::Redirected);
}

#[test]
fn with_one_place_for_the_plaintext() {
    every_order(Flow::Shared);
}
