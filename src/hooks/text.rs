//! The texts: the hook itself, and what managers of hooks are given.
#![forbid(unsafe_code)]

use std::ffi::OsStr;

/// The hook.
const HOOK: &str = include_str!("../../shims/hooks/hook.sh");
/// For lefthook.
pub const LEFTHOOK: &str = include_str!("../../shims/hooks/lefthook.yml");
/// For husky.
pub const HUSKY: &str = include_str!("../../shims/hooks/husky.txt");
/// For pre-commit.
pub const PRE_COMMIT: &str = include_str!("../../shims/hooks/pre-commit.yaml");
/// For hooks in a directory that is somebody else's.
pub const OF_SOMEBODY: &str = include_str!("../../shims/hooks/hooks-path.txt");

/// By this a hook of ours is known, whatever its version.
const MARK: &[u8] = b"# locked:hook ";
/// Says that the directory was made for the hooks.
const MADE: &str = "The directory was made by locked.";

/// The hook for this name. `locked` is where it is now: asked when PATH has none.
pub(super) fn hook(name: &str, locked: &OsStr, made_directory: bool) -> Vec<u8> {
    let directory = if made_directory { MADE } else { "The directory was there before." };
    let text = HOOK.replace("@NAME@", name).replace("@DIRECTORY@", directory);
    let (before, after) = text.split_once("@LOCKED@").unwrap_or((&text, ""));
    [before.as_bytes(), &quoted(locked.as_encoded_bytes()), after.as_bytes()].concat()
}

/// As every POSIX shell reads it, whatever the bytes.
pub(super) fn quoted(bytes: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = bytes.split(|&byte| byte == b'\'').collect();
    [b"'", parts.join(&br"'\''"[..]).as_slice(), b"'"].concat()
}

/// Is this a hook of ours?
pub(super) fn is_ours(content: &[u8]) -> bool {
    content.split(|&byte| byte == b'\n').nth(1).is_some_and(|line| line.starts_with(MARK))
}

/// What stands behind the end of a hook of ours: somebody has added it.
pub(super) fn additions(content: &[u8]) -> Option<&[u8]> {
    const END: &[u8] = b"\nexit 0\n";
    let end = content.windows(END.len()).rposition(|window| window == END).filter(|_| is_ours(content))?;
    Some(&content[end + END.len()..]).filter(|added| !added.trim_ascii().is_empty())
}

/// Did whoever wrote this hook of ours make the directory for it?
pub(super) fn made_directory(content: &[u8]) -> bool {
    content.split(|&byte| byte == b'\n').take(5).any(|line| line.ends_with(MADE.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hook_knows_its_name_and_its_program() {
        let text = hook("pre-push", OsStr::new("/opt/it's here/locked"), true);
        let shown = String::from_utf8_lossy(&text);
        assert!(
            shown.contains("hook=pre-push\n") && shown.contains(r"installed='/opt/it'\''s here/locked'"),
            "{shown}"
        );
        assert!(!shown.contains('@') || !shown.contains("@NAME@"), "{shown}");
        assert!(is_ours(&text) && made_directory(&text));
        assert!(!made_directory(&hook("pre-push", OsStr::new("/x"), false)));
        let added = [&*text, b"echo mine\n"].concat();
        assert_eq!((additions(&text), additions(&added)), (None, Some(&b"echo mine\n"[..])));
        assert!(!is_ours(b"#!/bin/sh\necho locked\n") && !is_ours(b""));
    }
}
