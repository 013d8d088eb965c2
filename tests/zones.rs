//! Zones, safe paths and the rotation pack, by tables of cases: what a line wants under `install/zones.toml`, or under
//! settings of its own.
#![forbid(unsafe_code)]

#[cfg(unix)]
mod played;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use locked::naming::{Local, Namer};
use locked::plan::{self, HoldPlan, Plan};
use locked::rules::{Book, Command, Sourced, Stale, Tables, classify};
use locked::terms::ResourceName;
use serde::Deserialize;

/// One line of `tests/cases/zones.jsonl` and `rotation.jsonl`. Paths are relative to the repository of the case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The zone or rule that it tries.
    about: String,
    argv: Vec<String>,
    #[serde(default)]
    cwd: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Links, each with where it leads.
    #[serde(default)]
    links: BTreeMap<String, String>,
    /// A file that is longer than is read.
    long: Option<String>,
    /// The file that is the standard input.
    stdin: Option<String>,
    /// The names of the session that acts.
    #[serde(default)]
    session: Vec<String>,
    /// Instead of `install/zones.toml`.
    settings: Option<String>,
    expect: Expected,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    decision: Decision,
    resources: Vec<String>,
    rule: Option<String>,
    /// Whether it is said that a part of the line is not known.
    note: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Lock,
    Pass,
    /// The name of the secret is asked for.
    Ask,
}

/// A repository without a remote, and a book of rules.
struct Stage {
    root: PathBuf,
    book: Book,
    _directory: tempfile::TempDir,
}

/// What a line comes to.
struct Answer {
    asks: bool,
    plan: Plan,
}

/// The files that a pattern of a case stands for: one star, in the last part of a path.
fn names(directory: &Path, pattern: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (place, name) = std::str::from_utf8(pattern).ok()?.rsplit_once('/')?;
    let (head, tail) = name.split_once('*')?;
    let entries = std::fs::read_dir(directory.join(place)).ok()?;
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
    let mut found: Vec<_> = names.filter(|name| name.starts_with(head) && name.ends_with(tail)).collect();
    found.sort();
    Some(found.into_iter().map(|name| format!("{place}/{name}").into_bytes()).collect())
}

/// What stands in a file of a case.
fn source(path: &Path) -> Sourced {
    std::fs::read(path).map_or(Sourced::Missing, Sourced::Text)
}

/// What stands in a file of a case, or in those of a directory.
fn manifests(path: &Path, below: bool) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(path) else { return std::fs::read(path).into_iter().collect() };
    let entries = entries.map(|entry| entry.expect("an entry").path()).filter(|path| below || path.is_file());
    entries.flat_map(|path| manifests(&path, below)).collect()
}

impl Stage {
    fn new(settings: &str, packs: &[&str], session: &[String]) -> Self {
        let tables = Tables::read(settings).unwrap_or_else(|error| panic!("{error}"));
        let packs = packs.iter().map(|&pack| pack.to_owned()).collect();
        let book = Book::with(tables, BTreeMap::new()).with_packs(packs).for_session(|| session.to_vec());
        let book = book.asking_for_names(Box::new(names)).asking_for_sources(Box::new(source));
        let book = book.asking_for_manifests(Box::new(|path, below| Some(manifests(path, below))));
        let directory = tempfile::tempdir().expect("a directory");
        // What the system makes of it there begins with `\\?\`, which nobody types.
        let path =
            if cfg!(windows) { Ok(directory.path().to_owned()) } else { std::fs::canonicalize(directory.path()) };
        let root = path.expect("a directory").join("repository");
        for part in [".git/objects", ".git/refs", "memory"] {
            std::fs::create_dir_all(root.join(part)).expect("a directory");
        }
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        Self { root, book, _directory: directory }
    }

    /// As the case says.
    fn of(case: &Case, settings: &str, packs: &[&str]) -> Self {
        let stage = Self::new(case.settings.as_deref().unwrap_or(settings), packs, &case.session);
        for (name, content) in &case.files {
            stage.write(name, content.as_bytes());
        }
        if let Some(name) = &case.long {
            stage.write(name, "select 1;\n".repeat(200_000).as_bytes());
        }
        for (name, target) in &case.links {
            let link = stage.root.join(name);
            std::fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
            #[cfg(unix)]
            std::os::unix::fs::symlink(target, link).expect("a link");
            #[cfg(windows)]
            let _such_a_case_is_left_out = (target, link);
        }
        std::fs::create_dir_all(stage.root.join(&case.cwd)).expect("a directory");
        stage
    }

    fn write(&self, name: &str, content: &[u8]) {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }

    fn answer(&self, argv: &[String], cwd: &str, stdin: Option<&str>) -> Answer {
        self.with(argv, cwd, stdin, &[])
    }

    fn with(&self, argv: &[String], cwd: &str, stdin: Option<&str>, by_hand: &[ResourceName]) -> Answer {
        let (program, args) = argv.split_first().expect("a program");
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let cwd = if cwd.is_empty() { self.root.clone() } else { self.root.join(cwd) };
        let env = |name: &str| (name == "HOME").then(|| OsString::from("/home/agent"));
        let name = Path::new(program).file_name().expect("a name");
        let class =
            classify(&Command { name, args: &args, cwd: &cwd, env: &env, stdout: None, stdin: None }, &self.book);
        let asks = class.asks;
        let world = plan::World {
            env: &env,
            is_python: Box::new(|_| false),
            stack_of: Box::new(|_, _| None),
            book: &self.book,
            stdin: stdin.map(|name| self.root.join(name)),
            past: Box::new(()),
            is_late: Box::new(|| false),
        };
        let plan = plan::draw(class, by_hand, &cwd, &world, &mut Namer::new(Local::Peek, &env)).expect("a plan");
        Answer { asks, plan }
    }

    fn held(&self, line: &[&str]) -> HoldPlan {
        let argv: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        match self.answer(&argv, "", None).plan {
            Plan::Hold(plan) => *plan,
            Plan::PassThrough { reason, .. } => panic!("{line:?} passes: {reason}"),
        }
    }
}

fn example() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("install/zones.toml");
    std::fs::read_to_string(path).expect("the example")
}

/// Where a test can make no links, those with some are left out.
fn cases(lines: &str) -> Vec<Case> {
    let case = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    lines.lines().map(case).filter(|case: &Case| cfg!(unix) || case.links.is_empty()).collect()
}

fn zone_cases() -> Vec<Case> {
    cases(include_str!("cases/zones.jsonl"))
}

fn rotation_cases() -> Vec<Case> {
    cases(include_str!("cases/rotation.jsonl"))
}

fn as_written(cases: &[Case], settings: &str, packs: &[&str]) {
    let mut wrong = Vec::new();
    for case in cases {
        let stage = Stage::of(case, settings, packs);
        let Answer { asks, plan } = stage.answer(&case.argv, &case.cwd, case.stdin.as_deref());
        let (resources, rule) = match &plan {
            Plan::Hold(plan) => {
                (plan.resources.iter().map(|resource| resource.name.to_string()).collect(), plan.rule.clone())
            }
            Plan::PassThrough { .. } => (Vec::new(), None),
        };
        let decision = match &plan {
            _ if asks => Decision::Ask,
            Plan::Hold(_) => Decision::Lock,
            Plan::PassThrough { .. } => Decision::Pass,
        };
        let notes = match &plan {
            Plan::Hold(plan) => &plan.notes,
            Plan::PassThrough { notes, .. } => notes,
        };
        let as_noted = case.expect.note.is_none_or(|note| notes.is_empty() != note);
        let by_rule = case.expect.rule.is_none() || case.expect.rule == rule;
        if !(decision == case.expect.decision && resources == case.expect.resources && by_rule && as_noted) {
            wrong.push(format!(
                "{}: {}: {:?}\n  expected {:?}\n  got {decision:?} {resources:?} by {rule:?}\n  {plan:?}",
                case.about, case.name, case.argv, case.expect
            ));
        }
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_case_of_zones_is_decided_as_written() {
    as_written(&zone_cases(), &example(), &[]);
}

#[test]
fn every_case_of_the_rotation_pack_is_decided_as_written() {
    as_written(&rotation_cases(), "", &["rotation"]);
}

#[test]
fn without_the_pack_nothing_of_it_counts() {
    for case in rotation_cases() {
        let answer = Stage::of(&case, "", &[]).answer(&case.argv, &case.cwd, None);
        assert!(!answer.asks, "{}", case.name);
        assert!(matches!(answer.plan, Plan::PassThrough { .. }), "{}: {:?}", case.name, answer.plan);
    }
}

/// Who has at least three cases on this side.
fn three(cases: &[Case], locks: bool) -> BTreeSet<&str> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases.iter().filter(|case| (case.expect.decision != Decision::Pass) == locks) {
        *count.entry(&case.about).or_default() += 1;
    }
    count.into_iter().filter(|(_, count)| *count >= 3).map(|(name, _)| name).collect()
}

#[test]
fn every_zone_and_every_rule_of_the_pack_has_three_cases_that_lock_and_three_that_pass() {
    let zones = zone_cases();
    let example = Tables::read(&example()).expect("the example");
    let names: BTreeSet<&str> = example.zone.iter().map(|zone| zone.name.as_str()).chain(["safe"]).collect();
    assert_eq!(names.len(), 11, "ten zones, and what is safe");
    assert_eq!(three(&zones, true), names);
    assert_eq!(three(&zones, false), names);
    let rotations = rotation_cases();
    let built_in = Tables::read(&Book::built_in()).expect("the built-in tables");
    let pack = built_in.rule.iter().filter(|rule| rule.pack.is_some());
    let names: BTreeSet<&str> = pack.map(|rule| rule.name.as_str()).collect();
    assert_eq!(three(&rotations, true), names);
    assert_eq!(three(&rotations, false), names);
}

#[test]
fn no_value_of_a_line_is_told() {
    let stage = Stage::new(&example(), &["rotation"], &[]);
    let lines: [&[&str]; 5] = [
        &["psql", "-c", "GRANT x TO y; alter role y password 'hunter2'"],
        &["systemctl", "--user", "set-environment", "TOKEN=hunter2"],
        &["vault", "kv", "put", "TOKEN=hunter2"],
        &["wrangler", "secret", "put", "TOKEN=hunter2"],
        &["kubectl", "create", "secret", "generic", "x", "--from-literal=password=hunter2"],
    ];
    for line in lines {
        let plan = stage.held(line);
        let told = format!("{:?}{:?}{}{}{:?}", plan.resources, plan.rule, plan.operation, plan.reason, plan.notes);
        assert!(!told.contains("hunter2"), "{told}");
    }
}

#[test]
fn what_may_be_the_value_of_an_option_that_nobody_knows_names_nothing() {
    let settings = "[[rule]]\nname = \"n\"\nprogram = \"n8nctl\"\nresource = \"c:{1}\"\n";
    let known = format!("{settings}[[program]]\nname = \"n8nctl\"\nvalues = [\"--token\"]\nswitches = [\"--force\"]\n");
    let table: [(&str, &[&str], &[&str], bool); 8] = [
        (settings, &["n8nctl", "a"], &["c:a"], false),
        (settings, &["n8nctl", "--token", "hunter2", "a"], &["c:a"], true),
        (settings, &["n8nctl", "--token=hunter2", "a"], &["c:a"], false),
        (settings, &["n8nctl", "--token", "hunter2"], &[], true),
        (settings, &["n8nctl", "-t", "hunter2", "a"], &["c:a"], true),
        (&known, &["n8nctl", "--token", "hunter2", "a"], &["c:a"], false),
        (&known, &["n8nctl", "--force", "a"], &["c:a"], false),
        (&known, &["n8nctl", "--other", "hunter2", "a"], &["c:a"], true),
    ];
    for (settings, line, held, said) in table {
        let argv: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        let plan = Stage::new(settings, &[], &[]).answer(&argv, "", None).plan;
        let (resources, notes) = match &plan {
            Plan::Hold(plan) => {
                (plan.resources.iter().map(|it| it.name.to_string()).collect::<Vec<_>>(), plan.notes.clone())
            }
            Plan::PassThrough { notes, .. } => (Vec::new(), notes.clone()),
        };
        assert_eq!(
            (&*resources, !notes.is_empty()),
            (&*held.iter().map(|&it| it.to_owned()).collect::<Vec<_>>(), said),
            "{line:?}"
        );
        assert!(!format!("{resources:?}{notes:?}").contains("hunter2"), "{line:?}");
    }
}

#[test]
fn several_zones_are_taken_in_the_order_of_their_bytes_and_only_those_that_ask_are_marked() {
    let settings = r#"
        zone = [
          { name = "B", commands = ["x *"], stale = "ask" },
          { name = "a", commands = ["x *"], stale = "ask" },
          { name = "A", commands = ["x *"] },
        ]
        rule = [{ name = "x", program = "x", resource = "server:h" }]"#;
    let plan = Stage::new(settings, &[], &[]).held(&["x", "y"]);
    let names = |resources: &[locked::terms::Resource]| {
        resources.iter().map(|resource| resource.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&plan.resources), ["server:h", "zone:A", "zone:B", "zone:a"]);
    assert_eq!(names(&plan.ask), ["zone:B", "zone:a"]);
    let scopes: BTreeSet<_> = plan.resources.iter().map(|resource| resource.scope.0.as_str()).collect();
    assert_eq!(scopes.len(), 2, "the server is everybody's, the zones are the repository's: {scopes:?}");
    let ready = Tables::read(&example()).expect("the example");
    assert!(ready.zone.iter().all(|zone| zone.stale == Stale::Ask), "nobody clears another's zone by himself");
}

#[test]
fn a_zone_of_r_asks_as_one_of_a_rule_does() {
    let settings =
        "zone = [{ name = \"A\", commands = [\"x *\"], stale = \"ask\" }, { name = \"B\", commands = [\"x *\"] }]";
    let stage = Stage::new(settings, &[], &[]);
    let by_hand = ["zone:A", "zone:B", "zone:C"].map(|name| ResourceName::parse(name.as_bytes()).expect("a name"));
    for (line, ask) in [(&["true"][..], &["zone:A"][..]), (&["x", "y"], &["zone:A"])] {
        let argv: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        let Plan::Hold(plan) = stage.with(&argv, "", None, &by_hand).plan else { panic!("{line:?} holds nothing") };
        let found: Vec<_> = plan.ask.iter().map(|resource| resource.name.to_string()).collect();
        assert_eq!(found, ask, "{line:?}");
    }
}

#[test]
fn a_zone_belongs_to_the_repository_where_the_line_was_typed() {
    let stage = Stage::new(&example(), &[], &[]);
    let here = stage.held(&["crontab", "-e"]).resources;
    for line in [
        &["ssh", "vps", "crontab -e"][..],
        &["sh", "-c", "cd /; crontab -e"],
        &["sh", "-c", "cd \"$X\"; crontab -e"],
        &["env", "-C", "/", "crontab", "-e"],
        &["docker", "exec", "db", "crontab", "-e"],
    ] {
        assert_eq!(stage.held(line).resources, here, "{line:?}");
    }
}

#[test]
fn the_terms_of_a_zone_count_and_leave_the_others_alone() {
    let settings = r#"
        zone = [
          { name = "A", commands = ["docker compose*"], ttl = "5m", wait = "2s", keep = "never", keep_for = "1m" },
          { name = "B", commands = ["docker compose*"], ttl = "9m", wait = "1s" },
        ]"#;
    let seconds = |seconds| Some(std::time::Duration::from_secs(seconds));
    let policy = Stage::new(settings, &[], &[]).held(&["docker", "compose", "-p", "x", "up"]).policy;
    assert_eq!((policy.ttl, policy.wait, policy.keep_for), (seconds(540), seconds(1), seconds(60)));
    assert_eq!(policy.give_back, seconds(60), "an attached `up` gives its zones back with its stack");
}

#[test]
fn what_goes_on_without_us_is_remote() {
    let stage = Stage::new(&example(), &[], &[]);
    stage.write("g.sql", b"grant x to y;");
    for line in [
        &["psql", "-c", "grant x to y"][..],
        &["ssh", "vps", "crontab -e"],
        &["sudo", "crontab", "-e"],
        &["docker", "exec", "x", "crontab", "-e"],
        &["psql", "-f", "g.sql"],
        &["sh", "-c", "sudo tee /etc/cron.d/x"],
        &["ssh", "vps", "tee /etc/cron.d/x"],
        &["sh", "-c", "tee memory/MEMORY.md; sudo tee memory/MEMORY.md"],
    ] {
        assert!(stage.held(line).remote, "{line:?}");
    }
    assert!(!stage.held(&["crontab", "-e"]).remote);
    assert!(!stage.held(&["vim", "memory/MEMORY.md"]).remote);
}

#[test]
fn what_runs_in_a_container_holds_nothing_for_its_files() {
    let stage = Stage::new(&example(), &[], &[]);
    let sops = "A=ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]\nsops_version=3.11.0\n";
    stage.write("a.env.sops", sops.as_bytes());
    stage.write("g.sql", b"grant x to y;");
    let here = |name: &str| stage.root.join(name).display().to_string();
    let (file, sql) = (here("a.env.sops"), here("g.sql"));
    // The same here is held, so that the names are right.
    for line in [&["sops", "edit", &file][..], &["tee", &file], &["psql", "-f", &sql]] {
        assert!(!stage.held(line).resources.is_empty());
    }
    for line in [
        &["docker", "exec", "x", "sops", "edit", &file][..],
        &["docker", "exec", "x", "tee", &file],
        &["docker", "exec", "x", "psql", "-f", &sql],
        &["kubectl", "exec", "x", "--", "sh", "-c", "echo >> /etc/cron.d/x"],
        &["ssh", "vps", "docker exec web supervisorctl restart app"],
    ] {
        let argv: Vec<String> = line.iter().map(|&word| word.to_owned()).collect();
        let plan = stage.answer(&argv, "", None).plan;
        assert!(matches!(plan, Plan::PassThrough { .. }), "{line:?}: {plan:?}");
    }
}
