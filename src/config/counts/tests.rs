//! Every key, in an own file, a trusted and an untrusted one.
#![forbid(unsafe_code)]

use std::path::Path;
use std::time::Duration;

use super::super::document::Document;
use super::super::value::{Source, UnknownBase};
use super::*;

const ORIGIN: &str = "github.com/acme/infra";

fn reading(text: &str, standing: Standing) -> Reading {
    let layer = if standing == Standing::Own { Layer::User } else { Layer::Repository };
    let path = Path::new(if standing == Standing::Own { "/user" } else { "/repository/.locked.toml" });
    let document = Document::of(path, layer, text.as_bytes().to_vec()).expect("text");
    let file = Arc::new(File::of(document).unwrap_or_else(|error| panic!("{text}: {error}")));
    let origin = (layer == Layer::Repository).then(|| ORIGIN.to_owned());
    Reading { file, standing, origin }
}

fn counted(readings: &[Reading]) -> Result<Counted, ConfigError> {
    let built_in = BuiltIn { rule: &|name| name == "sops.set", program: &|name| name == "sops" };
    what_counts(readings, &built_in)
}

/// What becomes of a line of a repository's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Counts,
    Ignored,
    Refused,
}
use Fate::{Counts, Ignored, Refused};

fn fate(own: &str, text: &str, standing: Standing) -> Fate {
    match counted(&[reading(own, Standing::Own), reading(text, standing)]) {
        Err(ConfigError::Untrusted { .. }) => Refused,
        Err(error) => panic!("{text}: {error}"),
        Ok(counted) => {
            let of_file = |from: &Source| matches!(from, Source::File { layer: Layer::Repository, .. });
            let heard = counted.values.values().any(|it| of_file(&it.from))
                || counted.tables.iter().any(|table| of_file(&table.file.source(1)));
            // What is heard in part is told as well.
            assert!(heard || counted.ignored.len() == 1, "{text}: {:?}", counted.ignored);
            if heard && counted.ignored.is_empty() { Counts } else { Ignored }
        }
    }
}

#[test]
fn every_key_counts_as_far_as_its_file_is_trusted() {
    // (key, in the user's file, in the repository's, untrusted, trusted)
    let table: [(Key, &str, &str, Fate, Fate); 81] = [
        (Key::Scope, "", "scope = \"github.com/acme/infra\"", Counts, Counts),
        (Key::Scope, "", "scope = \"github.com/acme/other\"", Refused, Counts),
        (Key::Store, "", "store = { url_env = \"D\" }", Counts, Counts),
        (Key::Store, "store = { url = \"a\" }", "store = { url_env = \"D\" }", Counts, Counts),
        (Key::Store, "", "store = { url = \"embedded\" }", Refused, Counts),
        (Key::Store, "", "store = { url = \"postgres://h\" }", Refused, Counts),
        (Key::Store, "", "store = { url_sops = { file = \"f\", key = \"k\" } }", Refused, Counts),
        (Key::Store, "", "store = { url_env = \"D\", schema = \"s\" }", Refused, Counts),
        (Key::Store, "", "store = { url_env = \"D\", via = \"ssh://h\" }", Refused, Counts),
        (Key::Store, "", "store = { url_env = \"D\", advisory = true }", Refused, Counts),
        (Key::Store, "", "store = { url_env = \"D\", on_unreachable = \"local\" }", Refused, Counts),
        (Key::Store, "", "store = { url_env = \"D\", on_unreachable = \"deny\" }", Counts, Counts),
        (Key::Wait, "", "wait = \"31s\"", Counts, Counts),
        (Key::Wait, "", "wait = \"29s\"", Ignored, Counts),
        (Key::Wait, "wait = \"10m\"", "wait = \"1m\"", Ignored, Counts),
        (Key::Wait, "wait = \"1s\"", "wait = \"2s\"", Counts, Counts),
        (Key::Ttl, "", "ttl = \"1h\"", Ignored, Counts),
        (Key::Ttl, "", "ttl = \"1m\"", Ignored, Counts),
        (Key::Heartbeat, "", "heartbeat = \"1s\"", Ignored, Counts),
        (Key::RenewDeadline, "", "renew_deadline = \"10m\"", Ignored, Counts),
        (Key::Grace, "", "grace = \"1s\"", Ignored, Counts),
        (Key::UnknownBase, "", "unknown_base = \"refuse\"", Counts, Counts),
        (Key::UnknownBase, "", "unknown_base = \"allow\"", Ignored, Counts),
        (Key::UnknownBase, "unknown_base = \"refuse\"", "unknown_base = \"warn\"", Ignored, Counts),
        (Key::UnknownBase, "unknown_base = \"allow\"", "unknown_base = \"warn\"", Counts, Counts),
        (Key::RemoteHold, "", "remote_hold = \"24h\"", Ignored, Counts),
        (Key::StoppedMax, "", "stopped_max = \"1s\"", Ignored, Counts),
        (Key::MaxHold, "", "max_hold = \"24h\"", Ignored, Counts),
        (Key::KeepFor, "", "keep_for = \"24h\"", Ignored, Counts),
        (Key::Canary, "", "canary = false", Ignored, Counts),
        (Key::Canary, "canary = false", "canary = true", Counts, Counts),
        (Key::SessionEnv, "", "session.env = [\"HOME\"]", Ignored, Counts),
        (Key::TrustRepositories, "", "trust.repositories = [\"**/x\"]", Ignored, Ignored),
        (Key::Hosts, "", "hosts = { prod = \"elsewhere\" }", Ignored, Counts),
        (Key::SshAsk, "", "ssh.ask = true", Ignored, Counts),
        (Key::GhWorkflows, "", "gh.workflows = [\"deploy\"]", Counts, Counts),
        (Key::GhHoldFor, "", "gh.hold_for = \"24h\"", Ignored, Counts),
        (Key::GhHoldFor, "", "gh.hold_for = \"1s\"", Ignored, Counts),
        (Key::GhFollow, "", "gh.follow = true", Ignored, Counts),
        (Key::Packs, "", "packs = [\"rotation\"]", Counts, Counts),
        (Key::Packs, "packs = [\"rotation\"]", "packs = []", Counts, Counts),
        (Key::Rule, "", "[[rule]]\nname = \"mine\"\nprogram = \"p\"\nresource = \"a:b\"", Counts, Counts),
        (Key::Rule, "", "[[rule]]\nprogram = \"p\"\nresource = \"a:b\"", Counts, Counts),
        (Key::Rule, "", "[[rule]]\nname = \"sops.set\"\nprogram = \"sops\"", Ignored, Counts),
        (Key::Rule, "[[rule]]\nname = \"mine\"", "[[rule]]\nname = \"mine\"", Ignored, Counts),
        (Key::Rule, "", "[[rule]]\nname = \"mine\"\ncanary = [\"sh\", \"-c\", \"evil\"]", Ignored, Counts),
        (Key::Rule, "", "[[rule]]\nname = \"mine\"\nkeep = \"never\"\nttl = \"1s\"", Ignored, Counts),
        (Key::Program, "", "[[program]]\nname = \"n8nctl\"", Counts, Counts),
        (Key::Program, "", "[[program]]\nname = \"sops\"", Ignored, Counts),
        (Key::Program, "", "[[program]]\noptions = []", Ignored, Counts),
        (Key::Program, "[[rule]]\nprogram = [\"p\", \"q\"]", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "[[rule]]\nargs = [\"x\"]", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "[[writer]]\nprogram = \"q\"", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "[[sql]]\nprogram = \"q\"", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "[[launcher]]\nprogram = \"q\"", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "[[program]]\nname = [\"p\", \"q\"]", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "", "[[program]]\nname = [\"n8nctl\", \"sops\"]", Ignored, Counts),
        (Key::Program, "[[zone]]\nname = \"Z\"\ncommands = [\"q x*\"]", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "[[zone]]\nname = \"Z\"\ncommands = [\"*x\"]", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "[[zone]]\nname = \"Z\"\ncommands = [\"p x*\"]", "[[program]]\nname = \"q\"", Counts, Counts),
        (Key::Program, "[[zone]]\nname = \"Z\"\npaths = [\"x\"]", "[[program]]\nname = \"q\"", Counts, Counts),
        (Key::Program, "[[zone]]\npaths = [\"x\"]\nreads = true", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "[[zone]]\npaths = [\"x\"]\ncontent = [\"x\"]", "[[program]]\nname = \"q\"", Ignored, Counts),
        (Key::Program, "", "[[program]]\nname = [\"n8nctl\", \"other\"]", Counts, Counts),
        (Key::Launcher, "", "[[launcher]]\nprogram = \"q\"", Ignored, Counts),
        (Key::Writer, "", "[[writer]]\nprogram = \"q\"", Counts, Counts),
        (Key::Writer, "", "[[writer]]\nprogram = [\"q\", \"sops\"]", Ignored, Counts),
        (Key::Sql, "", "[[sql]]\nprogram = \"q\"", Counts, Counts),
        (Key::Sql, "", "[[sql]]\nprogram = [\"q\", \"sops\"]", Ignored, Counts),
        (Key::Rule, "", "[[rule]]\nprogram = \"p\"\nresource = \"a:b\"\nask = true", Ignored, Counts),
        (Key::Rule, "", "[[rule]]\nprogram = \"p\"\nresource = []\nask = true", Ignored, Counts),
        (Key::Rule, "", "[[rule]]\nprogram = \"p\"\nresource = \"a:b\"\nuses = \"{1}\"", Ignored, Counts),
        (Key::Rule, "", "[[rule]]\nprogram = \"p\"\nresource = \"a:b\"\ndetached = \"-d\"", Ignored, Counts),
        (Key::Zone, "", "[[zone]]\nname = \"DB\"\npaths = [\"**\"]", Counts, Counts),
        (Key::Zone, "", "[[zone]]\nname = \"DB\"\npaths = [\"**\"]\nreads = true", Ignored, Counts),
        (Key::Zone, "", "[[zone]]\nname = \"DB\"\npaths = [\"**\"]\nstale = \"ask\"", Counts, Counts),
        (Key::Zone, "[[zone]]\nname = \"DB\"", "[[zone]]\nname = \"DB\"", Ignored, Counts),
        (Key::Safe, "", "[[safe]]\npaths = [\"/**\"]", Ignored, Counts),
        (Key::Safe, "[[safe]]\npaths = [\"/x\"]", "[[safe]]\npaths = [\"/x\"]", Ignored, Counts),
        (Key::Rotation, "", "[[rotation]]\nsecret = \"S\"", Counts, Counts),
        (Key::Rotation, "[[rotation]]\nsecret = \"S\"", "[[rotation]]\nsecret = \"S\"", Ignored, Counts),
    ];
    for (key, own, text, untrusted, trusted) in table {
        assert_eq!(fate(own, text, Standing::Untrusted), untrusted, "untrusted {} over {own:?}: {text}", key.name());
        assert_eq!(fate(own, text, Standing::Trusted), trusted, "trusted {} over {own:?}: {text}", key.name());
    }
    for key in Key::ALL {
        assert!(table.iter().any(|row| row.0 == key), "{} is not in the table", key.name());
    }
}

#[test]
fn a_scope_is_for_the_file_of_one_repository() {
    let counted = counted(&[reading("scope = \"github.com/acme/infra\"", Standing::Own)]).expect("counted");
    assert!(counted.values.is_empty());
    assert!(!counted.ignored[0].if_trusted, "{:?}", counted.ignored);
}

#[test]
fn without_a_remote_no_scope_is_origin_s() {
    let mut foreign = reading("scope = \"github.com/acme/infra\"", Standing::Untrusted);
    foreign.origin = None;
    assert!(matches!(counted(&[foreign]), Err(ConfigError::Untrusted { key: "scope", .. })));
}

#[test]
fn an_untrusted_list_comes_on_top_of_what_there_is_and_a_trusted_one_instead() {
    let words = |own: &str, text: &str, standing| {
        let readings = [reading(own, Standing::Own), reading(text, standing)];
        counted(&readings).expect("counted").values[&Key::GhWorkflows].value.clone()
    };
    let list = |words: &[&str]| Value::Words(words.iter().map(|&word| word.to_owned()).collect());
    let [own, text] = ["gh.workflows = [\"a\"]", "gh.workflows = [\"b\", \"a\"]"];
    assert_eq!(words(own, text, Standing::Untrusted), list(&["a", "b"]));
    assert_eq!(words("", text, Standing::Untrusted), list(&["*secret*", "b", "a"]), "the ready ones stay");
    assert_eq!(words(own, text, Standing::Trusted), list(&["b", "a"]));
}

#[test]
fn hosts_come_together_and_the_later_name_counts() {
    let readings = [
        reading("hosts = { a = \"1\", b = \"2\" }", Standing::Own),
        reading("hosts = { b = \"3\", c = \"4\" }", Standing::Trusted),
    ];
    let Value::Names(names) = counted(&readings).expect("counted").values[&Key::Hosts].value.clone() else { panic!() };
    assert_eq!(names.into_values().collect::<Vec<_>>(), ["1", "3", "4"]);
}

#[test]
fn the_terms_of_an_untrusted_rule_are_taken_out_of_it() {
    let text = "[[rule]]\nname = \"n\"\nprogram = \"p\"\nresource = \"a:b\"\nttl = \"1s\"\ncanary = [\"x\"]\n";
    let counted_as = |standing| counted(&[reading(text, standing)]).expect("counted");
    let untrusted = counted_as(Standing::Untrusted);
    assert_eq!(untrusted.tables[0].without, ["canary", "ttl"]);
    assert!(untrusted.tables[0].adds_only);
    let told: Vec<_> = untrusted.ignored.iter().map(|it| it.inner).collect();
    assert_eq!(told, [Some("canary"), Some("ttl")]);
    let trusted = counted_as(Standing::Trusted);
    assert!(trusted.tables[0].without.is_empty() && !trusted.tables[0].adds_only);
}

#[test]
fn of_two_repositories_the_one_that_wants_more_is_heard() {
    let of = |key: Key, one: &str, other: &str, standing| {
        counted(&[reading(one, standing), reading(other, standing)]).expect("counted").values[&key].value.clone()
    };
    for standing in [Standing::Trusted, Standing::Untrusted] {
        for [one, other] in [["wait = \"1h\"", "wait = \"1m\""], ["wait = \"1m\"", "wait = \"1h\""]] {
            assert_eq!(of(Key::Wait, one, other, standing), Value::Length(Duration::from_secs(3600)));
        }
    }
    let [refuse, allow] = ["unknown_base = \"refuse\"", "unknown_base = \"allow\""];
    for [one, other] in [[refuse, allow], [allow, refuse]] {
        assert_eq!(of(Key::UnknownBase, one, other, Standing::Trusted), Value::Base(UnknownBase::Refuse));
    }
}

#[test]
fn later_own_files_win_and_every_value_knows_its_place() {
    let readings = [reading("ttl = \"1h\"\nwait = \"1s\"", Standing::Own), reading("\n\nttl = \"2h\"", Standing::Own)];
    let counted = counted(&readings).expect("counted");
    let ttl = &counted.values[&Key::Ttl];
    assert_eq!(ttl.value, Value::Length(Duration::from_secs(7200)));
    assert_eq!(ttl.from.to_string(), "\"/user\" line 3");
    assert_eq!(counted.values[&Key::Wait].from.to_string(), "\"/user\" line 2");
}

/// Which repository comes first is chance: a file that nobody vouches for takes nothing from one that stands behind it.
#[test]
fn an_untrusted_table_takes_nothing_from_a_trusted_one_behind_it() {
    let zone = reading("[[zone]]\nname = \"Z\"\ncommands = [\"q x*\"]", Standing::Trusted);
    let program = reading("[[program]]\nname = \"q\"", Standing::Untrusted);
    for readings in [[zone.clone(), program.clone()], [program, zone]] {
        let counted = counted(&readings).expect("counted");
        assert_eq!(counted.tables.len(), 1);
        assert_eq!(counted.ignored.len(), 1);
    }
}
