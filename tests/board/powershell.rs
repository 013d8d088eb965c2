//! The old helper's names in PowerShell. Where there is none, a grammar of PowerShell (tree-sitter) reads the module: every
//! name that it calls is there, and the real `locked` takes every command line that it makes.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use tree_sitter::{Node, Parser, Tree};

use crate::run::stage::{ends, json, text, uuid};
use crate::world::World;
use crate::world::apart::this_test;
use crate::world::ends::left_out;

/// The names of the helper of before, as playbooks have them.
const NAMES: [&str; 4] = ["Acquire-EnvLock", "Get-EnvLocks", "Release-EnvLock", "Update-EnvLockHeartbeat"];
/// What PowerShell brings along, of what the module calls.
const OF_POWERSHELL: [&str; 7] = [
    "ConvertFrom-Json",
    "Export-ModuleMember",
    "ForEach-Object",
    "Out-Null",
    "Set-StrictMode",
    "Where-Object",
    "Write-Warning",
];

fn checkout(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn module() -> String {
    std::fs::read_to_string(checkout("install/EnvLock.psm1")).expect("the module")
}

fn parsed(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_powershell::LANGUAGE.into()).expect("one version of the grammar's form");
    parser.parse(text, None).expect("no limit was set")
}

/// Every node of this kind below this one.
fn all<'a>(node: Node<'a>, kind: &str) -> Vec<Node<'a>> {
    let mut found: Vec<Node<'a>> = if node.kind() == kind { vec![node] } else { Vec::new() };
    let children = (0..node.child_count()).filter_map(|at| node.child(u32::try_from(at).expect("few")));
    found.extend(children.flat_map(|child| all(child, kind)));
    found
}

fn texts(module: &str, node: Node<'_>, kind: &str) -> Vec<String> {
    all(node, kind).into_iter().map(|found| module[found.byte_range()].to_owned()).collect()
}

#[test]
fn what_we_have_for_powershell_is_powershell() {
    for name in ["install/EnvLock.psm1", "install/install.ps1", "shims/shell/powershell.ps1"] {
        let text = std::fs::read_to_string(checkout(name)).expect(name);
        assert!(!parsed(&text).root_node().has_error(), "{name}");
    }
    // And what is none is found.
    let module = module();
    for (good, bad) in [
        ("    if ($SessionId) { @(", "    if ($SessionId) @("),
        ("[string] $Operation = 'env-lock',", "[string] $Operation = 'env-lock,"),
        ("-join \"`n\")", "-join \"`n\""),
        ("foreach ($word in $words)", "foreach ($word of $words)"),
    ] {
        assert!(module.contains(good), "{good}");
        assert!(parsed(&module.replacen(good, bad, 1)).root_node().has_error(), "{bad}");
    }
}

#[test]
fn the_module_calls_what_is_there_and_exports_the_playbooks_names() {
    let module = module();
    let tree = parsed(&module);
    let root = tree.root_node();
    let defined: BTreeSet<String> = texts(&module, root, "function_name").into_iter().collect();
    for called in texts(&module, root, "command_name") {
        assert!(defined.contains(&called) || OF_POWERSHELL.contains(&&*called), "{called} is not there");
    }
    let export = all(root, "command").into_iter().find(|it| module[it.byte_range()].starts_with("Export-ModuleMember"));
    let mut exported = texts(&module, export.expect("an export"), "verbatim_string_characters");
    exported.sort();
    assert_eq!(exported, NAMES.map(|name| format!("'{name}'")));
    assert!(NAMES.iter().all(|name| defined.contains(*name)), "{defined:?}");
    let answer = texts(&module, root, "member_access")
        .into_iter()
        .filter_map(|it| it.strip_prefix("$lease.").map(str::to_owned));
    let world = World::new();
    ends(world.locked_as(1).args(["acquire", "server:a"]), 0);
    let status: Vec<BTreeMap<String, serde_json::Value>> = json(world.locked_as(1).args(["status", "--json"]));
    let asked: BTreeSet<String> = answer.collect();
    assert!(asked.len() > 4, "{asked:?}");
    for field in asked {
        assert!(status[0].contains_key(&field), "`status --json` has no {field}");
    }
}

/// The command lines that the module makes, by the function that does, with values in the place of its parameters.
fn lines(module: &str) -> Vec<(String, Vec<String>)> {
    let tree = parsed(module);
    let functions = all(tree.root_node(), "function_statement");
    let line = |function: Node<'_>| {
        let name = texts(module, function, "function_name").remove(0);
        let arrays =
            all(function, "array_expression").into_iter().filter(|it| module[it.byte_range()].starts_with("@('"));
        let words = arrays.flat_map(|array| {
            let mut words: Vec<_> = ["verbatim_string_characters", "variable", "expandable_string_literal"]
                .iter()
                .flat_map(|kind| all(array, kind))
                .collect();
            // A variable in a string is the string's.
            words.retain(|it| it.parent().is_none_or(|parent| parent.kind() != "expandable_string_literal"));
            words.sort_by_key(Node::start_byte);
            words.into_iter().map(|it| module[it.byte_range()].to_owned()).collect::<Vec<_>>()
        });
        (name, words.collect::<Vec<_>>())
    };
    functions.into_iter().map(line).filter(|(_, words)| !words.is_empty()).collect()
}

#[test]
fn the_real_locked_takes_every_command_line_of_the_module() {
    let session = uuid(1);
    let value = |word: &str| match word {
        "$Resource" => "server:a".to_owned(),
        "$Operation" => "credential rotation".to_owned(),
        "$SessionId" => session.clone(),
        "\"${TtlMinutes}m\"" => "30m".to_owned(),
        quoted => quoted.strip_prefix('\'').and_then(|it| it.strip_suffix('\'')).expect(quoted).to_owned(),
    };
    let of_module: BTreeMap<String, Vec<String>> = lines(&module())
        .into_iter()
        .map(|(name, words)| (name, words.iter().map(|word| value(word)).collect()))
        .collect();
    assert_eq!(of_module["Get-SessionArgument"], ["--session", &session]);
    let world = World::new();
    for name in ["Acquire-EnvLock", "Update-EnvLockHeartbeat", "Get-EnvLocks", "Release-EnvLock"] {
        let mut command = world.locked();
        command.args(&of_module["Get-SessionArgument"]).args(&of_module[name]);
        let output = ends(&mut command, 0);
        assert_eq!(text(&output.stderr), "", "{name}");
        assert_eq!(world.status().len(), usize::from(name != "Release-EnvLock"), "{name}");
    }
    assert_eq!(of_module.len(), NAMES.len() + 1, "{of_module:?}");
}

#[test]
fn the_module_does_in_powershell_what_the_helper_did() {
    if Command::new("pwsh").args(["-NoProfile", "-Command", "exit 0"]).output().is_err() {
        return left_out(this_test!(), "no PowerShell (pwsh) on PATH");
    }
    let world = World::new();
    let said = |session: u32, script: &str, status: i32| {
        let mut command = world.command("pwsh");
        let import = format!("Import-Module '{}' -DisableNameChecking", checkout("install/EnvLock.psm1").display());
        command.args(["-NoProfile", "-Command", &format!("$ErrorActionPreference = 'Stop'; {import}; {script}")]);
        command.env("LOCKED", env!("CARGO_BIN_EXE_locked")).env("P24_ENV_LOCK_SESSION_ID", uuid(session));
        let output = ends(&mut command, status);
        format!("{}{}", text(&output.stdout), text(&output.stderr))
    };
    said(1, "Acquire-EnvLock -Resource 'server:a' -Operation 'credential rotation'", 0);
    said(1, "Update-EnvLockHeartbeat -Resource 'server:a'", 0);
    let blocked = said(2, "$env:LOCKED_WAIT = '0s'; Acquire-EnvLock -Resource 'server:a'", 1);
    assert!(blocked.contains("BLOCKED: server:a is held by 01010101"), "{blocked}");
    let board = said(2, "Get-EnvLocks | ForEach-Object { \"$($_.Resource) $($_.Holder) $($_.Expired)\" }", 0);
    assert_eq!(board.trim(), "server:a 01010101 NO");
    said(1, "Release-EnvLock -Resource 'server:a'", 0);
    assert_eq!(world.status().len(), 0);
}
