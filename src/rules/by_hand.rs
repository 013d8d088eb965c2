//! Names that people type (`-r server:root@web-1`, `acquire workflow:secrets-sync.yml`), as rules make them of a line: else
//! one who types and one whose line says it would hold two things.
#![forbid(unsafe_code)]

use std::path::Path;

use super::book::{Book, Filter};
use crate::terms::{ResourceName, percent_decode};

/// The name that rules have for what is named so, in a directory. What is no other name for anything stays as it is; files
/// and zones have no names here.
#[must_use]
pub fn by_hand(name: &ResourceName, book: &Book, cwd: &Path) -> ResourceName {
    let kind = name.kind();
    let typed = percent_decode(&name.as_str()[kind.len() + 1..]);
    let meant = match kind {
        "server" => server(&typed, book),
        "workflow" => workflow(&typed, book, cwd),
        // A value behind the name is dropped, as where a line has both.
        "rotation" => Filter::Key.on(&typed).and_then(|name| Filter::Path.on(&name)),
        // The engine's own name of a container begins with a slash.
        "container" => typed.strip_prefix(b"/").map(<[u8]>::to_vec),
        _ => None,
    };
    let changed = meant.filter(|meant| *meant != typed);
    let named = changed.and_then(|meant| ResourceName::parse(&[kind.as_bytes(), b":", &meant].concat()).ok());
    named.unwrap_or_else(|| name.clone())
}

fn server(typed: &[u8], book: &Book) -> Option<Vec<u8>> {
    let host = Filter::Host.on(typed)?;
    // What is no text is no host that anybody has another name for.
    Some(book.host(&[], std::str::from_utf8(&host).ok()?).into_bytes())
}

/// A workflow is called after its file. One that is named by that already is not looked up: another one may have that for its
/// display name.
fn workflow(typed: &[u8], book: &Book, cwd: &Path) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(typed);
    let slug = Filter::Slug.on(typed)?;
    let is_known = |file: String| !book.workflow(cwd, None, &file).is_empty();
    let is_file = text.ends_with(".yml")
        || text.ends_with(".yaml")
        || [".yml", ".yaml"].iter().any(|ending| is_known(format!("{text}{ending}")));
    if is_file {
        return Some(slug);
    }
    let file = book.workflow(cwd, None, &text).into_iter().next();
    file.map_or(Some(slug), |file| Filter::Slug.on(file.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Tables;
    use super::*;

    #[test]
    fn what_people_type_comes_to_the_names_of_rules() {
        let hosts = BTreeMap::from([("prod".to_owned(), "web-1".to_owned())]);
        let files = |_: &Path, _: Option<&str>, named: Option<&str>| match named {
            Some("sync.yml" | "Secrets: sync" | "secrets: sync") => {
                vec![vec!["sync.yml".to_owned(), "Secrets: sync".to_owned()]]
            }
            Some("deploy.yaml" | "sync") => vec![vec!["deploy.yaml".to_owned(), "sync".to_owned()]],
            _ => Vec::new(),
        };
        let book = Book::with(Tables::default(), hosts).asking_for_workflows(Box::new(files));
        let table = [
            ("server:prod", "server:web-1"),
            ("server:PROD", "server:web-1"),
            ("server:WEB-2", "server:web-2"),
            ("server:root@web-1", "server:web-1"),
            ("server:root@web-1:22", "server:web-1"),
            ("server:ssh://me@web-1:22/", "server:web-1"),
            ("server:[::1]", "server:::1"),
            ("server:%5B::1%5D:22", "server:::1"),
            ("server:me@", "server:me@"),
            ("workflow:secrets-sync.yml", "workflow:secrets-sync"),
            ("workflow:.github/workflows/Secrets Sync.yaml", "workflow:secrets-sync"),
            ("workflow:Secrets: sync", "workflow:sync"),
            ("workflow:sync", "workflow:sync"),
            ("workflow:deploy", "workflow:deploy"),
            ("rotation:/secret//app/", "rotation:secret/app"),
            ("rotation:API_KEY=hunter2", "rotation:API_KEY"),
            ("rotation:API_KEY", "rotation:API_KEY"),
            ("container:/web", "container:web"),
            ("container:Web", "container:Web"),
            ("zone:DB_GRANTS", "zone:DB_GRANTS"),
            ("job:a%20b", "job:a%20b"),
            ("other:root@web-1:22", "other:root@web-1:22"),
        ];
        for (typed, meant) in table {
            let name = ResourceName::parse(typed.as_bytes()).expect(typed);
            let expected = ResourceName::parse(meant.as_bytes()).expect(meant);
            let found = by_hand(&name, &book, Path::new("/"));
            assert_eq!(found, expected, "{typed}");
            assert_eq!(by_hand(&found, &book, Path::new("/")), found, "{typed}: twice");
        }
    }
}
