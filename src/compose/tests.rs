//! The room as a whole: which word wins, and what is read.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fs;

use super::*;

/// A directory of files, and a line in it.
pub(super) struct Stage {
    root: tempfile::TempDir,
    env: HashMap<&'static str, String>,
}

impl Stage {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().expect("directory");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            fs::write(path, text).expect("file");
        }
        Self { root, env: HashMap::new() }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.env.insert(name, value.to_owned());
        self
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(super) fn ask<R>(&self, line: &Line<'_>, then: impl FnOnce(&Asked<'_>) -> R) -> R {
        let words = |list: &[&'_ str]| list.iter().map(|word| OsString::from(*word)).collect::<Vec<_>>();
        let (files, env_files) = (words(&line.files), words(&line.env_files));
        then(&Asked {
            project: line.project.map(OsStr::new),
            project_directory: None,
            files: &files.iter().map(OsString::as_os_str).collect::<Vec<_>>(),
            env_files: &env_files.iter().map(OsString::as_os_str).collect::<Vec<_>>(),
            cwd: &self.at(line.cwd),
            env: &|name: &str| self.env.get(name).map(OsString::from),
            legacy: line.legacy,
            sight: if line.blind { Sight::Nothing } else { Sight::Files },
        })
    }

    fn project(&self, line: &Line<'_>) -> Project {
        self.ask(line, project)
    }
}

/// What a test says of a line.
#[derive(Clone, Default)]
pub(super) struct Line<'a> {
    pub(super) cwd: &'a str,
    pub(super) project: Option<&'a str>,
    pub(super) files: Vec<&'a str>,
    pub(super) env_files: Vec<&'a str>,
    pub(super) legacy: bool,
    pub(super) blind: bool,
}

pub(super) fn at(cwd: &str) -> Line<'_> {
    Line { cwd, ..Line::default() }
}

fn known(project: &Project) -> &str {
    project.name.known().unwrap_or("?")
}

#[cfg(unix)]
#[test]
fn the_sentence_says_where_the_name_came_from() {
    let stage = Stage::new(&[
        ("My Stack/compose.yaml", "services: {}\n"),
        ("red/compose.yml", "name: red-${X:-y}\n"),
        ("green/.env", "COMPOSE_PROJECT_NAME=green\n"),
    ]);
    let from = |project: &Project| match &project.name {
        Name::Known { from, .. } => from.replace(stage.root.path().to_str().expect("UTF-8"), ""),
        Name::Unknown { why } => why.clone(),
    };
    for (cwd, name, sentence) in [
        ("My Stack", "mystack", "the directory /My%20Stack names it"),
        ("red", "red-y", "name: in /red/compose.yml names it"),
        ("green", "green", "COMPOSE_PROJECT_NAME in /green/.env names it"),
    ] {
        let project = stage.project(&at(cwd));
        assert_eq!((known(&project), &*from(&project)), (name, sentence), "{cwd}");
    }
    let option = stage.project(&Line { project: Some("o"), ..at("red") });
    assert_eq!((known(&option), &*from(&option)), ("o", "-p names it"));
}

#[test]
fn a_capital_letter_in_a_word_is_made_small_and_another_sign_makes_no_name() {
    let stage = Stage::new(&[("d/compose.yaml", "services: {}\n")]);
    for (word, modern, legacy) in
        [("Blue", "blue", "blue"), ("_x", "_x", "_x"), ("a b", "?", "ab"), ("é", "?", "?"), ("", "d", "d")]
    {
        for (is_legacy, expected) in [(false, modern), (true, legacy)] {
            let line = Line { project: Some(word), legacy: is_legacy, ..at("d") };
            assert_eq!(known(&stage.project(&line)), expected, "{word:?} {is_legacy}");
        }
    }
}

#[test]
fn files_are_named_whether_or_not_they_are_there() {
    let stage = Stage::new(&[("a/compose.yaml", ""), ("a/compose.override.yml", ""), ("a/b/.env", "")]);
    assert_eq!(stage.project(&at("a/b")).files, [stage.at("a/compose.yaml"), stage.at("a/compose.override.yml")]);
    let named = stage.project(&Line { files: vec!["-", "../gone/x.yml", "oci://r/x"], ..at("a/b") });
    assert_eq!(named.files, [stage.at("a/gone/x.yml")]);
    assert_eq!(known(&named), "?", "standard input may say a name");
    let named = stage.project(&Line { files: vec!["../gone/x.yml"], ..at("a/b") });
    assert_eq!(known(&named), "gone");
}

#[test]
fn what_cannot_be_read_makes_the_name_unknown_unless_a_word_says_it() {
    let stage = Stage::new(&[
        ("broken/compose.yaml", "services: {a\n"),
        ("env/compose.yaml", "services: {}\n"),
        ("env/.env", "A='hunter2\n"),
        ("template/compose.yaml", "name: ${hunter2\n"),
        ("required/compose.yaml", "name: ${X:?hunter2}\n"),
        ("empty/compose.yaml", "name: ${X}\n"),
        ("データ/compose.yaml", "services: {}\n"),
    ]);
    for cwd in ["broken", "env", "template", "required", "empty", "データ"] {
        let found = stage.project(&at(cwd));
        let Name::Unknown { why } = &found.name else { panic!("{cwd}: {:?}", found.name) };
        assert!(why.contains("-p") && !why.contains("hunter2"), "{why}");
        assert_eq!(found.files.len(), 1, "{cwd}");
        let said = stage.project(&Line { project: Some("said"), ..at(cwd) });
        assert_eq!(known(&said), "said", "{cwd}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_left_for_the_program() {
    let stage = Stage::new(&[("d/compose.yaml", "services: {}\n")]);
    let (mut reader, writer) = std::io::pipe().expect("pipe");
    let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    std::io::Write::write_all(&mut &writer, b"name: x\n").expect("written");
    drop(writer);
    for legacy in [false, true] {
        assert_eq!(known(&stage.project(&Line { env_files: vec![&path], legacy, ..at("d") })), "?");
    }
    assert_eq!(known(&stage.project(&Line { files: vec![&path], ..at("d") })), "?");
    let mut left = String::new();
    std::io::Read::read_to_string(&mut reader, &mut left).expect("read");
    assert_eq!(left, "name: x\n");
}

#[test]
fn elsewhere_nothing_is_read_and_the_directory_is_the_name() {
    let stage =
        Stage::new(&[("My Stack/compose.yaml", "name: red\n"), ("My Stack/.env", "COMPOSE_PROJECT_NAME=green")]);
    for legacy in [false, true] {
        let line = Line { legacy, blind: true, ..at("My Stack") };
        let found = stage.project(&line);
        assert_eq!((known(&found), found.files.len()), ("mystack", 0));
        assert_eq!(known(&stage.project(&Line { files: vec!["../other/x.yml"], ..line })), "other");
    }
    let said = Stage::new(&[]).with("COMPOSE_PROJECT_NAME", "said");
    assert_eq!(known(&said.project(&Line { blind: true, ..at("nowhere") })), "said");
}

#[cfg(unix)]
#[test]
fn a_directory_reached_by_a_link_keeps_the_name_that_the_shell_says() {
    let mut stage = Stage::new(&[("real/compose.yaml", "services: {}\n"), ("other/x", "")]);
    std::os::unix::fs::symlink("real", stage.at("link")).expect("link");
    for (pwd, legacy, expected) in
        [("link", false, "link"), ("real", false, "real"), ("other", false, "real"), ("link", true, "real")]
    {
        let said = stage.at(pwd).to_str().expect("UTF-8").to_owned();
        stage.env.insert("PWD", said);
        assert_eq!(known(&stage.project(&Line { legacy, ..at("real") })), expected, "{pwd}");
    }
}
