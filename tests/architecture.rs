//! The house: who may use whom. Data goes one way through the rooms; a new arrow is a decision, so it is written here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Room → the rooms that it uses.
const MAY_USE: &[(&str, &[&str])] = &[
    ("terms", &[]),
    ("platform", &[]),
    ("clock", &["platform"]),
    ("exit", &[]),
    ("program", &["platform", "terms"]),
    ("config", &["terms"]),
    ("rules", &["shell", "terms"]),
    ("compose", &["platform", "terms"]),
    ("shell", &[]),
    ("invocation", &["platform", "program", "rules"]),
    ("git", &["platform", "program", "terms"]),
    ("naming", &["git", "platform", "terms"]),
    ("plan", &["compose", "naming", "platform", "rules", "terms"]),
    ("lineage", &["store", "terms"]),
    ("notes", &["platform", "state", "terms"]),
    ("copies", &["platform", "state", "terms"]),
    ("canary", &["platform", "rules", "terms"]),
    ("audit", &["canary", "exit", "git", "naming", "platform", "terms"]),
    ("hooks", &["git", "platform", "terms"]),
    ("agents", &["platform", "program", "state", "terms"]),
    ("state", &["clock", "platform", "store", "terms"]),
    ("store", &["config", "clock", "platform", "rules", "state", "terms"]),
    ("holder", &["clock", "platform", "program", "terms"]),
    ("lease", &["clock", "store", "terms"]),
    ("shims", &["platform", "program", "state", "terms"]),
    ("supervise", &["clock", "exit", "platform", "terms"]),
    ("settle", &["canary", "exit", "rules", "store", "supervise", "terms"]),
    ("report", &["holder", "lease", "settle", "store", "supervise", "terms"]),
    (
        "run",
        &[
            "compose",
            "config",
            "canary",
            "clock",
            "copies",
            "exit",
            "holder",
            "invocation",
            "lease",
            "lineage",
            "naming",
            "notes",
            "plan",
            "platform",
            "program",
            "report",
            "rules",
            "settle",
            "state",
            "store",
            "supervise",
            "terms",
            "git",
        ],
    ),
    (
        "doctor",
        &[
            "agents", "canary", "clock", "config", "git", "holder", "hooks", "naming", "platform", "program", "report",
            "rules", "run", "shims", "state", "store", "terms",
        ],
    ),
    (
        "cli",
        &[
            "agents",
            "audit",
            "hooks",
            "config",
            "canary",
            "clock",
            "copies",
            "doctor",
            "exit",
            "holder",
            "invocation",
            "lease",
            "lineage",
            "naming",
            "plan",
            "platform",
            "program",
            "report",
            "rules",
            "run",
            "settle",
            "shims",
            "state",
            "store",
            "supervise",
            "terms",
            "git",
        ],
    ),
    ("seam", &["clock", "config", "holder", "lease", "program", "run", "state", "store", "terms"]),
    ("main", &["cli", "invocation", "supervise"]),
];

#[test]
fn rooms_use_only_what_the_table_lets_them() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    for (room, used) in rooms() {
        let Some(may) = allowed.get(room.as_str()) else {
            panic!("src/{room} is not in the table of tests/architecture.rs")
        };
        for other in used {
            assert!(may.contains(&other.as_str()), "`{room}` uses `{other}`, which the table does not let it");
        }
    }
}

#[test]
fn nobody_but_the_store_room_names_concrete_stores() {
    for file in sources(Path::new("src")) {
        let path = file.display().to_string();
        if path.starts_with("src/store/") {
            continue;
        }
        for store in ["SqliteStore", "PostgresStore", "AdvisoryStore"] {
            assert!(!code(&file).contains(store), "{path} names a concrete store");
        }
    }
}

/// An answer that could not be written must not look like one, so there is one door for them.
#[test]
fn nobody_but_the_door_of_answers_writes_to_standard_output() {
    for file in sources(Path::new("src")) {
        let path = file.display().to_string();
        let tests = path.ends_with("tests.rs") || path == "src/invocation/linux.rs";
        if path == "src/cli/out.rs" || tests {
            continue;
        }
        for way in ["io::stdout()", "print!(", "println!("] {
            let found = code(&file).replace("eprint", "").contains(way);
            assert!(!found, "{path} writes to standard output past src/cli/out.rs");
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_walls_itself_off_from_unsafe_code() {
    let platform = ["linux.rs", "unix.rs", "windows.rs"];
    for file in sources(Path::new("src")) {
        let text = std::fs::read_to_string(root().join(&file)).expect("source");
        if file.ends_with("tests.rs") {
            continue;
        }
        assert!(text.starts_with("//! "), "{} does not open with its promise", file.display());
        let name = file.file_name().and_then(|name| name.to_str()).expect("name");
        let walled = text.contains("#![forbid(unsafe_code)]") || text.contains("#![deny(unsafe_code)]");
        // What the root of the crate says holds for every room; platform files say why they need it.
        let exempt = platform.contains(&name) || name == "lib.rs" || text.contains("unsafe_code, reason");
        assert!(walled || exempt, "{} has no wall against unsafe code", file.display());
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rooms() -> BTreeMap<String, BTreeSet<String>> {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in sources(Path::new("src")) {
        let room = file.iter().nth(1).and_then(|part| part.to_str()).expect("room").trim_end_matches(".rs").to_owned();
        if room == "lib" {
            continue;
        }
        let code = code(&file);
        let used = code.split("crate::").skip(1).chain(code.split("locked::").skip(1).filter(|_| room == "main"));
        let names =
            used.map(|rest| rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap_or_default());
        let others = names.filter(|name| !name.is_empty() && *name != room).map(str::to_owned).collect::<Vec<_>>();
        rooms.entry(room).or_default().extend(others);
    }
    rooms
}

/// The code of a file, without its comments.
fn code(file: &Path) -> String {
    let text = std::fs::read_to_string(root().join(file)).expect("source");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn sources(below: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join(below)).expect("directory") {
        let entry = entry.expect("entry");
        let path = below.join(entry.file_name());
        if entry.file_type().expect("type").is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
