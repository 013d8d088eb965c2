//! The lines that people are told to type.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use crate::terms::shell_quote;

use super::{Folder, SYSTEM, Tool};

/// `locked shims install …` for these tools in this folder, as it is typed where the environment is `env`.
#[must_use]
pub fn install_line<'a>(
    folder: &Path,
    tools: impl IntoIterator<Item = &'a Tool>,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> String {
    let ready = Folder::choose(None, false, Path::new("/"), env).ok();
    let place = match folder {
        folder if ready.is_some_and(|ready| ready.path() == folder) => String::new(),
        folder if folder == Path::new(SYSTEM) => " --system".to_owned(),
        folder => format!(" --dir {}", quoted(folder)),
    };
    let names: String = tools.into_iter().map(|tool| format!(" {tool}")).collect();
    format!("locked shims install{place}{names}")
}

fn quoted(path: &Path) -> String {
    shell_quote(path.as_os_str().as_encoded_bytes())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_named_where_it_is_not_the_ready_one() {
        let tools = ["sops", "my tool"].map(|name| Tool::found(name.as_ref()).expect("a name"));
        let env = |name: &str| (name == "LOCKED_SHIMS_DIR").then(|| OsString::from("/v"));
        for (folder, line) in [
            ("/v", "locked shims install sops 'my tool'"),
            (SYSTEM, "locked shims install --system sops 'my tool'"),
            ("/a b", "locked shims install --dir '/a b' sops 'my tool'"),
        ] {
            assert_eq!(install_line(Path::new(folder), &tools, &env), line);
        }
    }
}
