//! A remote's URL as a scope: `host/path`, without user, password, port, `.git`. The forms are those of git-clone(1),
//! "GIT URLS".
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use super::{bytes_of, physical};
use crate::terms::percent_encode;

/// The scope that a URL names; `base` is where a relative path starts. `git@h:a/b.git`, `ssh://git@H:22/a/b` and
/// `https://user:password@h/a/b/` are one. A path on this machine becomes `file/…`, links resolved, so that two clones
/// of one directory agree however they spelled it.
pub(super) fn scope(url: &[u8], base: &Path) -> String {
    let url = url.trim_ascii();
    if let Some((scheme, rest)) = split_scheme(url) {
        return if scheme.eq_ignore_ascii_case(b"file") {
            let slash = rest.iter().position(|&byte| byte == b'/').unwrap_or(0);
            local(&rest[slash..], base)
        } else {
            network(rest)
        };
    }
    if let Some(inner) = after_helper(url) {
        return scope(inner, base);
    }
    match split_scp(url) {
        Some((host, path)) => place(host, path),
        None => local(url, base),
    }
}

/// `scheme://rest`.
fn split_scheme(url: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = url.windows(3).position(|window| window == b"://")?;
    let scheme = &url[..at];
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(byte));
    is_scheme.then(|| (scheme, &url[at + 3..]))
}

/// `helper::address` (git-remote-helpers): the address counts.
fn after_helper(url: &[u8]) -> Option<&[u8]> {
    let at = url.windows(2).position(|window| window == b"::")?;
    let helper = &url[..at];
    (!helper.is_empty() && helper.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-'))
        .then(|| &url[at + 2..])
}

/// `[user@]host:path`, where no slash stands before the colon. A host with colons stands in brackets.
fn split_scp(url: &[u8]) -> Option<(&[u8], &[u8])> {
    // On Windows, `C:/x` is a path; elsewhere it is the host `C`, as git sees it.
    if cfg!(windows) && url.len() > 1 && url[0].is_ascii_alphabetic() && url[1] == b':' {
        return None;
    }
    let bracket = url.iter().position(|&byte| byte == b'[').filter(|&at| at == 0 || url[at - 1] == b'@');
    let from = match bracket {
        Some(open) => open + url[open..].iter().position(|&byte| byte == b']')?,
        None => 0,
    };
    let colon = from + url[from..].iter().position(|&byte| byte == b':')?;
    (colon > 0 && !url[..colon].contains(&b'/')).then(|| (&url[..colon], &url[colon + 1..]))
}

/// What follows `scheme://` of a URL to another machine.
fn network(rest: &[u8]) -> String {
    let end = |text: &[u8]| text.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(text.len());
    let mut rest = rest;
    let authority = after_last(&rest[..end(rest)], b'@');
    let port = authority.iter().rposition(|&byte| byte == b':').map(|colon| &authority[colon + 1..]);
    let no_port = port.is_some_and(|port| !authority.ends_with(b"]") && !port.iter().all(u8::is_ascii_digit));
    if no_port && !authority.starts_with(b"[") {
        // A password with a raw `/`, `?` or `#` in it looks like this. No part of it may reach a name.
        rest = after_last(rest, b'@');
    }
    let (authority, path) = rest.split_at(end(rest));
    let path = &path[..path.iter().position(|byte| b"?#".contains(byte)).unwrap_or(path.len())];
    place(authority, path)
}

/// `host/path` from an authority (user and port are dropped) and a path.
fn place(authority: &[u8], path: &[u8]) -> String {
    let host = after_last(authority, b'@');
    let host = if let Some(open) = host.strip_prefix(b"[") {
        let inner = open.split(|&byte| byte == b']').next().unwrap_or_default();
        let inner = after_last(inner, b'@');
        if inner.iter().filter(|&&byte| byte == b':').count() == 1 { before_port(inner) } else { inner }
    } else {
        before_port(host)
    };
    let mut scope = host.to_ascii_lowercase();
    for part in decoded(path).split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b"." | b"~")) {
        scope.push(b'/');
        scope.extend_from_slice(part);
    }
    percent_encode(scope.strip_suffix(b".git").unwrap_or(&scope))
}

/// A directory on this machine.
fn local(path: &[u8], base: &Path) -> String {
    let named = base.join(crate::git::path_from(path));
    // `git clone /srv/x` also finds `/srv/x.git`.
    let with_suffix = PathBuf::from({
        let mut name = named.clone().into_os_string();
        name.push(".git");
        name
    });
    let named = if !named.exists() && with_suffix.exists() { with_suffix } else { named };
    let physical = physical::resolve(&named).unwrap_or(named);
    let bytes = bytes_of(physical.as_os_str());
    let bytes = bytes.strip_suffix(b"/.git").or_else(|| bytes.strip_suffix(b".git")).unwrap_or(bytes);
    percent_encode(&[b"file", bytes].concat())
}

fn after_last(text: &[u8], mark: u8) -> &[u8] {
    text.iter().rposition(|&byte| byte == mark).map_or(text, |at| &text[at + 1..])
}

fn before_port(host: &[u8]) -> &[u8] {
    host.split(|&byte| byte == b':').next().unwrap_or_default()
}

/// Undoes percent-encoding, so that both spellings of one path are one; a `%` that encodes nothing stays.
fn decoded(path: &[u8]) -> Vec<u8> {
    let digit = |at: usize| path.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let (mut bytes, mut at) = (Vec::with_capacity(path.len()), 0);
    while at < path.len() {
        match (path[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
                at += 3;
            }
            (byte, _, _) => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_one_url_is_one_scope() {
        for url in [
            "git@github.com:acme/infra.git",
            "git@github.com:/acme/infra.git",
            "github.com:acme/infra",
            "GitHub.com:acme/infra/",
            "ssh://git@github.com/acme/infra.git",
            "ssh://git@github.com:22/acme/infra",
            "ssh://github.com:/acme/infra",
            "git+ssh://git@github.com/acme/infra",
            "https://github.com/acme/infra",
            "https://GitHub.com/acme/infra.git/",
            "HTTPS://user@github.com:443//acme//infra/",
            "https://user:tok@GitHub.com/acme/infra.git/",
            "https://user:t%40k@github.com/acme/infra.git?x=tok#tok",
            "https://user:to/ken@github.com/acme/infra.git",
            "https://user:to?ken@github.com/acme/infra.git",
            "https://user:p@ss@github.com/acme/infra.git",
            "git://github.com/acme/infra.git",
            "https://github.com/acme/%69nfra",
            "foo::https://tok@github.com/acme/infra.git",
            "[git@github.com:22]:acme/infra.git",
            " git@github.com:acme/infra.git\n",
        ] {
            assert_eq!(scope(url.as_bytes(), Path::new("/base")), "github.com/acme/infra", "{url}");
        }
    }

    #[test]
    fn other_hosts_paths_and_letters_are_other_scopes() {
        for (url, expected) in [
            ("https://gitlab.example.org/Group/Sub/x", "gitlab.example.org/Group/Sub/x"),
            ("ssh://git@[::1]:22/a/b.git", "::1/a/b"),
            ("git@[::1]:a/b.git", "::1/a/b"),
            ("git@host:~/a b.git", "host/a%20b"),
            ("ssh://git@host/~ana/x", "host/~ana/x"),
            ("https://host/a%2", "host/a%252"),
            ("https://host/", "host"),
        ] {
            assert_eq!(scope(url.as_bytes(), Path::new("/base")), expected, "{url}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_is_named_by_where_it_is() {
        for url in [
            "/nowhere/git/x.git",
            "file:///nowhere/git/x.git",
            "../git/x.git/",
            "/nowhere//git/./x",
            "/nowhere/git/x/.git",
        ] {
            assert_eq!(scope(url.as_bytes(), Path::new("/nowhere/base")), "file/nowhere/git/x", "{url}");
        }
    }
}
