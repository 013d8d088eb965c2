//! A file that was left bad, and the way back.
#![forbid(unsafe_code)]

use std::fs;

use super::table::Chapter;
use crate::run::stage::{DOTENV, FILE, RESOURCE, Stage, ends, silent};

pub(super) fn played() -> Chapter {
    let mut told = Chapter::new("A file that is bad");
    emptied(&mut told);
    failed(&mut told);
    opened(&mut told);
    by_hand(&mut told);
    told
}

fn emptied(told: &mut Chapter) {
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "A", "1"));
    stage.commit("a proven version");
    let bad = stage.stand_in(": > \"$file\"");
    told.plays(&stage.world, "the command left its file empty", stage.set(1, &[], "A", "2").env("PATH", bad));
    told.plays(&stage.world, "the next one that would write it", &mut stage.set(2, &[], "A", "1"));
    told.plays(
        &stage.world,
        "it is taken as it is, and is still bad",
        stage.locked(2).args(["restore", "--accept", FILE]),
    );
    told.plays(&stage.world, "its session would end", stage.locked(1).args(["session", "end"]));
    told.plays(&stage.world, "adopt of it", stage.locked(2).args(["adopt", FILE]));
    told.plays(&stage.world, "the good version comes back", stage.locked(2).args(["restore", FILE]));
    told.plays(&stage.world, "restore of what is good", stage.locked(2).args(["restore", FILE]));
    told.plays(
        &stage.world,
        "restore of what is not there",
        stage.locked(2).args(["restore", "secrets/none.env.sops"]),
    );
    let lost = stage.stand_in("printf 'A=ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\\n' > \"$file\"");
    told.plays(&stage.world, "the command left no SOPS file", stage.set(1, &[], "A", "2").env("PATH", lost));
    silent(stage.locked(1).args(["restore", "--from", "head", FILE]).stdout(std::process::Stdio::null()));
}

fn failed(told: &mut Chapter) {
    let stage = Stage::new();
    let fails = stage.stand_in("\"$real\" \"$@\"; exit 5");
    told.plays(&stage.world, "the command failed after it had written", stage.set(1, &[], "A", "1").env("PATH", fails));
    let mut asks = stage.locked(1);
    told.plays(
        &stage.world,
        "a failed command whose name was given by hand, with --keep",
        asks.args(["--keep", "-r", "server:a", "false"]),
    );
    told.plays(&stage.world, "-v, when all goes well", &mut stage.set(1, &["-v"], "A", "2"));
}

fn opened(told: &mut Chapter) {
    let stage = Stage::new();
    let mut decrypts = stage.locked(1);
    told.plays(
        &stage.world,
        "a file is decrypted in place",
        decrypts.args(["sops", "decrypt"]).args(DOTENV).args(["-i", FILE]),
    );
    told.plays(&stage.world, "somebody else writes it meanwhile", &mut stage.set(2, &["-n"], "A", "1"));
    told.plays(&stage.world, "its session would release it", stage.locked(1).args(["release", RESOURCE]));
    told.plays(&stage.world, "restore of an edit that is open", stage.locked(2).args(["-n", "restore", FILE]));
    ends(stage.locked(1).args(["sops", "encrypt"]).args(DOTENV).args(["-i", FILE]), 0);
}

fn by_hand(told: &mut Chapter) {
    let stage = Stage::new();
    silent(&mut stage.set(1, &[], "A", "1"));
    let mut sops = stage.world.sops();
    ends(sops.args(["set"]).args(DOTENV).args([FILE, "[\"HAND\"]", "\"1\""]), 0);
    told.plays(&stage.world, "it was changed without locked", &mut stage.set(2, &[], "A", "2"));
    ends(stage.world.sops().args(["set"]).args(DOTENV).args([FILE, "[\"HAND\"]", "\"2\""]), 0);
    told.plays(&stage.world, "adopt of what was changed without locked", stage.locked(1).args(["adopt", FILE]));
    told.plays(&stage.world, "adopt once more", stage.locked(1).args(["adopt", FILE]));
    fs::write(stage.file(), "FIRST=one\n").expect("plaintext");
    told.plays(&stage.world, "adopt of plaintext", stage.locked(1).args(["adopt", FILE]));
    told.plays(
        &stage.world,
        "restore of plaintext, which may be somebody's edit",
        stage.locked(1).args(["restore", FILE]),
    );
}
