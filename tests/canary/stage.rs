//! A stage for the canary's tests: a world, one file in it, and what it was before.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use locked::canary::{Arbiter, Expect, Sample, Verdict, look};
use locked::rules::{Asked, Change, Via};

use crate::world::{World, real_sops};

/// One file of each store: name, type, plaintext, and the index of a new key in sops' own spelling.
pub(super) const STORES: [(&str, &str, &str, &str); 5] = [
    ("x.env.sops", "dotenv", "# note\nA=hunter2-secret\nB=two words\nEMPTY=\n", "[\"NEW\"]"),
    ("x.yaml", "yaml", "# note\na: hunter2-secret\nm:\n  n: 1\n  l: [x, y]\nempty: \"\"\n", "[\"new\"]"),
    (
        "x.json",
        "json",
        "{\"a\": \"hunter2-secret\", \"m\": {\"n\": 1, \"l\": [\"x\", true]}, \"e\": null}",
        "[\"new\"]",
    ),
    ("x.ini", "ini", "top = 1\n[sec]\n; note\na = hunter2-secret\nb = 2\n", "[\"sec\"][\"new\"]"),
    ("x.bin", "binary", "hunter2-secret\0\u{1}\nmore", "[\"new\"]"),
];

/// A world with one file.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) path: PathBuf,
    /// What the file held when the stage was set, or when `keep` was called.
    pub(super) before: Option<Vec<u8>>,
}

impl Stage {
    /// A file encrypted by the real sops for this world's key.
    pub(super) fn encrypted(name: &str, kind: &str, plaintext: &str) -> Self {
        let world = World::new();
        let path = world.encrypted(name, plaintext, kind);
        Self::on(world, path)
    }

    /// A file of plaintext.
    pub(super) fn plain(name: &str, plaintext: &str) -> Self {
        let world = World::new();
        let path = world.work().join(name);
        std::fs::write(&path, plaintext).expect("plaintext");
        Self::on(world, path)
    }

    /// Whatever there is at this path.
    pub(super) fn on(world: World, path: PathBuf) -> Self {
        let before = std::fs::read(&path).ok();
        Self { world, path, before }
    }

    /// What is there now counts as before.
    pub(super) fn keep(&mut self) {
        self.before = std::fs::read(&self.path).ok();
    }

    /// Runs the real sops; it must end with this status.
    pub(super) fn sops<S: AsRef<OsStr>>(&self, args: &[S], status: i32) -> Output {
        self.sops_with(args, &[], status)
    }

    /// The same with more variables.
    pub(super) fn sops_with<S: AsRef<OsStr>>(&self, args: &[S], env: &[(&str, &str)], status: i32) -> Output {
        let output = self.world.sops().args(args).envs(env.iter().copied()).output().expect("sops runs");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "sops: {words}");
        output
    }

    /// Edits the file with the real sops, the editor being this shell line (`$1` is the file).
    pub(super) fn edit(&self, line: &str, status: i32) {
        let script = self.world.root().join("editor.sh");
        std::fs::write(&script, line).expect("script");
        let editor = format!("sh {}", script.display());
        let kind = self.kind();
        let path = self.path.to_str().expect("UTF-8");
        let args = ["edit", "--input-type", kind, "--output-type", kind, path];
        self.sops_with(&args, &[("SOPS_EDITOR", &editor)], status);
    }

    /// Sets a key with the real sops.
    pub(super) fn set(&self, index: &str, value: &str) {
        let kind = self.kind();
        let path = self.path.to_str().expect("UTF-8");
        self.sops(&["set", "--input-type", kind, "--output-type", kind, path, index, value], 0);
    }

    fn kind(&self) -> &'static str {
        let name = self.path.file_name().and_then(OsStr::to_str).expect("name");
        let of_store = |(known, kind, ..): &(&str, &'static str, &str, &str)| (*known == name).then_some(*kind);
        STORES.iter().find_map(of_store).unwrap_or(match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("env") => "dotenv",
            Some("json") => "json",
            Some("ini") => "ini",
            Some("bin") => "binary",
            _ => "yaml",
        })
    }

    /// The file's text.
    pub(super) fn text(&self) -> String {
        std::fs::read_to_string(&self.path).expect("text")
    }

    /// Replaces the file.
    pub(super) fn write(&self, content: impl AsRef<[u8]>) {
        std::fs::write(&self.path, content).expect("write");
    }

    /// What the canary says after a command that made this change in place.
    pub(super) fn look(&self, change: Change) -> Verdict {
        self.look_with(&expect(change), &self.arbiter())
    }

    /// The same with everything given. No verdict may ever show a value.
    pub(super) fn look_with(&self, expect: &Expect, arbiter: &Arbiter) -> Verdict {
        let sample = Sample { path: &self.path, before: self.before.as_deref(), expect };
        let verdict = look(&sample, arbiter);
        let mut shown = format!("{verdict:?}");
        if let Verdict::Bad(fault) = &verdict {
            shown += &format!("{fault} {}", fault.advice());
            assert!(!fault.to_string().contains('\n') && !fault.advice().is_empty());
        }
        assert!(!shown.contains("hunter2"), "a value is shown: {shown}");
        verdict
    }

    /// The real sops in this world.
    pub(super) fn arbiter(&self) -> Arbiter {
        let env = self.world.sops().get_envs().filter_map(|(name, value)| Some((name.into(), value?.into()))).collect();
        Arbiter { sops: Some(real_sops()), env, cwd: self.world.work(), timeout: Duration::from_secs(60) }
    }
}

/// What may differ after this change in place.
pub(super) fn expect(change: Change) -> Expect {
    Expect { change: Some(change), via: Via::InPlace, asked: Asked::default(), rule_recipients: None }
}

/// The fault of a bad verdict; anything else is the test's failure.
#[track_caller]
pub(super) fn fault(verdict: Verdict) -> locked::canary::Fault {
    match verdict {
        Verdict::Bad(fault) => fault,
        other => panic!("not bad: {other:?}"),
    }
}

/// The path as text.
pub(super) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A key that this world does not hold: its recipient.
pub(super) fn stranger() -> String {
    age::x25519::Identity::generate().to_public().to_string()
}
