//! Where a project of version 1 lies (1.29.2: `cli/command.py`, `config/config.py`). Python looks at the working directory
//! itself: no link's name, `..` by the file system.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::environment::{Environment, said};
use super::layout::{Layout, Names, Source};
use super::{Asked, Sight, path};

/// The names of version 2 in another order.
const NAMES: Names = Names {
    files: ["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"],
    overrides: [
        "docker-compose.override.yml",
        "docker-compose.override.yaml",
        "compose.override.yml",
        "compose.override.yaml",
    ],
};

pub(super) fn layout<'a>(asked: &Asked<'a>) -> Layout<'a> {
    let physical = asked.cwd.canonicalize().ok().filter(|_| asked.sight == Sight::Files);
    let cwd = physical.unwrap_or_else(|| path::absolute(Path::new("/"), asked.cwd));
    let mut env = Environment::new(*asked);

    // The directory is settled before the environment file is read: `COMPOSE_FILE` counts for it only from outside.
    let early = files(asked, asked.env);
    let directory = match early.first() {
        Some(first) if first == "-" => Some(cwd.clone()),
        first => said(asked.project_directory)
            .or_else(|| first.and_then(|file| Path::new(file).parent()).and_then(|parent| said(Some(parent))))
            .map(|directory| path::absolute(&cwd, directory)),
    };
    match asked.env_files.last() {
        Some(file) => env.read_legacy(&cwd.join(file)),
        None => env.read_legacy(&directory.as_deref().unwrap_or(&cwd).join(".env")),
    }

    let files = files(asked, &|name| env.get(name));
    let sources = match &*files {
        [only] if only == "-" => vec![Source::Stdin],
        [] => match NAMES.search(&cwd, asked.sight) {
            found if found.is_empty() => NAMES.search(directory.as_deref().unwrap_or(&cwd), asked.sight),
            found => found,
        },
        // Among several, `-` is a file of that name.
        files => files.iter().map(|file| Source::File(path::absolute(&cwd, Path::new(file)))).collect(),
    };
    let directory = directory.unwrap_or_else(|| match sources.first() {
        Some(Source::File(file)) => path::parent(file).to_owned(),
        _ => cwd.clone(),
    });
    Layout { directory, sources, env }
}

/// The files that the line or a variable names.
fn files(asked: &Asked<'_>, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<OsString> {
    if !asked.files.is_empty() {
        return asked.files.iter().copied().map(OsStr::to_owned).collect();
    }
    let Some(listed) = variable("COMPOSE_FILE").filter(|listed| !listed.is_empty()) else { return Vec::new() };
    let separator = variable("COMPOSE_PATH_SEPARATOR").unwrap_or_else(|| ":".into());
    path::split(&listed, &separator.to_string_lossy())
}
