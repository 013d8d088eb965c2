//! From what rules want to resources: the Compose project is looked up, and every name gets its scope.
#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::sending::{self, Counts};
use super::{Past, places};
use crate::compose::{self, AskedEngine, Name, Sight};
use crate::naming::{self, Namer, NamingError};
use crate::rules::{Book, Claim, Compose, Engine, Said, Set, Wanted, is_known};
use crate::terms::{Resource, ResourceName, Scope};

/// Asks an engine for the Compose project of one of its containers.
pub type StackOf<'a> = dyn Fn(&Engine, &OsStr) -> Option<String> + 'a;

/// What a directory that only run time knows is called where it is shown.
const OPEN: &str = "%1A";

/// What must be asked of the world outside of files.
pub struct World<'a> {
    /// The environment of the command.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// Whether a program on PATH is a script in Python.
    pub is_python: Box<dyn Fn(&OsStr) -> bool + 'a>,
    /// The Compose project of a container, as the engine says it.
    pub stack_of: Box<StackOf<'a>>,
    /// The zones and safe paths.
    pub book: &'a Book,
    /// The regular file that is the standard input of the command, if it is one.
    pub stdin: Option<PathBuf>,
    /// What is known of files that do not look like SOPS now.
    pub past: Box<dyn Past + 'a>,
    /// Whether a look through directories has taken long enough.
    pub is_late: Box<dyn Fn() -> bool + 'a>,
}

/// What the claims of one line come to.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    pub(super) resources: Vec<Resource>,
    /// How the names were found, one sentence each, for `explain`.
    pub(super) because: Vec<String>,
    /// Compose files that are used: zones look at what they say.
    pub(super) files: Vec<PathBuf>,
    /// What nobody can know.
    pub(super) unknown: Vec<String>,
    /// Why a claim came to nothing.
    pub(super) passed_over: Option<String>,
}

/// Finds the resources. `cwd` is where the whole line was typed.
pub(super) fn claimed(
    claims: &[Claim],
    cwd: &Path,
    world: &World<'_>,
    namer: &mut Namer<'_>,
) -> Result<Claimed, NamingError> {
    let mut found = Claimed::default();
    for claim in claims {
        if is_safe_here(claim, world) {
            continue;
        }
        if let Some(sending) = &claim.sending {
            match sending::counts(sending, world) {
                Counts::Because(because) => found.because.push(because),
                counts => {
                    found.passed_over = Some("nothing that goes there is what a rule is about".to_owned());
                    if let Counts::Told(note) = counts {
                        found.unknown.push(note);
                    }
                    continue;
                }
            }
        }
        found.files.extend(claim.used.iter().filter(|_| claim.host.is_none()).cloned());
        let name = match &claim.name {
            Wanted::Named(name) => name.clone(),
            Wanted::Stack { container } => stack(claim, container, world),
            Wanted::Project { compose, otherwise } => match (project(claim, compose, world, &mut found), otherwise) {
                (Ok(name), _) => name,
                (Err(_), Some(otherwise)) => otherwise.clone(),
                (Err(why), None) => {
                    let why = format!("the Compose project is not known, and nothing is held for it: {why}");
                    found.unknown.push(why);
                    continue;
                }
            },
        };
        if name.kind() == "container" && !is_engine_known(claim, world) {
            found.unknown.push(format!("only run time knows the engine of {name}, and nothing is held for it"));
            continue;
        }
        let scope = scope(&name, claim, cwd, world, namer)?;
        found.resources.push(Resource { name, scope });
    }
    Ok(found)
}

/// Every file that led to the claim is safe.
fn is_safe_here(claim: &Claim, world: &World<'_>) -> bool {
    let here = claim.host.is_none() && !claim.written.is_empty();
    here && claim.written.iter().all(|path| places::is_safe(path, world.book))
}

fn stack(claim: &Claim, container: &OsStr, world: &World<'_>) -> ResourceName {
    let project = claim.host.is_none().then(|| (world.stack_of)(&claim.engine, container)).flatten();
    match project {
        Some(project) => ResourceName::of("container", project.as_bytes()),
        // The engine's own name of a container begins with a slash, and may be typed so.
        None => {
            let name = container.as_encoded_bytes();
            ResourceName::of("container", name.strip_prefix(b"/").filter(|name| !name.is_empty()).unwrap_or(name))
        }
    }
}

/// Whether the line says which engine it is, or leaves it to the environment.
fn is_engine_known(claim: &Claim, world: &World<'_>) -> bool {
    let Engine { host, context, config, env, podman } = &claim.engine;
    let all = over(env, claim, world);
    let env = |name: &str| all(if *podman { podman_s(name) } else { name });
    let said = [host, context, config].into_iter().flatten().next().cloned();
    let said = said.or_else(|| env("DOCKER_HOST").filter(|host| !host.is_empty())).or_else(|| env("DOCKER_CONTEXT"));
    said.is_none_or(|said| is_known(&said))
}

/// Whether only run time knows what names the project.
fn is_project_open(asked: &Compose, env: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let is_open = |word: &OsString| !is_known(word);
    match asked.project.clone().or_else(|| env("COMPOSE_PROJECT_NAME")).filter(|name| !name.is_empty()) {
        Some(name) => is_open(&name),
        None => {
            asked.files.iter().chain(&asked.directory).any(is_open)
                || env("COMPOSE_FILE").is_some_and(|it| is_open(&it))
        }
    }
}

fn project(claim: &Claim, asked: &Compose, world: &World<'_>, found: &mut Claimed) -> Result<ResourceName, String> {
    let env = over(&asked.env, claim, world);
    if is_project_open(asked, &env) {
        return Err("only run time knows what names it; name the project with -p or COMPOSE_PROJECT_NAME".to_owned());
    }
    let files: Vec<&OsStr> = asked.files.iter().map(OsString::as_os_str).collect();
    let env_files: Vec<&OsStr> = asked.env_files.iter().map(OsString::as_os_str).collect();
    let project = compose::project(&compose::Asked {
        project: asked.project.as_deref(),
        project_directory: asked.directory.as_deref().map(Path::new),
        files: &files,
        env_files: &env_files,
        cwd: &claim.cwd,
        env: &env,
        legacy: asked.standalone && claim.host.is_none() && (world.is_python)(OsStr::new("docker-compose")),
        sight: sight(claim),
    });
    found.files.extend(project.files);
    match project.name {
        Name::Known { name, from } => {
            found.because.push(from.replace(OPEN, "…"));
            Ok(ResourceName::of("container", name.as_bytes()))
        }
        Name::Unknown { why } => Err(why.replace(OPEN, "…")),
    }
}

fn sight(claim: &Claim) -> Sight {
    if claim.host.is_some() { Sight::Nothing } else { Sight::Files }
}

/// The environment of the command: what the line sets, before what is around it; another host has its own.
fn over<'a>(set: &'a Set, claim: &'a Claim, world: &'a World<'_>) -> impl Fn(&str) -> Option<OsString> + 'a {
    move |name| match set.get(name) {
        Said::Value(value) => Some(value.to_owned()),
        Said::Unset => None,
        Said::Nothing => claim.host.is_none().then(|| (world.env)(name)).flatten(),
    }
}

/// The scope of a resource that a rule names: some kinds belong to the repository where the command runs, containers to
/// their engine, the rest means the same everywhere.
fn scope(
    name: &ResourceName,
    claim: &Claim,
    cwd: &Path,
    world: &World<'_>,
    namer: &mut Namer<'_>,
) -> Result<Scope, NamingError> {
    // A directory of another host, or one that only run time knows, lies in no repository of ours.
    let own = claim.host.is_none() && is_known(claim.cwd.as_os_str());
    match name.kind() {
        "container" => Ok(engine(claim, world)),
        _ => super::scope_of(name, if own { &claim.cwd } else { cwd }, namer),
    }
}

fn engine(claim: &Claim, world: &World<'_>) -> Scope {
    let env = over(&claim.engine.env, claim, world);
    let podman = |name: &str| env(podman_s(name));
    let asked = AskedEngine {
        host: claim.engine.host.as_deref(),
        context: claim.engine.context.as_deref(),
        config: claim.engine.config.as_deref().map(Path::new),
        env: if claim.engine.podman { &podman } else { &env },
        // podman's connections stand in files of its own.
        sight: if claim.engine.podman { Sight::Nothing } else { sight(claim) },
    };
    let here = || match &claim.host {
        Some(host) => compose::scope_of_ssh_host(host).unwrap_or_else(naming::machine_scope),
        None => naming::machine_scope(),
    };
    compose::engine(&asked, &here).scope
}

/// The scope of the containers that somebody names who says nothing of an engine.
pub(super) fn engine_around(env: &dyn Fn(&str) -> Option<OsString>) -> Scope {
    let asked = AskedEngine { host: None, context: None, config: None, env, sight: Sight::Files };
    compose::engine(&asked, &naming::machine_scope).scope
}

/// What podman calls a variable of docker (podman(1), "ENVIRONMENT").
fn podman_s(name: &str) -> &str {
    match name {
        "DOCKER_HOST" => "CONTAINER_HOST",
        "DOCKER_CONTEXT" => "CONTAINER_CONNECTION",
        name => name,
    }
}
