//! A sops that does what the real one does, and stands still where it is told to.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::Command;

use crate::world::board::write_program;
use crate::world::ends::so;
use crate::world::real_sops;

use super::killed::Whom;
use super::stage::{Run, Stage};

/// A world with a sops that does what the real one does, and stands still where it is told to.
pub(super) struct Sops {
    pub(super) stage: Stage,
    pub(super) file: PathBuf,
}

impl Sops {
    pub(super) fn new() -> Self {
        let stage = Stage::new();
        let file = stage.world.encrypted("m.env.sops", "A=1\n", "dotenv");
        let bin = stage.world.root().join("bin");
        std::fs::create_dir(&bin).expect("bin");
        let (root, real) = (stage.world.root().display(), real_sops());
        // `stays` is where the named sub-command stands still: before its work, or after it.
        let script = format!(
            "#!/bin/sh\nstays() {{ : > {root}/at-$1; while [ -e {root}/stay-$1 ]; do sleep 0.01; done; }}\n\
             case $1 in set) verb=set;; *) verb=decrypt;; esac\n\
             echo \"$verb $LOCKED_TOKENS\" >> {root}/sops.log\n\
             stays before-$verb\n{real} \"$@\"; status=$?\nstays after-$verb\nexit $status\n",
            real = real.display()
        );
        write_program(&bin.join("sops"), &script);
        Self { stage, file }
    }

    pub(super) fn stay(&self, place: &str) {
        // Who came by before is not meant.
        let _nobody_was_there = std::fs::remove_file(self.stage.world.root().join(format!("at-{place}")));
        std::fs::write(self.stage.world.root().join(format!("stay-{place}")), "").expect("flag");
    }

    pub(super) fn go_on(&self, place: &str) {
        let _not_there = std::fs::remove_file(self.stage.world.root().join(format!("stay-{place}")));
    }

    pub(super) fn came_to(&self, place: &str) {
        let flag = self.stage.world.root().join(format!("at-{place}"));
        so(&format!("sops comes to {place}"), || flag.exists());
        std::fs::remove_file(flag).expect("flag");
    }

    pub(super) fn locked(&self) -> Command {
        let path = std::env::var("PATH").expect("PATH");
        let mut command = self.stage.world.locked();
        command.env("PATH", format!("{}:{path}", self.stage.world.root().join("bin").display()));
        command
    }

    pub(super) fn set(&self, options: &[&str], key: &str, value: &str) -> Command {
        let mut command = self.locked();
        command
            .args(options)
            .args(["sops", "set", "--input-type", "dotenv", "--output-type", "dotenv"])
            .arg(&self.file)
            .args([format!("[\"{key}\"]"), format!("\"{value}\"")]);
        self.stage.prepare(&mut command, key);
        command
    }

    pub(super) fn plain(&self) -> String {
        self.stage.world.decrypted(&self.file, "dotenv")
    }

    pub(super) fn words(&self) -> String {
        std::fs::read_to_string(self.stage.world.root().join("sops.log")).unwrap_or_default()
    }

    /// A write that was done and never settled: wrapper and keeper are killed after it.
    pub(super) fn unsettled_write(&self) {
        self.stay("after-set");
        let one = Run::of(self.set(&[], "B", "2"));
        self.came_to("after-set");
        Whom::Both.kill(&one);
        let _killed = one.ends();
        self.go_on("after-set");
        self.stage.is_empty_soon();
    }

    /// Writes the file as somebody does who takes everybody's key away.
    pub(super) fn locks_everybody_out(&self) {
        let stranger = age::x25519::Identity::generate().to_public().to_string();
        std::fs::write(&self.file, "A=1\nB=2\n").expect("plaintext");
        let mut sops = Command::new(real_sops());
        sops.args(["encrypt", "--age", &stranger, "--input-type", "dotenv", "--output-type", "dotenv", "-i"]);
        let done = sops.arg(&self.file).env_clear().output().expect("sops");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}
