//! Where a project of version 2 lies: its directory, its compose files, its variables.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::environment::{Environment, Take, exists, said};
use super::{Asked, Sight, path};

/// What compose looks for where no file is named, the best first.
pub(super) struct Names {
    pub(super) files: [&'static str; 4],
    /// What is laid over it.
    pub(super) overrides: [&'static str; 4],
}

const NAMES: Names = Names {
    files: ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"],
    overrides: [
        "compose.override.yml",
        "compose.override.yaml",
        "docker-compose.override.yml",
        "docker-compose.override.yaml",
    ],
};

/// A compose file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    File(PathBuf),
    Stdin,
    /// `https://…git`, `oci://…`: only compose fetches it.
    Network,
}

/// Where a project lies.
pub(super) struct Layout<'a> {
    /// The project's directory, absolute.
    pub(super) directory: PathBuf,
    pub(super) sources: Vec<Source>,
    pub(super) env: Environment<'a>,
}

/// The layout, in compose's own order: the environment file of the first directory may name the compose files, whose
/// directory may have an environment file of its own.
pub(super) fn layout<'a>(asked: &Asked<'a>) -> Layout<'a> {
    let cwd = &working_directory(asked);
    let mut env = Environment::new(*asked);
    let mut sources: Vec<Source> = asked.files.iter().map(|file| source(cwd, file)).collect();
    let directory = |sources: &[Source]| match (said(asked.project_directory), sources) {
        (Some(directory), _) => path::absolute(cwd, directory),
        (None, sources) => match sources.iter().find(|source| **source != Source::Stdin) {
            Some(Source::File(file)) => path::parent(file).to_owned(),
            _ => cwd.clone(),
        },
    };
    let env_files = |directory: &Path, env: &Environment<'_>| match named_env_files(asked, cwd) {
        named if !named.is_empty() => named,
        _ if is_true(env.get("COMPOSE_DISABLE_ENV_FILE").as_deref()) => Vec::new(),
        _ => vec![directory.join(".env")],
    };
    for take in [Take::Own, Take::All(cwd)] {
        env.read(&env_files(&directory(&sources), &env), take);
    }
    if sources.is_empty() {
        sources = env.filled("COMPOSE_FILE").map_or_else(Vec::new, |files| {
            let separator = env.filled("COMPOSE_PATH_SEPARATOR").unwrap_or_else(|| ":".into());
            path::split(&files, &separator.to_string_lossy()).iter().map(|file| source(cwd, file)).collect()
        });
    }
    if sources.is_empty() {
        sources = NAMES.search(&directory(&sources), asked.sight);
    }
    let directory = directory(&sources);
    env.read(&env_files(&directory, &env), Take::All(cwd));
    Layout { directory, sources, env }
}

/// Go believes `PWD` where it leads to the working directory, so that a directory reached by a link keeps the link's
/// name (`os.Getwd`).
fn working_directory(asked: &Asked<'_>) -> PathBuf {
    let said = (asked.env)("PWD").map(PathBuf::from).filter(|said| said.is_absolute());
    let same = |said: &PathBuf| {
        let (said, cwd) = (said.canonicalize(), asked.cwd.canonicalize());
        said.is_ok_and(|said| cwd.is_ok_and(|cwd| said == cwd))
    };
    let believed = said.filter(|said| asked.sight == Sight::Files && same(said));
    path::absolute(Path::new("/"), believed.as_deref().unwrap_or(asked.cwd))
}

fn source(cwd: &Path, file: &OsStr) -> Source {
    let text = file.to_string_lossy();
    let on_network = ["oci://", "https://", "http://", "ssh://", "git://", "git@", "github.com/"];
    match &*text {
        "-" => Source::Stdin,
        text if on_network.iter().any(|prefix| text.starts_with(prefix)) => Source::Network,
        _ => Source::File(path::absolute(cwd, Path::new(file))),
    }
}

/// The environment files that the line or the environment names.
fn named_env_files(asked: &Asked<'_>, cwd: &Path) -> Vec<PathBuf> {
    let listed = (asked.env)("COMPOSE_ENV_FILES").filter(|_| asked.env_files.is_empty()).unwrap_or_default();
    let listed = path::split(&listed, ",");
    let named = asked.env_files.iter().copied().chain(listed.iter().map(AsRef::as_ref));
    named.filter(|file| !file.is_empty()).map(|file| path::absolute(cwd, &at_home(file, asked))).collect()
}

/// `~/x` where no shell has made a path of it.
fn at_home(file: &OsStr, asked: &Asked<'_>) -> PathBuf {
    match (Path::new(file).strip_prefix("~"), (asked.env)("HOME")) {
        (Ok(below), Some(home)) => Path::new(&home).join(below),
        _ => file.into(),
    }
}

/// What Go's `strconv.ParseBool` calls true.
fn is_true(value: Option<&OsStr>) -> bool {
    let yes = ["1", "t", "T", "true", "TRUE", "True"];
    value.and_then(OsStr::to_str).is_some_and(|value| yes.contains(&value))
}

impl Names {
    /// The files that are there, in the directory or the nearest above it.
    pub(super) fn search(&self, from: &Path, sight: Sight) -> Vec<Source> {
        let first = |directory: &Path, names: &[&str]| {
            names.iter().map(|name| directory.join(name)).find(|file| exists(file, sight))
        };
        let found = from.ancestors().find_map(|directory| Some((directory, first(directory, &self.files)?)));
        let Some((directory, file)) = found else { return Vec::new() };
        std::iter::once(file).chain(first(directory, &self.overrides)).map(Source::File).collect()
    }
}
